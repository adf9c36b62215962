//! The modules a guest loads, in an order that satisfies their dependencies.
//!
//! An unpacked package has no `modules.dep` (depmod writes it at installation), so each module's own `.modinfo` is
//! read instead.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use crate::vm::kernel::Kernel;

/// What the scenarios and both sources may need, and the channel of the results.
const WANTED: &str = "virtio_pci virtio_console veth tun sch_netem sch_fq sch_fq_codel sch_tbf sch_htb sch_ingress \
                      tcp_bbr inet_diag tcp_diag tls";

/// Not in every kernel: Debian 11's cloud kernel is built without it.
const OPTIONAL: &str = "tls";

/// A module ready for insmod.
pub struct Module {
    /// As in `lsmod`.
    pub name: String,
    /// Its ELF image.
    pub image: Vec<u8>,
}

/// [`WANTED`] and all they depend on; what is built into the kernel needs no loading.
pub fn resolve(kernel: &Kernel) -> Result<Vec<Module>> {
    let builtin = kernel.modules.join("modules.builtin");
    let builtin = fs::read_to_string(&builtin).with_context(|| builtin.display().to_string())?;
    let mut files: HashMap<String, Option<PathBuf>> = builtin
        .lines()
        .map(|path| (module_name(Path::new(path)), None))
        .collect();
    index(&kernel.modules, &mut files)?;

    let mut resolved = Vec::new();
    for name in WANTED.split_whitespace() {
        if name == OPTIONAL && !files.contains_key(name) {
            continue;
        }
        add(name, &files, &mut resolved)
            .with_context(|| format!("module {name} of kernel {}", kernel.version))?;
    }
    Ok(resolved)
}

fn index(dir: &Path, files: &mut HashMap<String, Option<PathBuf>>) -> Result<()> {
    for entry in fs::read_dir(dir).with_context(|| dir.display().to_string())? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            index(&path, files)?;
        } else if path.to_string_lossy().contains(".ko") {
            files.insert(module_name(&path), Some(path));
        }
    }
    Ok(())
}

fn add(name: &str, files: &HashMap<String, Option<PathBuf>>, resolved: &mut Vec<Module>) -> Result<()> {
    if resolved.iter().any(|module| module.name == name) {
        return Ok(());
    }
    let Some(file) = files
        .get(name)
        .with_context(|| format!("{name} is not in this kernel"))?
    else {
        return Ok(());
    };
    let image = decompress(file)?;
    for dependency in dependencies(&image) {
        add(&dependency, files, resolved)?;
    }
    resolved.push(Module {
        name: name.to_owned(),
        image,
    });
    Ok(())
}

/// `kernel/net/sched/sch_fq.ko.xz` is `sch_fq`; file names may have dashes where the kernel has underscores.
fn module_name(path: &Path) -> String {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    file.split(".ko").next().unwrap_or_default().replace('-', "_")
}

fn decompress(file: &Path) -> Result<Vec<u8>> {
    let program = match file.extension().and_then(|extension| extension.to_str()) {
        Some("ko") => return Ok(fs::read(file)?),
        Some("xz") => "xz",
        Some("zst") => "zstd",
        Some("gz") => "gzip",
        _ => bail!("{}: unknown compression", file.display()),
    };
    let output = Command::new(program)
        .args(["--decompress", "--stdout"])
        .arg(file)
        .output();
    let output = output.with_context(|| format!("cannot start {program}"))?;
    ensure!(
        output.status.success(),
        "{program}: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(output.stdout)
}

/// The `depends=` string of `.modinfo`: names joined by commas.
fn dependencies(image: &[u8]) -> Vec<String> {
    let entry = image
        .split(|byte| *byte == 0)
        .find_map(|string| string.strip_prefix(b"depends="));
    let names = String::from_utf8_lossy(entry.unwrap_or_default());
    names
        .split(',')
        .filter(|name| !name.is_empty())
        .map(|name| name.replace('-', "_"))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{dependencies, module_name};

    #[test]
    fn names_follow_the_kernel() {
        assert_eq!(module_name(Path::new("kernel/net/sched/sch_fq.ko.xz")), "sch_fq");
        assert_eq!(
            module_name(Path::new("kernel/crypto/ghash-generic.ko")),
            "ghash_generic"
        );
    }

    #[test]
    fn dependencies_come_from_modinfo() {
        assert_eq!(dependencies(b"\0license=GPL\0depends=a,b-c\0"), ["a", "b_c"]);
        assert!(dependencies(b"\0depends=\0").is_empty());
        assert!(dependencies(b"").is_empty());
    }
}
