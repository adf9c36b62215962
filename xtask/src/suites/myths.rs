//! Common advice about TCP that is wrong, each piece tried on real sockets of this kernel. docs/myths.md tells what is right.

use anyhow::Result;

use crate::lab::cleanup;
use crate::suites::Context;
use crate::suites::report::{Outcome, Recorder};

mod buffers;
mod bulk;
mod fastopen;
mod path;
mod settings;
mod socket;
mod windows;

/// A piece of advice, and what refutes it.
struct Myth {
    /// Its heading in docs/myths.md.
    name: &'static str,
    test: fn() -> Result<Seen>,
}

/// What came of trying it.
struct Seen {
    outcome: Outcome,
    numbers: String,
}

impl Seen {
    /// If the kernel did what docs/myths.md says, not what the advice says; and what was measured.
    fn refuted(refuted: bool, numbers: String) -> Self {
        let outcome = if refuted { Outcome::Passed } else { Outcome::Failed };
        Self { outcome, numbers }
    }

    /// The host is set so that it cannot be tried.
    fn untold(reason: String) -> Self {
        Self {
            outcome: Outcome::Skipped,
            numbers: reason,
        }
    }
}

const MYTHS: &[Myth] = &[
    Myth {
        name: "tcp_fastopen = 1 lets a server accept Fast Open",
        test: fastopen::bit_1_is_the_clients,
    },
    Myth {
        name: "A Fast Open key is 32 hexadecimal digits",
        test: fastopen::a_key_has_dashes,
    },
    Myth {
        name: "Fast Open switches itself off for an hour behind a bad middlebox",
        test: fastopen::no_blackhole_timeout,
    },
    Myth {
        name: "More bandwidth makes it faster",
        test: path::a_window_does_not_care_for_bandwidth,
    },
    Myth {
        name: "sndbuf_limited is 0, so the send buffer is large enough",
        test: buffers::the_counter_misses_the_buffer,
    },
    Myth {
        name: "tcp_wmem does nothing unless wmem_max is raised too",
        test: buffers::autotuning_passes_wmem_max,
    },
    Myth {
        name: "A program should set SO_SNDBUF to 256 KiB",
        test: buffers::asking_gives_less,
    },
    Myth {
        name: "tcp_notsent_lowat limits what is in flight",
        test: buffers::lowat_is_for_unsent_bytes,
    },
    Myth {
        name: "initrwnd 20 gives a larger first window",
        test: windows::initrwnd_20_shrinks,
    },
    Myth {
        name: "Raise tcp_rmem, and transfers that run speed up",
        test: windows::the_scale_is_fixed,
    },
    Myth {
        name: "A window scale of 7 is plenty",
        test: windows::scale_7_has_an_end,
    },
    Myth {
        name: "ip route change sets initcwnd on the default route",
        test: settings::a_change_needs_the_metric,
    },
    Myth {
        name: "A new tcp_congestion_control reaches every connection",
        test: settings::congestion_control_is_for_new_ones,
    },
    Myth {
        name: "tcp_tw_recycle frees ports",
        test: settings::tw_recycle_is_gone,
    },
    Myth {
        name: "bbr needs fq",
        test: path::bbr_paces_itself,
    },
];

/// Tries each piece of advice; some 70 seconds.
pub fn run(_: &Context, recorder: &mut Recorder) -> Result<()> {
    cleanup::sweep();
    for myth in MYTHS {
        match (myth.test)() {
            Ok(seen) => recorder.check(myth.name, seen.outcome, seen.numbers)?,
            Err(error) => recorder.fail(myth.name, format!("{error:#}"))?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::MYTHS;
    use crate::paths;

    /// What is tried and what is told are the same.
    #[test]
    fn the_page_has_a_section_for_each() {
        let page = fs::read_to_string(paths::workspace().join("docs/myths.md")).unwrap();
        let told: Vec<_> = page
            .lines()
            .filter_map(|line| line.strip_prefix("## "))
            .filter(|heading| *heading != "Elsewhere")
            .collect();
        let tried: Vec<_> = MYTHS.iter().map(|myth| myth.name.replace('_', "\\_")).collect();
        let told: Vec<_> = told
            .iter()
            .map(|heading| heading.replace('`', "").replace('_', "\\_"))
            .collect();
        assert_eq!(told, tried);
    }
}
