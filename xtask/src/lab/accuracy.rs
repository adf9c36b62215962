//! `docs/accuracy.md`: how often tcpwin is right, on each kernel and with each source, beside the rules of other
//! tools. Written wholly from the reports of runs.

mod ceiling;
mod matrix;
mod page;
mod promise;
mod table;
mod tally;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::record::{self, Record};
use crate::paths;

/// Reads the reports (by default those that full runs left in `target/lab`) and writes the page.
pub fn write(files: &[String]) -> Result<()> {
    let files = match files {
        [] => record::left_behind()?,
        files => files.iter().map(PathBuf::from).collect(),
    };
    let mut records = Vec::new();
    for file in &files {
        let record = Record::read(file)?;
        ensure!(
            record.source.is_some(),
            "{} is of a run without an agent",
            file.display()
        );
        records.push(record);
    }
    ensure!(
        !records.is_empty(),
        "there is no report: `lab all --json` leaves one"
    );
    // Native before guests, kernels from old to new, ebpf before sock_diag.
    records.sort_by_key(|record| {
        let numbers = record
            .series()
            .split('.')
            .map(|number| number.parse::<u32>().unwrap_or(0))
            .collect::<Vec<_>>();
        (record.guest, numbers, record.source.clone())
    });
    let path = paths::workspace().join("docs/accuracy.md");
    save(&path, &page::page(&records))
}

fn save(path: &Path, page: &str) -> Result<()> {
    fs::write(path, page).with_context(|| format!("cannot write {}", path.display()))?;
    println!("lab: wrote {}", path.display());
    Ok(())
}
