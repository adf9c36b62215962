//! Gathering: nothing is lost, nothing is counted twice.

use std::collections::HashSet;
use std::sync::Arc;

use proptest::prelude::*;

use super::fixture::connection;
use crate::classify::Limit;
use crate::snapshot::{Cause, Connection};
use crate::top::grid::GridSort;
use crate::top::group::{Level, Sums, cgroup_text, gather};
use crate::top::tree::{self, Shape};
use crate::top::view::By;

const LEVELS: [Level; 5] = [
    Level::Process,
    Level::Pid,
    Level::Cgroup,
    Level::Prefix,
    Level::Address,
];

fn any_connection() -> impl Strategy<Value = Connection> {
    (
        0..Limit::ALL.len(),
        0_u8..4,
        0_u8..3,
        0_u8..3,
        0.0..1e9_f64,
        proptest::option::of(0_u64..1 << 40),
    )
        .prop_map(|(limit, process, net, host, rate, not_moved)| {
            let peer = match host {
                0 => format!("192.0.{net}.1:443"),
                1 => format!("[2001:db8:{net}::1]:443"),
                _ => "not an address".to_owned(),
            };
            let mut it = connection(
                u64::from(process),
                Limit::ALL[limit],
                &format!("p{process}"),
                &peer,
                rate,
            );
            if process == 0 {
                it.process = None;
            } else {
                it.cgroup = Some(format!("/system.slice/{net}"));
            }
            it.causes = vec![Cause {
                limit: it.limit,
                seconds: 1.0,
                bytes: 1,
                bytes_not_moved: not_moved,
            }];
            it
        })
}

fn many() -> impl Strategy<Value = Vec<Arc<Connection>>> {
    proptest::collection::vec(any_connection(), 0..40).prop_map(|all| {
        all.into_iter()
            .enumerate()
            .map(|(at, mut connection)| {
                connection.id = at.to_string();
                Arc::new(connection)
            })
            .collect()
    })
}

/// Nearly, since sums of rates depend on their order.
fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
}

proptest! {
    #[test]
    fn every_connection_is_in_one_group(all in many(), level in 0..LEVELS.len()) {
        let members: Vec<u32> = (0..all.len() as u32).collect();
        let groups = gather(&all, &members, LEVELS[level]);
        let mut seen: Vec<u32> = groups.iter().flat_map(|group| group.members.clone()).collect();
        seen.sort_unstable();
        prop_assert_eq!(seen, members);
        let keys: HashSet<_> = groups.iter().map(|group| group.key.clone()).collect();
        prop_assert_eq!(keys.len(), groups.len());
    }

    #[test]
    fn sums_of_groups_are_sums_of_connections(all in many(), level in 0..LEVELS.len()) {
        let members: Vec<u32> = (0..all.len() as u32).collect();
        let whole = Sums::of(all.iter().map(|connection| &**connection));
        let groups = gather(&all, &members, LEVELS[level]);
        let total = |of: fn(&Sums) -> f64| groups.iter().map(|group| of(&group.sums)).sum::<f64>();
        prop_assert!(near(total(|sums| sums.send_bps), whole.send_bps));
        prop_assert!(near(total(|sums| sums.receive_bps), whole.receive_bps));
        prop_assert_eq!(total(|sums| sums.connections as f64), whole.connections as f64);
        prop_assert_eq!(total(|sums| sums.sick as f64), whole.sick as f64);
        let lost: Option<u64> = groups
            .iter()
            .filter_map(|group| group.sums.not_moved)
            .reduce(|a, b| a + b);
        prop_assert_eq!(lost, whole.not_moved);
        for (at, count) in whole.by_bound.iter().enumerate() {
            prop_assert_eq!(groups.iter().map(|group| group.sums.by_bound[at]).sum::<u64>(), *count);
        }
        if !groups.is_empty() {
            let least = |a: (u8, f64), b: (u8, f64)| if b.0 < a.0 || (b.0 == a.0 && b.1 < a.1) { b } else { a };
            let worst = groups.iter().map(|group| group.sums.sickness()).reduce(least);
            prop_assert_eq!(worst, Some(whole.sickness()));
        }
    }

    #[test]
    fn a_tree_shows_each_connection_once_when_all_is_unfolded(all in many(), by in 0..By::ALL.len()) {
        let members: Vec<u32> = (0..all.len() as u32).collect();
        let mut unfolded = HashSet::new();
        let by = By::ALL[by];
        let rows = |unfolded: &HashSet<_>| {
            let shape = Shape { by, unfolded, sort: GridSort::default() };
            tree::rows(&all, &members, shape)
        };
        for _ in by.levels() {
            let groups = rows(&unfolded).into_iter().filter(|row| row.connection.is_none());
            unfolded.extend(groups.map(|row| row.path));
        }
        let rows = rows(&unfolded);
        let mut leaves: Vec<u32> = rows.iter().filter_map(|row| row.connection).collect();
        leaves.sort_unstable();
        prop_assert_eq!(leaves, members);
        let paths: HashSet<_> = rows.iter().map(|row| row.path.clone()).collect();
        prop_assert_eq!(paths.len(), rows.len());
    }
}

#[test]
fn cgroups_are_named_as_their_tools_name_them() {
    let id = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    for (path, text) in [
        ("/system.slice/nginx.service", "nginx.service"),
        ("/", "/"),
        ("", "/"),
        ("/user.slice/user-0.slice/session-3.scope", "session-3.scope"),
        (
            &*format!("/system.slice/docker-{id}.scope"),
            "docker-0123456789ab",
        ),
        (&*format!("/docker/{id}"), "0123456789ab"),
        (
            &*format!("/kubepods.slice/kubepods-pod1.slice/cri-containerd-{id}.scope"),
            "cri-containerd-0123456789ab",
        ),
        ("/é/バック", "バック"),
    ] {
        assert_eq!(cgroup_text(path), text, "{path}");
    }
}
