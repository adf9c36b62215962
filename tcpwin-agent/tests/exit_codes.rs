//! The program ends with the documented code and one line that names the thing, the cause and the next step.

use std::io::Write as _;
use std::net::TcpListener;
use std::process::Command;

/// Exit code and standard error.
fn tcpwin(arguments: &[&str]) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_tcpwin"))
        .args(arguments)
        .output()
        .unwrap();
    (
        output.status.code().unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

fn names(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
}

#[test]
fn wrong_arguments_are_2() {
    let (code, text) = tcpwin(&["agent", "--interval", "1ms"]);
    assert_eq!(code, 2, "{text}");
    names(&text, &["--interval", "100ms to 60s"]);

    let (code, text) = tcpwin(&["trace", "--connect", "ftp://localhost"]);
    assert_eq!(code, 2, "{text}");
    names(&text, &["ftp://localhost", "http://127.0.0.1:10430"]);
}

#[test]
fn a_wrong_filter_is_2_and_pointed_at() {
    for command in ["top", "trace"] {
        let (code, text) = tcpwin(&[command, "--filter", "rtt>5ms bound=windo"]);
        assert_eq!(code, 2, "{text}");
        names(
            &text,
            &[
                "--filter",
                "column 15",
                "rtt>5ms bound=windo\n              ^ `bound` is one of window ",
            ],
        );
    }
}

#[test]
fn a_trace_whose_time_is_up_too_soon_is_6() {
    let asked = "trace --source sock_diag --event close --filter proc=nobody-runs-this --duration 100ms";
    let words: Vec<&str> = asked.split(' ').collect();
    let (code, text) = tcpwin(&words);
    assert_eq!(code, 0, "{text}");
    let (code, text) = tcpwin(&[&words[..], &["--count", "1"]].concat());
    assert_eq!(code, 6, "{text}");
}

#[test]
fn a_wrong_key_is_2_with_file_line_and_what_is_allowed() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    write!(file, "interval = \"1s\"\n[web]\nlisten = \":0\"\n").unwrap();
    let path = file.path().to_str().unwrap();
    let (code, text) = tcpwin(&["agent", "--config.file", path]);
    assert_eq!(code, 2, "{text}");
    names(&text, &[&format!("{path}:3:"), "web.listen", "listen-address"]);

    let (code, text) = tcpwin(&["agent", "--config.file", "no-such-file.toml"]);
    assert_eq!(code, 2, "{text}");
    names(&text, &["no-such-file.toml", "--config.file"]);
}

#[test]
fn a_taken_port_is_1_and_names_its_holder() {
    let held = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = held.local_addr().unwrap().to_string();
    let (code, text) = tcpwin(&["agent", "--web.listen-address", &address]);
    assert_eq!(code, 1, "{text}");
    names(
        &text,
        &[
            &address,
            &format!("pid {}", std::process::id()),
            "--web.listen-address",
        ],
    );
}

#[test]
fn no_agent_is_1_and_says_how_to_start_one() {
    let closed = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .to_string();
    for command in ["trace", "top"] {
        let (code, text) = tcpwin(&[command, "--connect", &closed]);
        assert_eq!(code, 1, "{text}");
        names(&text, &[&closed, "tcpwin agent", "--connect"]);
    }
}
