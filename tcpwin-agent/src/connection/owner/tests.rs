use std::io::Cursor;
use std::net::{TcpListener, UdpSocket};
use std::os::fd::AsRawFd;

use procfs::{FromRead, ProcessCGroups};

use super::process::path;
use super::walk::socket_inode;
use super::*;

fn key(cookie: u64) -> Key {
    Key { cookie, netns: 1 }
}

fn by_inode(inode: u32) -> OwnerHint {
    OwnerHint {
        inode: Some(inode),
        ..OwnerHint::default()
    }
}

fn cgroup_of(text: &str) -> Option<String> {
    path(&ProcessCGroups::from_read(Cursor::new(text)).unwrap())
}

#[test]
fn cgroup_paths_of_each_layout() {
    assert_eq!(
        cgroup_of("0::/system.slice/nginx.service\n").as_deref(),
        Some("/system.slice/nginx.service")
    );
    // Hybrid: the unified hierarchy is empty, the others carry the path.
    assert_eq!(
        cgroup_of("9:name=systemd:/\n4:memory:/pod/a1b2\n2:cpuacct:/\n0::/\n").as_deref(),
        Some("/pod/a1b2")
    );
    // Version 1 alone.
    assert_eq!(
        cgroup_of("11:cpu,cpuacct:/user.slice\n1:name=systemd:/user.slice/user-0.slice\n").as_deref(),
        Some("/user.slice/user-0.slice")
    );
    assert_eq!(cgroup_of("0::/\n").as_deref(), Some("/"));
}

#[test]
fn links_of_sockets() {
    assert_eq!(socket_inode(b"socket:[4711]"), Some(4711));
    assert_eq!(socket_inode(b"pipe:[4711]"), None);
    assert_eq!(socket_inode(b"socket:[99999999999]"), None);
}

#[test]
fn the_probes_word_is_completed_from_proc() {
    let mut owners = Owners::new();
    let hint = OwnerHint {
        pid: Some(std::process::id()),
        name: Some("a-thread".into()),
        ..OwnerHint::default()
    };
    let owner = owners.resolve(key(1), &hint).unwrap();
    let process = owner.process.as_ref().unwrap();
    assert_eq!(process.pid, std::process::id());
    assert_ne!(process.name, "a-thread");
    assert!(owner.cgroup.is_some());
    assert!(Arc::ptr_eq(&owner, &owners.resolve(key(2), &hint).unwrap()));
}

#[test]
fn a_process_that_ended_keeps_the_name_the_probes_saw() {
    let mut owners = Owners::new();
    let hint = OwnerHint {
        pid: Some(u32::MAX),
        name: Some("curl".into()),
        ..OwnerHint::default()
    };
    let owner = owners.resolve(key(1), &hint).unwrap();
    assert_eq!(owner.process.as_ref().unwrap().name, "curl");
    assert_eq!(owner.cgroup, None);
}

#[test]
fn an_inode_leads_to_its_process() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let link = std::fs::read_link(format!("/proc/self/fd/{}", listener.as_raw_fd())).unwrap();
    let inode = socket_inode(link.as_os_str().as_encoded_bytes()).unwrap();
    let mut owners = Owners::new();
    assert_eq!(owners.resolve(key(1), &by_inode(inode)), None);
    assert_eq!(owners.resolve(key(2), &by_inode(u32::MAX)), None);
    let mut found = Vec::new();
    // Each step is bounded: on a host with many open files it takes several.
    for tick in 0..10_000 {
        owners.refresh(Instant(tick), &mut found);
        if !found.is_empty() {
            break;
        }
    }
    let (socket, owner) = &found[0];
    assert_eq!(*socket, key(1));
    assert_eq!(owner.process.as_ref().unwrap().pid, std::process::id());
    assert_eq!(owners.wanted.len(), 1);
    owners.forget(key(2));
    assert!(owners.wanted.is_empty() && owners.inodes.is_empty());
}

#[test]
fn a_step_looks_at_no_more_files_than_it_may() {
    let _held: Vec<UdpSocket> = (0..20).map(|_| UdpSocket::bind("127.0.0.1:0").unwrap()).collect();
    let mut walk = Walk::default();
    walk.ask();
    let mut sockets = 0;
    walk.step(Instant(0), 5, &mut |_, _| sockets += 1);
    assert!(sockets <= 5);
    // It goes on where it stopped, and comes to an end; then it pauses.
    for _ in 0..100_000 {
        walk.step(Instant(0), 50, &mut |_, _| sockets += 1);
    }
    let after = sockets;
    assert!(after >= 20);
    walk.step(Instant(1), 5_000, &mut |_, _| sockets += 1);
    assert_eq!(sockets, after);
}

#[test]
fn reads_of_a_tick_are_bounded() {
    let mut owners = Owners::new();
    owners.reads_left = 0;
    let hint = OwnerHint {
        pid: Some(std::process::id()),
        name: Some("seen".into()),
        ..OwnerHint::default()
    };
    assert_eq!(owners.resolve(key(1), &hint), None);
    let mut found = Vec::new();
    owners.refresh(Instant(1), &mut found);
    assert_eq!(found.len(), 1);
    assert!(found[0].1.cgroup.is_some());
}
