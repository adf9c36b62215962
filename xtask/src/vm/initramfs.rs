//! A root file system made of this machine's own programs.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::paths;
use crate::process;
use crate::vm::cpio::Archive;
use crate::vm::kernel::Kernel;
use crate::vm::{GuestJob, modules};

/// Programs every guest has besides busybox, whose own `ip` and `tc` know too little.
const PROGRAMS: [&str; 4] = ["ip", "tc", "ss", "sh"];

/// Builds the image for one job.
pub fn build(kernel: &Kernel, job: &GuestJob) -> Result<tempfile::NamedTempFile> {
    let mut archive = skeleton();
    archive.file(Path::new("/init"), 0o755, include_bytes!("init.sh"));
    archive.file(Path::new("/etc/job"), 0o755, script(&job.command).as_bytes());
    archive.file(
        Path::new("/etc/job.limit"),
        0o644,
        format!("{}\n", job.limit.as_secs()).as_bytes(),
    );

    for (order, module) in modules::resolve(kernel)?.iter().enumerate() {
        let path = format!("/usr/lib/modules/{order:03}-{}.ko", module.name);
        archive.file(Path::new(&path), 0o644, &module.image);
    }
    let mut libraries = BTreeSet::new();
    add(
        &mut archive,
        &program("busybox")?,
        Path::new("/usr/bin/busybox"),
        &mut libraries,
    )?;
    for name in PROGRAMS {
        let host = program(name)?;
        let guest = if host.parent().is_some_and(|dir| dir.ends_with("sbin")) {
            "/usr/sbin"
        } else {
            "/usr/bin"
        };
        add(&mut archive, &host, &Path::new(guest).join(name), &mut libraries)?;
    }
    for file in &job.files {
        add(&mut archive, &file.host, &merged(&file.guest), &mut libraries)?;
    }
    for library in libraries {
        archive.file(&merged(&library), 0o755, &fs::read(&library)?);
    }

    let image = tempfile::NamedTempFile::new()?;
    fs::write(image.path(), archive.finish())?;
    Ok(image)
}

fn skeleton() -> Archive {
    let mut archive = Archive::default();
    for dir in [
        "dev",
        "etc",
        "out",
        "proc",
        "root",
        "run",
        "sys",
        "tmp",
        "usr/lib64",
        "var/run",
    ] {
        archive.directory(Path::new(dir));
    }
    for (link, target) in [
        ("bin", "usr/bin"),
        ("sbin", "usr/sbin"),
        ("lib", "usr/lib"),
        ("lib64", "usr/lib64"),
    ] {
        archive.symlink(Path::new(link), target);
    }
    let etc = [
        (
            "passwd",
            "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n",
        ),
        ("group", "root:x:0:\nnogroup:x:65534:\n"),
        ("hosts", "127.0.0.1 localhost\n::1 localhost\n"),
    ];
    for (name, text) in etc {
        archive.file(&Path::new("/etc").join(name), 0o644, text.as_bytes());
    }
    archive
}

/// Adds a file under its guest path; of a program also the libraries it names.
fn add(archive: &mut Archive, host: &Path, guest: &Path, libraries: &mut BTreeSet<PathBuf>) -> Result<()> {
    let content = fs::read(host).with_context(|| host.display().to_string())?;
    let permissions = fs::metadata(host)?.permissions().mode() & 0o777;
    if content.starts_with(b"\x7fELF") {
        libraries.extend(shared_libraries(host)?);
        archive.file(guest, permissions, &stripped(host)?);
    } else {
        archive.file(guest, permissions, &content);
    }
    Ok(())
}

/// As `ldd` resolves them; a static program has none.
fn shared_libraries(program: &Path) -> Result<Vec<PathBuf>> {
    // ldd fails for static programs, and only for them.
    let Ok(text) = process::output(Command::new("ldd").arg(program)) else {
        return Ok(Vec::new());
    };
    let missing: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("not found"))
        .map(str::trim)
        .collect();
    anyhow::ensure!(
        missing.is_empty(),
        "{}: {}",
        program.display(),
        missing.join(", ")
    );
    let words = text.split_whitespace().filter(|word| word.starts_with('/'));
    Ok(words.map(PathBuf::from).collect())
}

/// Without debug information, which would fill the guest's memory.
fn stripped(program: &Path) -> Result<Vec<u8>> {
    let copy = tempfile::NamedTempFile::new()?;
    process::output(
        Command::new("strip")
            .arg("--strip-debug")
            .arg("-o")
            .arg(copy.path())
            .arg(program),
    )?;
    Ok(fs::read(copy.path())?)
}

/// In the guest /bin, /sbin and /lib* are links into /usr, thus nothing may be put below them.
fn merged(path: &Path) -> PathBuf {
    let first = path
        .components()
        .nth(1)
        .map(|part| part.as_os_str().to_string_lossy().into_owned());
    match first.as_deref() {
        Some("bin" | "sbin" | "lib" | "lib64") => {
            Path::new("/usr").join(path.strip_prefix("/").unwrap_or(path))
        }
        _ => path.to_owned(),
    }
}

fn program(name: &str) -> Result<PathBuf> {
    paths::program(name).with_context(|| format!("{name} is not installed"))
}

fn script(command: &[impl AsRef<OsStr>]) -> String {
    let words: Vec<String> = command
        .iter()
        .map(|word| quoted(&word.as_ref().to_string_lossy()))
        .collect();
    format!("exec {}\n", words.join(" "))
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{merged, script};

    #[test]
    fn paths_go_below_usr() {
        assert_eq!(merged(Path::new("/bin/tcpwin")), Path::new("/usr/bin/tcpwin"));
        assert_eq!(
            merged(Path::new("/lib64/ld-linux-x86-64.so.2")),
            Path::new("/usr/lib64/ld-linux-x86-64.so.2")
        );
        assert_eq!(
            merged(Path::new("/etc/tcpwin.toml")),
            Path::new("/etc/tcpwin.toml")
        );
    }

    #[test]
    fn words_survive_the_shell() {
        assert_eq!(script(&["echo", "it's $HOME"]), "exec 'echo' 'it'\\''s $HOME'\n");
    }
}
