//! The rules in a hurry: the same expressions over shorter intervals. Their own lengths are tested in virtual time.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::paths;

/// How long an alert's condition must hold.
const FOR: &str = "3s";

/// Writes the rules with rates over `rate` and alerts that wait for seconds; the files.
pub fn shortened(dir: &Path, rate: &str) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for name in ["recording.yaml", "alerts.yaml"] {
        let path = paths::workspace().join("dashboards/rules").join(name);
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let line = |line: &str| match line.split_once("for: ") {
            Some((indent, _)) if indent.trim().is_empty() => format!("{indent}for: {FOR}\n"),
            _ => format!("{}\n", line.replace("[5m]", &format!("[{rate}]"))),
        };
        let file = dir.join(name);
        fs::write(&file, text.lines().map(line).collect::<String>())?;
        files.push(file);
    }
    Ok(files)
}
