//! What `doctor` is given: facts of every network namespace that can be entered, and of the machine.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::doctor::{Configured, Machine, Steering};
use crate::host::{self, Growing, Listener, Namespace, Softnet, settings};
use crate::snapshot::HostFacts;
use crate::source::netns;
use crate::source::sock_diag::{Listening, listening};

/// Network namespaces to look at, and what grows in them, as of the first of two looks.
#[derive(Debug)]
pub struct Audit {
    /// Each with the path that leads to it; `None` of the own one.
    places: BTreeMap<u32, (Option<PathBuf>, Growing)>,
    softnet: Option<Softnet>,
    /// Why some are left out.
    pub left_out: Vec<String>,
}

/// Which namespaces.
#[derive(Clone, Copy, Debug)]
pub enum Which<'a> {
    /// All that can be entered.
    All,
    /// The one behind this path.
    One(&'a Path),
}

impl Audit {
    /// Looks for the namespaces, and at what grows in them.
    ///
    /// # Errors
    /// When the one asked for cannot be entered, or `/proc` is not there.
    pub fn begin(which: Which<'_>) -> anyhow::Result<Self> {
        let own = netns::own()?;
        let mut audit = Self {
            places: BTreeMap::new(),
            softnet: Softnet::read(),
            left_out: Vec::new(),
        };
        let doors = match which {
            Which::All => {
                audit.places.insert(own, (None, Growing::read()));
                netns::discover()?
            }
            Which::One(door) => BTreeMap::from([(numbered(door)?, door.to_owned())]),
        };
        for (inum, door) in doors.into_iter().filter(|(inum, _)| *inum != own) {
            match netns::inside(inum, &door, Growing::read) {
                Ok(growing) => {
                    audit.places.insert(inum, (Some(door), growing));
                }
                Err(refused) if matches!(which, Which::All) => audit.left_out.push(refused.to_string()),
                Err(refused) => return Err(refused.into()),
            }
        }
        if audit.places.is_empty() {
            audit.places.insert(own, (None, Growing::read()));
        }
        Ok(audit)
    }

    /// Looks at everything.
    #[must_use]
    pub fn finish(mut self, facts: &HostFacts, watched_s: f64) -> (Machine, Vec<Namespace>, Vec<String>) {
        let mut namespaces = Vec::new();
        let mut inodes = Vec::new();
        for (inum, (door, before)) in std::mem::take(&mut self.places) {
            let look = || (Namespace::read(), listening(inum).unwrap_or_default());
            let looked = match &door {
                Some(door) => netns::inside(inum, door, look),
                None => Ok(look()),
            };
            match looked {
                Ok((namespace, listeners)) => {
                    inodes.extend(listeners.iter().filter_map(|listener| listener.inode));
                    let namespace = Namespace {
                        inum,
                        door: door.map(|door| door.display().to_string()),
                        before,
                        ..namespace
                    };
                    namespaces.push((namespace, listeners));
                }
                Err(gone) => self.left_out.push(gone.to_string()),
            }
        }
        let holders = host::holders(&inodes);
        let held = |listening: Listening| {
            let holder = listening.inode.and_then(|inode| holders.get(&inode));
            Listener {
                local: Some(listening.local),
                accept_queue: listening.accept_queue,
                backlog: listening.backlog,
                congestion: listening.congestion.map(String::from),
                process: holder.map(|holder| (holder.pid, holder.name.clone())),
                options: holder.map(|holder| holder.options).unwrap_or_default(),
            }
        };
        let namespaces = namespaces
            .into_iter()
            .map(|(namespace, listeners)| Namespace {
                listeners: listeners.into_iter().map(held).collect(),
                ..namespace
            })
            .collect();
        let softnet = Softnet::read().zip(self.softnet).map(|(now, before)| Softnet {
            dropped: now.dropped.saturating_sub(before.dropped),
            squeezed: now.squeezed.saturating_sub(before.squeezed),
        });
        let machine = Machine {
            facts: facts.clone(),
            cpus: std::thread::available_parallelism().map_or(1, usize::from),
            softnet,
            steering: steering(Path::new("/sys/class/net")),
            configured: configured(Path::new("/"), Path::new("/proc/sys")),
            watched_s,
        };
        (machine, namespaces, self.left_out)
    }
}

/// The number of the namespace that a path leads to: a link of `/proc`, or a file that it is mounted on.
fn numbered(door: &Path) -> anyhow::Result<u32> {
    use std::os::unix::fs::MetadataExt as _;
    let found = fs::metadata(door).map_err(|error| anyhow::anyhow!("{}: {error}", door.display()))?;
    Ok(u32::try_from(found.ino())?)
}

/// How the machine's interfaces spread what they receive. sysfs shows those of the namespace it was mounted in.
fn steering(class: &Path) -> Vec<Steering> {
    let interfaces = fs::read_dir(class).into_iter().flatten().flatten();
    let steering = |entry: fs::DirEntry| {
        let folder = entry.path();
        // Software interfaces have no interrupts to spread.
        folder.join("device").exists().then(|| {
            let queues: Vec<PathBuf> = fs::read_dir(folder.join("queues"))
                .into_iter()
                .flatten()
                .flatten()
                .map(|queue| queue.path())
                .filter(|queue| {
                    queue
                        .file_name()
                        .is_some_and(|name| name.as_encoded_bytes().starts_with(b"rx-"))
                })
                .collect();
            let spreads = |queue: &PathBuf| {
                let mask = fs::read_to_string(queue.join("rps_cpus")).unwrap_or_default();
                mask.bytes()
                    .any(|digit| digit != b'0' && digit.is_ascii_hexdigit())
            };
            Steering {
                device: entry.file_name().to_string_lossy().into_owned(),
                queues: u32::try_from(queues.len()).unwrap_or(u32::MAX),
                rps: queues.iter().any(spreads),
            }
        })
    };
    interfaces.filter_map(steering).collect()
}

/// Folders of sysctl files, those that win first (sysctl.d(5)).
const FOLDERS: &[&str] = &[
    "etc/sysctl.d",
    "run/sysctl.d",
    "usr/local/lib/sysctl.d",
    "usr/lib/sysctl.d",
    "lib/sysctl.d",
];

/// What the files below `root` say of `net.`, each setting as the last file that has it does.
fn configured(root: &Path, sys: &Path) -> Vec<Configured> {
    let mut files: BTreeMap<std::ffi::OsString, PathBuf> = BTreeMap::new();
    for folder in FOLDERS {
        for entry in fs::read_dir(root.join(folder)).into_iter().flatten().flatten() {
            if entry
                .path()
                .extension()
                .is_some_and(|extension| extension == "conf")
            {
                files.entry(entry.file_name()).or_insert_with(|| entry.path());
            }
        }
    }
    let mut said: BTreeMap<String, Configured> = BTreeMap::new();
    let last = root.join("etc/sysctl.conf");
    for file in files.into_values().chain([last]) {
        let text = fs::read_to_string(&file).unwrap_or_default();
        for (number, line) in text.lines().enumerate() {
            let Some((name, value)) = assignment(line) else {
                continue;
            };
            let now = settings::read(sys, &name);
            // What is there and may not be read says nothing.
            if now.is_none() && sys.join(name.replace('.', "/")).exists() {
                continue;
            }
            let at = format!("{}:{}", file.display(), number + 1);
            let configured = Configured {
                at,
                name: name.clone(),
                value,
                now,
            };
            said.insert(name, configured);
        }
    }
    said.into_values().collect()
}

/// `net.ipv4.tcp_sack = 1`; patterns are left out, and what is not of `net`.
fn assignment(line: &str) -> Option<(String, String)> {
    let line = line.trim();
    if line.starts_with(['#', ';']) {
        return None;
    }
    let (name, value) = line.trim_start_matches('-').split_once('=')?;
    let name = name.trim().replace('/', ".");
    let value = value.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    (name.starts_with("net.") && !name.contains('*') && !value.is_empty()).then_some((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_file_that_has_a_setting_counts() {
        let root = tempfile::tempdir().unwrap();
        for (file, text) in [
            ("etc/sysctl.d/10-a.conf", "net.ipv4.tcp_sack = 0\n"),
            ("usr/lib/sysctl.d/10-a.conf", "net.ipv4.tcp_fack = 1\n"),
            (
                "etc/sysctl.d/20-b.conf",
                "# no\n-net/ipv4/tcp_sack=1\nkernel.panic=1\nnet.ipv4.conf.*.rp_filter=1\nnet.ipv4.tcp_tw_recycle = 1\n",
            ),
        ] {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let sys = root.path().join("sys");
        fs::create_dir_all(sys.join("net/ipv4")).unwrap();
        fs::write(sys.join("net/ipv4/tcp_sack"), "1\n").unwrap();
        let said = configured(root.path(), &sys);
        let told: Vec<(&str, &str, Option<&str>)> = said
            .iter()
            .map(|line| (line.name.as_str(), line.value.as_str(), line.now.as_deref()))
            .collect();
        assert_eq!(
            told,
            [
                ("net.ipv4.tcp_sack", "1", Some("1")),
                ("net.ipv4.tcp_tw_recycle", "1", None)
            ]
        );
        assert!(said[0].at.ends_with("20-b.conf:2"), "{}", said[0].at);
    }

    #[test]
    fn queues_and_rps_are_read() {
        let class = tempfile::tempdir().unwrap();
        for (file, text) in [
            ("eth0/device/vendor", ""),
            ("eth0/queues/rx-0/rps_cpus", "00000000,00000003\n"),
            ("eth1/device/vendor", ""),
            ("eth1/queues/rx-0/rps_cpus", "00\n"),
            ("veth0/queues/rx-0/rps_cpus", "00\n"),
        ] {
            let path = class.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let mut found = steering(class.path());
        found.sort_by(|a, b| a.device.cmp(&b.device));
        let told: Vec<(&str, u32, bool)> = found
            .iter()
            .map(|steering| (steering.device.as_str(), steering.queues, steering.rps))
            .collect();
        assert_eq!(told, [("eth0", 1, true), ("eth1", 1, false)]);
    }
}
