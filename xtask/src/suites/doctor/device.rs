//! Interfaces.

use anyhow::Result;

use super::bench::{Bench, LOOK, Wanted, type_in, well_set};
use crate::paths;

pub fn run(bench: &mut Bench<'_>) -> Result<()> {
    if paths::program("ethtool").is_none() {
        return bench
            .recorder
            .skip("segmentation-offload-off", "ethtool is not installed");
    }
    let netns = well_set(120)?;
    netns.ip(&[
        "link add near type veth peer name far".into(),
        "link set far up".into(),
        "link set near up".into(),
    ])?;
    bench.check_silent("a well-set namespace with interfaces", &netns)?;
    for switch in ["tso", "gso"] {
        let fault = type_in(&netns, &format!("ethtool -K near {switch} off"))?;
        anyhow::ensure!(fault.is_none(), "{fault:?}");
        let wanted = Wanted {
            id: "segmentation-offload-off",
            severity: "risk",
        };
        bench.check_planted(wanted, &netns, LOOK)?;
    }
    Ok(())
}
