//! What a machine needs, command by command, and getting it once.

use anyhow::{Result, anyhow};

use crate::process::announce;
use crate::setup::packages::Package;
use crate::setup::toolchain_file::EbpfToolchain;

mod linker;
mod packages;
mod services;
mod toolchain;
#[path = "../../tcpwin-agent/build/toolchain.rs"]
pub mod toolchain_file;

pub use toolchain::Download;

/// Arguments of `cargo xtask setup`.
#[derive(clap::Args)]
pub struct SetupArgs {
    /// Also install what `cargo xtask test` needs: guests, traffic programs, promtool
    #[arg(long)]
    all: bool,
}

/// What the demo's flows run on.
const DEMO: &[Package] = &[Package::with_program("iproute2", "ip")];

/// What native end-to-end tests run beside tcpwin.
const NATIVE: &[Package] = &[
    Package::with_program("iproute2", "ip"),
    Package::with_program("ethtool", "ethtool"),
    Package::with_program("iperf3", "iperf3"),
    Package::with_program("curl", "curl"),
    Package::with_service("nginx-light", "nginx", "nginx"),
    Package::with_program("apache2-bin", "apache2"),
    Package::with_service("haproxy", "haproxy", "haproxy"),
    Package::with_program("nghttp2-client", "nghttp"),
    Package::with_program("nghttp2-server", "nghttpd"),
    Package::with_program("openssl", "openssl"),
    Package::with_program("openssh-client", "ssh"),
    Package::with_service("openssh-server", "sshd", "ssh"),
    Package::with_program("tmux", "tmux"),
    Package::with_service("prometheus", "promtool", "prometheus"),
    Package::with_program("jsonnet", "jsonnet"),
    Package::with_program("chromium", "chromium"),
];

/// What boots a guest.
const GUEST: &[Package] = &[
    Package::with_program("iproute2", "ip"),
    Package::with_program("qemu-system-x86", "qemu-system-x86_64"),
    Package::with_program("busybox-static", "busybox"),
    Package::with_program("binutils", "strip"),
    Package::with_program("xz-utils", "xz"),
];

/// Runs `cargo xtask setup`.
pub fn run(args: &SetupArgs) -> Result<()> {
    let found = build(Download::Allowed)?;
    if args.all {
        native()?;
        guest()?;
    }
    announce(format_args!(
        "ready: {} with {}; `cargo build` works now",
        found.rustc.display(),
        found.linker.display()
    ));
    Ok(())
}

/// Makes `cargo build` possible: the compiler and linker of the kernel programs, remembered in the cache.
pub fn build(download: Download) -> Result<EbpfToolchain> {
    if let Some(known) = toolchain::still_good() {
        return Ok(known);
    }
    let compiler = toolchain::find_or_install(download)?;
    let linker = linker::find_or_build(compiler.llvm)?;
    let found = EbpfToolchain {
        cargo: compiler.cargo,
        rustc: compiler.rustc,
        bootstrap: compiler.bootstrap,
        linker,
    };
    remember(&found)?;
    Ok(found)
}

/// Makes the demo possible.
pub fn demo() -> Result<()> {
    packages::install(DEMO, "the demo")
}

/// Makes the native end-to-end tests and the lab possible.
pub fn native() -> Result<()> {
    packages::install(NATIVE, "the native tests")
}

/// Makes guests possible; their kernels come later, each when it is first asked for.
pub fn guest() -> Result<()> {
    packages::install(GUEST, "guests")
}

fn remember(found: &EbpfToolchain) -> Result<()> {
    let file = toolchain_file::file().map_err(|cause| anyhow!(cause))?;
    if let Some(dir) = file.parent() {
        std::fs::create_dir_all(dir)?;
    }
    let text = format!(
        "# Written by `cargo xtask setup`; read by tcpwin-agent/build.rs.\n{}",
        toml::to_string(found)?
    );
    std::fs::write(&file, text)?;
    Ok(())
}
