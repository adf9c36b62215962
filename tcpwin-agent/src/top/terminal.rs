//! The terminal: taken, and always given back.

use std::io::{self, Stdout, Write as _, stdout};
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::cursor::Show;
use crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use crossterm::execute;
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Size;
use rustix::process::{Signal, kill_current_process_group};

use super::state::State;

/// The taken terminal. Dropping it gives it back, as does a panic.
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    mouse: bool,
}

impl Screen {
    /// Raw mode, alternate screen, mouse, paste.
    pub(super) fn take(mouse: bool) -> io::Result<Self> {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            give_back();
            before(info);
        }));
        // From here on dropping gives back whatever was taken.
        let mut screen = Self {
            terminal: Terminal::new(CrosstermBackend::new(stdout()))?,
            mouse,
        };
        screen.enter()?;
        Ok(screen)
    }

    /// Columns and lines.
    pub(super) fn size(&self) -> io::Result<Size> {
        self.terminal.size()
    }

    fn enter(&mut self) -> io::Result<()> {
        TAKEN.store(true, Ordering::Relaxed);
        enable_raw_mode()?;
        execute!(stdout(), EnterAlternateScreen, EnableBracketedPaste)?;
        if self.mouse {
            execute!(stdout(), EnableMouseCapture)?;
        }
        self.terminal.clear()
    }

    /// Draws the state.
    pub(super) fn draw(&mut self, state: &State) -> io::Result<()> {
        self.terminal
            .draw(|frame| super::screen::render(frame, state))
            .map(|_| ())
    }

    /// Forgets what is on the screen, so that all of it is drawn.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        self.terminal.clear()
    }

    /// Takes the mouse or gives it back to the terminal's own selection.
    pub(super) fn mouse(&mut self, ours: bool) -> io::Result<()> {
        self.mouse = ours;
        if ours {
            execute!(stdout(), EnableMouseCapture)
        } else {
            execute!(stdout(), DisableMouseCapture)
        }
    }

    /// Puts `text` on the clipboard of terminals that know OSC 52.
    pub(super) fn copy(&mut self, text: &str) -> io::Result<()> {
        let mut out = stdout();
        write!(out, "\x1b]52;c;{}\x07", base64(text.as_bytes()))?;
        out.flush()
    }

    /// Gives the terminal to the shell and stops, with the whole job (`sudo` and the like), until it goes on.
    pub(super) fn suspend(&mut self) -> io::Result<()> {
        give_back();
        // A job without a shell to wake it is not stopped by the kernel and simply comes back.
        kill_current_process_group(Signal::TSTP)?;
        self.enter()
    }

    /// After a stop that nobody announced: the shell has had the terminal meanwhile.
    pub(super) fn retake(&mut self) -> io::Result<()> {
        disable_raw_mode()?;
        self.enter()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
        if !std::thread::panicking() {
            // Back to the default hook: the one before is inside ours.
            drop(panic::take_hook());
        }
    }
}

/// If the terminal is ours now.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// As good as the terminal allows; a lost one takes nothing. Only once: leaving twice would put the cursor over what was
/// written in between.
fn give_back() {
    if !TAKEN.swap(false, Ordering::Relaxed) {
        return;
    }
    let _ = execute!(
        stdout(),
        DisableMouseCapture,
        DisableBracketedPaste,
        LeaveAlternateScreen,
        Show
    );
    let _ = disable_raw_mode();
}

/// RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let all =
            chunk.iter().fold(0_u32, |all, byte| all << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let sign = SIGNS[(all >> (18 - 6 * place)) as usize & 63];
            text.push(if place > chunk.len() {
                '='
            } else {
                char::from(sign)
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::base64;

    #[test]
    fn base64_is_that_of_the_rfc() {
        for (plain, coded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }
}
