//! Name and cgroup of a process.

use procfs::{FromRead, ProcessCGroups};

/// `/proc/PID/comm`: the name of the process, not of the thread that a probe saw.
pub fn comm(pid: u32) -> Option<String> {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    Some(name.trim_end_matches('\n').to_owned())
}

/// The path of its cgroup, from `/proc/PID/cgroup`.
pub fn cgroup(pid: u32) -> Option<String> {
    let groups = ProcessCGroups::from_file(format!("/proc/{pid}/cgroup")).ok()?;
    path(&groups)
}

/// The unified hierarchy's path; in a hybrid layout, where that is the root, the path of the first hierarchy that
/// container engines and systemd keep.
pub(super) fn path(groups: &ProcessCGroups) -> Option<String> {
    const KEPT: [&str; 4] = ["name=systemd", "memory", "pids", "cpu"];
    let of = |controller: &str| {
        groups
            .0
            .iter()
            .find(|group| group.controllers.iter().any(|name| name == controller))
    };
    let unified = groups.0.iter().find(|group| group.hierarchy == 0);
    unified
        .into_iter()
        .chain(KEPT.iter().filter_map(|name| of(name)))
        .map(|group| &group.pathname)
        .find(|path| *path != "/")
        .or(unified.map(|group| &group.pathname))
        .or(groups.0.first().map(|group| &group.pathname))
        .cloned()
}
