use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use super::*;
use crate::config::{File, LogLevel};
use crate::daemon::scripted::{Asked, Scripted};
use crate::snapshot::Snapshot;
use crate::snapshot::feed::{self, Request};

fn config() -> Config {
    Config::merge(File::default(), Overrides::default())
}

fn nothing_to_reload() -> Reload {
    Reload {
        file: None,
        flags: Overrides::default(),
        level: None,
    }
}

fn get(address: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[tokio::test]
async fn serves_until_told_to_end_and_drops_the_source() {
    let asked = Asked::default();
    let opened = Opened {
        source: Scripted::new(&asked),
        reason: None,
    };
    let pipeline = start_pipeline(opened, &config()).unwrap();
    let mut ticks = pipeline.handle().watch();
    // An address of its own: on 127.0.0.1 the freed port may be another test's, or the connecting socket's own, a moment later.
    let listeners = api::bind(&[api::Place::Tcp("127.83.17.5:0".parse().unwrap())]).unwrap();
    let address = listeners[0].address().unwrap();
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let resources = Resources {
        listeners,
        pipeline,
        web: api::Web::none(),
    };
    let daemon = run(config(), resources, nothing_to_reload(), Hangup::never(), async {
        let _ = ended.await;
    });
    let asking = async {
        ticks.wait_for(|snapshot| snapshot.tick > 0).await.unwrap();
        let ask = |path: &'static str| tokio::task::spawn_blocking(move || get(address, path));
        let ready = ask("/-/ready").await.unwrap();
        assert!(ready.ends_with("tcpwin is ready, source scripted.\n"), "{ready}");
        let metrics = ask("/metrics").await.unwrap();
        assert!(
            metrics.contains("tcpwin_source_info{source=\"scripted\",reason=\"\"} 1"),
            "{metrics}"
        );
        let list = ask("/api/v1/connections").await.unwrap();
        assert!(list.contains("\"connections\":["), "{list}");
        end.send(()).unwrap();
    };
    let (outcome, ()) = tokio::join!(daemon, asking);
    outcome.unwrap();
    assert_eq!(asked.count("dropped"), 1);
    assert!(TcpStream::connect(address).is_err());
}

#[tokio::test]
async fn reading_the_file_again_changes_what_can_change() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    write!(
        file,
        "interval = \"5s\"\nsource = \"sock_diag\"\n[log]\nlevel = \"debug\"\n"
    )
    .unwrap();
    let reload = Reload {
        file: Some(file.path().to_owned()),
        flags: Overrides::default(),
        level: None,
    };
    let (mut inlet, handle) = feed::channel(Snapshot::default());
    let mut running = config();
    let web = api::Web::none();
    assert_eq!(reload.apply(&mut running, &handle, &web).await, Ok(()));
    let asked = inlet.requests.try_recv().unwrap();
    assert!(matches!(asked, Request::Interval(interval) if interval == Duration::from_secs(5)));
    assert_eq!(running.log.level, LogLevel::Debug);
    assert_eq!(running.source, config().source, "needs a restart");

    std::fs::write(file.path(), "intervall = \"1s\"\n").unwrap();
    let before = running.clone();
    let told = reload.apply(&mut running, &handle, &web).await.unwrap_err();
    assert!(told.contains(":1: `intervall`"), "{told}");
    assert_eq!(running, before);
    assert!(inlet.requests.try_recv().is_err());
}

#[tokio::test]
async fn flags_win_over_a_file_read_again() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    writeln!(file, "interval = \"5s\"").unwrap();
    let flags = Overrides {
        interval: Some("2s".parse().unwrap()),
        ..Overrides::default()
    };
    let mut running = Config::merge(File::default(), flags.clone());
    let (mut inlet, handle) = feed::channel(Snapshot::default());
    let reload = Reload {
        file: Some(file.path().to_owned()),
        flags,
        level: None,
    };
    let web = api::Web::none();
    assert_eq!(reload.apply(&mut running, &handle, &web).await, Ok(()));
    assert!(inlet.requests.try_recv().is_err());
}
