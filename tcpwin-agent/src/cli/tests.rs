//! What is typed, and what becomes of it.

use std::time::Duration;

use clap::{CommandFactory as _, Parser as _};

use super::{Cli, Command, Exit};
use crate::config::{LogFormat, SourceChoice};

#[test]
fn the_commands_are_consistent() {
    Cli::command().debug_assert();
}

#[test]
fn help_documents_every_exit_code() {
    let help = Cli::command().render_long_help().to_string();
    for code in [
        Exit::Done,
        Exit::Runtime,
        Exit::Usage,
        Exit::Privilege,
        Exit::Kernel,
        Exit::Partial,
        Exit::Short,
        Exit::Problems,
    ] {
        assert!(
            help.contains(&format!("\n  {}  ", code as u8)),
            "{code:?} in {help}"
        );
    }
}

#[test]
fn flags_are_those_of_prometheus_people() {
    let line = "tcpwin agent --source sock_diag --interval 250ms --path-bandwidth 1Gbit --path-bandwidth 192.0.2.0/24=5Mbit --web.listen-address :0 \
                --metrics.group-by process --metrics.peer-prefix 192.0.2.0/24 --metrics.classic-histograms \
                --web.listen-address [::1]:0 --web.telemetry-path /m --log.level debug --log.format json";
    let cli = Cli::try_parse_from(line.split_whitespace()).unwrap();
    let Command::Agent(arguments) = cli.command else {
        panic!("not the agent");
    };
    let flags = arguments.overrides();
    assert_eq!(flags.source, Some(SourceChoice::SockDiag));
    assert_eq!(flags.listen_address.len(), 2);
    assert_eq!(flags.path_bandwidth.len(), 2);
    assert_eq!(flags.log_format, Some(LogFormat::Json));
}

#[test]
fn a_wrong_value_says_what_is_allowed() {
    let error = Cli::try_parse_from(["tcpwin", "agent", "--interval", "10ms"]).unwrap_err();
    assert!(error.to_string().contains("100ms to 60s"), "{error}");
    assert_eq!(error.exit_code(), Exit::Usage as i32);
}

#[test]
fn the_screen_starts_as_asked() {
    let parse = |line: &str| Cli::try_parse_from(line.split_whitespace()).map(|cli| cli.command);
    // Not the settings of whoever runs the tests.
    let file = tempfile::NamedTempFile::new().unwrap();
    let line = "tcpwin top --sort -rate --filter limit=rwnd --sick --color never --ascii --interval 2s --columns peer=40,limit \
                --palette light --top.config.file";
    let line = format!("{line} {}", file.path().display());
    let Ok(Command::Top(arguments)) = parse(&line) else {
        panic!("not top");
    };
    let options = arguments.options().unwrap();
    assert_eq!(options.columns.to_string(), "peer=40,limit");
    assert_eq!(options.settings_file.as_deref(), Some(file.path()));
    assert_eq!(options.sort.to_string(), "-rate");
    assert!(options.sick_only && options.ascii);
    assert_eq!(options.filter.text(), "limit=rwnd");
    assert_eq!(options.interval, Duration::from_secs(2));
    // What the flags leave open is as the file says.
    let settings = "[top]\ninterval = \"5s\"\nsort = \"gain\"\ncolumns = [\"gain\"]\n";
    std::fs::write(file.path(), settings).unwrap();
    let line = format!(
        "tcpwin top --sort rtt --top.config.file {}",
        file.path().display()
    );
    let Ok(Command::Top(arguments)) = parse(&line) else {
        panic!("not top");
    };
    let options = arguments.options().unwrap();
    assert_eq!(options.interval, Duration::from_secs(5));
    assert_eq!(
        (options.sort.to_string(), options.columns.to_string()),
        ("rtt".into(), "gain".into())
    );
    assert!(arguments.connect.may_attach(&arguments.watch));
    assert!(
        parse("tcpwin top --sort nowhere")
            .unwrap_err()
            .to_string()
            .contains("there are")
    );
}

#[test]
fn saying_how_to_watch_means_not_to_attach() {
    let parse = |line: &str| match Cli::try_parse_from(line.split_whitespace()).unwrap().command {
        Command::Trace(arguments) => arguments.connect.may_attach(&arguments.watch),
        _ => panic!("not trace"),
    };
    assert!(parse("tcpwin trace"));
    assert!(!parse("tcpwin trace --source ebpf"));
    assert!(!parse("tcpwin trace --no-connect"));
}
