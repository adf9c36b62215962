//! How a screen steers a recording that is played, and where in it the playback is.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Speeds, in quarters of the recording's own.
const SPEEDS: [u32; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];
/// The recording's own.
const NORMAL: usize = 2;

/// A jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jump {
    /// One snapshot further.
    Step,
    /// So many seconds on, or back.
    By(i32),
    /// To the first moment.
    Start,
    /// To the last one.
    End,
}

/// Where the playback is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// First moment, CLOCK_MONOTONIC of the recording, ns.
    pub start_ns: u64,
    /// The moment shown.
    pub now_ns: u64,
    /// Last moment.
    pub end_ns: u64,
    /// Local time where it was recorded less CLOCK_MONOTONIC, ns.
    pub wall_offset_ns: i64,
}

#[derive(Debug)]
struct State {
    position: Position,
    paused: bool,
    speed: usize,
    jump: Option<Jump>,
    fault: Option<String>,
}

/// Shared by the screen, which steers, and the player.
#[derive(Clone, Debug)]
pub struct Playback(Arc<Mutex<State>>);

impl Default for Playback {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(State {
            position: Position::default(),
            paused: false,
            speed: NORMAL,
            jump: None,
            fault: None,
        })))
    }
}

impl Playback {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops, or goes on.
    pub fn pause(&self) {
        let mut state = self.state();
        state.paused = !state.paused;
    }

    /// Twice as fast, up to 64 times the recording's speed.
    pub fn faster(&self) {
        let mut state = self.state();
        state.speed = (state.speed + 1).min(SPEEDS.len() - 1);
    }

    /// Half as fast, down to a quarter.
    pub fn slower(&self) {
        let mut state = self.state();
        state.speed = state.speed.saturating_sub(1);
    }

    /// Jumps with the next snapshot. A step pauses.
    pub fn jump(&self, jump: Jump) {
        let mut state = self.state();
        state.paused |= jump == Jump::Step;
        state.jump = Some(jump);
    }

    /// The jump that is asked for, and how much of the recording's time passes in `elapsed_ns`: nothing while it is paused.
    #[must_use]
    pub fn take(&self, elapsed_ns: u64) -> (Option<Jump>, u64) {
        let mut state = self.state();
        let speed = u64::from(SPEEDS[state.speed]);
        let passed = if state.paused {
            0
        } else {
            elapsed_ns.saturating_mul(speed) / u64::from(SPEEDS[NORMAL])
        };
        (state.jump.take(), passed)
    }

    /// The player tells where it is, and what could not be read.
    pub fn set(&self, position: Position, fault: Option<String>) {
        let mut state = self.state();
        state.position = position;
        state.fault = fault;
    }

    /// `replay 14:02:11 ×4, 12 % of 14:00:00–15:00:00`; the second text is what could not be read.
    #[must_use]
    pub fn text(&self) -> (String, Option<String>) {
        let state = self.state();
        let Position {
            start_ns,
            now_ns,
            end_ns,
            ..
        } = state.position;
        let clock = |ns: u64| of_day(i128::from(ns) + i128::from(state.position.wall_offset_ns));
        let whole = end_ns.saturating_sub(start_ns).max(1);
        let percent = now_ns.saturating_sub(start_ns).min(whole) as f64 / whole as f64 * 100.0;
        let pace = match SPEEDS[state.speed] {
            _ if state.paused => "paused".to_owned(),
            quarters @ (1 | 2) => format!("×1/{}", SPEEDS[NORMAL] / quarters),
            quarters => format!("×{}", quarters / SPEEDS[NORMAL]),
        };
        let text = format!(
            "replay {} {pace}, {percent:.0} % of {}–{}",
            clock(now_ns),
            clock(start_ns),
            clock(end_ns)
        );
        (text, state.fault.clone())
    }
}

/// `14:02:11`.
fn of_day(ns: i128) -> String {
    let seconds = ns.div_euclid(1_000_000_000).rem_euclid(86_400);
    format!(
        "{:02}:{:02}:{:02}",
        seconds / 3_600,
        seconds / 60 % 60,
        seconds % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn time_passes_as_the_screen_says() {
        let playback = Playback::default();
        assert_eq!(playback.take(SECOND), (None, SECOND));
        for _ in 0..20 {
            playback.faster();
        }
        assert_eq!(playback.take(SECOND), (None, 64 * SECOND));
        for _ in 0..20 {
            playback.slower();
        }
        assert_eq!(playback.take(SECOND), (None, SECOND / 4));
        playback.jump(Jump::By(-10));
        assert_eq!(playback.take(SECOND).0, Some(Jump::By(-10)));
        playback.jump(Jump::Step);
        assert_eq!(playback.take(SECOND), (Some(Jump::Step), 0));
        playback.pause();
        assert_eq!(playback.take(SECOND), (None, SECOND / 4));
    }

    #[test]
    fn the_place_is_told_in_the_recordings_own_time() {
        let playback = Playback::default();
        let position = Position {
            start_ns: 0,
            now_ns: 900 * SECOND,
            end_ns: 3_600 * SECOND,
            wall_offset_ns: 14 * 3_600 * 1_000_000_000,
        };
        playback.set(position, None);
        assert_eq!(playback.text().0, "replay 14:15:00 ×1, 25 % of 14:00:00–15:00:00");
        playback.slower();
        assert!(playback.text().0.contains("×1/2"));
        playback.pause();
        assert!(playback.text().0.contains("paused"));
    }
}
