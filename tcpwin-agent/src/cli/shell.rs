//! What shells and `man` are told of the command line.

use std::io::{self, Write};
use std::path::Path;

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::Cli;

/// Writes completions for `shell`.
///
/// # Errors
/// When `out` cannot be written.
pub fn completions(shell: Shell, mut out: impl Write) -> io::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "tcpwin", &mut script);
    out.write_all(&script)
}

/// Writes a page for the program and for each of its commands.
///
/// # Errors
/// When `directory` cannot be written.
pub fn manual(directory: &Path) -> io::Result<()> {
    clap_mangen::generate_to(Cli::command(), directory)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use clap::ValueEnum as _;

    use super::*;

    /// Commands that people are told of, and their long flags.
    fn told() -> Vec<(String, Vec<String>)> {
        let mut all = Cli::command();
        all.build();
        let commands = all.get_subcommands().filter(|command| !command.is_hide_set());
        commands
            .map(|command| {
                let flags = command.get_arguments().filter(|flag| !flag.is_hide_set());
                let longs = flags.filter_map(|flag| flag.get_long().map(str::to_owned));
                (command.get_name().to_owned(), longs.collect())
            })
            .collect()
    }

    /// If the program is there and takes the file; `None` where it is not.
    fn takes(program: &str, arguments: &[&str], file: &Path) -> Option<bool> {
        let output = Command::new(program).args(arguments).arg(file).output().ok()?;
        let silent = output.stderr.is_empty();
        Some(output.status.success() && silent)
    }

    #[test]
    fn every_command_and_flag_is_completed() {
        let told = told();
        assert!(told.len() > 3);
        let dir = tempfile::tempdir().unwrap();
        for shell in Shell::value_variants() {
            let mut script = Vec::new();
            completions(*shell, &mut script).unwrap();
            let script = String::from_utf8(script).unwrap();
            for (command, flags) in &told {
                assert!(script.contains(command.as_str()), "{command} in {shell}");
                for flag in flags {
                    assert!(script.contains(flag.as_str()), "--{flag} of {command} in {shell}");
                }
            }
            let file = dir.path().join(shell.to_string());
            fs::write(&file, script).unwrap();
            if matches!(shell, Shell::Bash | Shell::Zsh | Shell::Fish) {
                assert_ne!(takes(&shell.to_string(), &["-n"], &file), Some(false), "{shell}");
            }
        }
    }

    #[test]
    fn every_command_and_flag_has_its_page() {
        let dir = tempfile::tempdir().unwrap();
        manual(dir.path()).unwrap();
        assert!(dir.path().join("tcpwin.1").exists());
        assert!(!dir.path().join("tcpwin-man.1").exists(), "it is for packagers");
        for (command, flags) in told().iter().filter(|(command, _)| command != "help") {
            let file = dir.path().join(format!("tcpwin-{command}.1"));
            let page = fs::read_to_string(&file).unwrap();
            for flag in flags {
                let escaped = format!("\\-\\-{}", flag.replace('-', "\\-"));
                assert!(page.contains(&escaped), "{escaped} in {page}");
            }
            assert!(page.contains("Exit codes") || !["agent", "top", "trace"].contains(&command.as_str()));
            assert_ne!(
                takes("man", &["--warnings", "-l"], &file),
                Some(false),
                "{command}"
            );
        }
    }
}
