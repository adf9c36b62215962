//! Stand-in until the lab is merged.

/// Arguments of `cargo xtask lab`.
#[derive(clap::Args)]
pub struct LabArgs {}

/// Runs a scenario.
pub fn run(_args: LabArgs) -> anyhow::Result<()> {
    anyhow::bail!("the lab is not built yet")
}
