//! Writing columns into the settings file: whole or not at all, and nothing else in it changes.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, chown};
use std::path::{Path, PathBuf};

use toml_edit::{Array, DocumentMut, Item, Table, value};

use crate::top::column::Columns;

/// Why the file was not written; what was there is there still.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// What is there is no TOML.
    #[error("{} is no TOML, so nothing was written into it: {cause}", .path.display())]
    Malformed {
        /// Which.
        path: PathBuf,
        /// Where it is wrong.
        cause: String,
    },
    /// It cannot be read or written.
    #[error("cannot write {}: {cause}", .path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// What the kernel said.
        cause: io::Error,
    },
}

/// Sets `top.columns`, or takes it out where the screen's width decides; comments and all else stay.
pub(super) fn columns(path: &Path, columns: &Columns) -> Result<(), WriteError> {
    let failed = |cause| WriteError::Io {
        path: path.to_owned(),
        cause,
    };
    let text = match fs::read_to_string(path) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(failed(error)),
    };
    let mut changed =
        with_columns(text.as_deref().unwrap_or(""), columns).map_err(|cause| WriteError::Malformed {
            path: path.to_owned(),
            cause,
        })?;
    if text.is_none() {
        changed.insert_str(0, "# Settings of `tcpwin top`; docs/top.md has all keys.\n\n");
    }
    replace(path, changed.as_bytes()).map_err(failed)
}

/// The file's text with the columns in it.
fn with_columns(text: &str, columns: &Columns) -> Result<String, String> {
    let mut document: DocumentMut = text
        .parse()
        .map_err(|error: toml_edit::TomlError| error.to_string())?;
    let top = document
        .entry("top")
        .or_insert_with(|| Item::Table(Table::new()))
        .as_table_like_mut()
        .ok_or("`top` is no table")?;
    if columns.is_automatic() {
        top.remove("columns");
        return Ok(document.to_string());
    }
    let names: Array = columns.to_string().split(',').collect();
    match top.get_mut("columns") {
        // In its place, with the comments around it.
        Some(Item::Value(old)) => {
            let decor = old.decor().clone();
            *old = names.into();
            *old.decor_mut() = decor;
        }
        _ => {
            top.insert("columns", value(names));
        }
    }
    Ok(document.to_string())
}

/// Puts `bytes` in the file's place at once: a reader sees the old or the new, and so does the next start after a crash.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // A link stays one: what it points to is replaced.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let directory = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    fs::create_dir_all(directory)?;
    let mut name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let beside = directory.join(name);
    let written = write_beside(&path, directory, &beside, bytes).and_then(|()| fs::rename(&beside, &path));
    if written.is_err() {
        // What is left of it helps nobody.
        let _ = fs::remove_file(&beside);
    }
    written
}

/// Writes the new file beside the old one, as readable as that and its owner's: under sudo it is not to become root's.
fn write_beside(path: &Path, directory: &Path, beside: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::options().write(true).create_new(true).open(beside)?;
    let (owner, permissions) = match fs::metadata(path) {
        Ok(old) => (old.clone(), Some(old.permissions())),
        Err(_) => (fs::metadata(directory)?, None),
    };
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
    }
    let ours = file.metadata()?;
    if (ours.uid(), ours.gid()) != (owner.uid(), owner.gid()) {
        // Only root may; anybody else writes into a directory of another's by that one's leave.
        let _ = chown(beside, Some(owner.uid()), Some(owner.gid()));
    }
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(text: &str, columns: &str) -> String {
        with_columns(text, &columns.parse().unwrap()).unwrap()
    }

    #[test]
    fn all_else_stays_as_it_is() {
        let before = "# mine\n[top]\nsort = \"rate\" # fast first\ncolumns = [\"limit\"] # few\n\n[top.presets.a]\nsick = true\n";
        let after = with(before, "peer=40,limit");
        assert_eq!(
            after,
            before.replace("[\"limit\"] # few", "[\"peer=40\", \"limit\"] # few")
        );
        assert_eq!(with("", "limit"), "[top]\ncolumns = [\"limit\"]\n");
        let without = with_columns(before, &Columns::default()).unwrap();
        assert!(
            !without.contains("columns") && without.contains("# mine") && without.contains("sick = true")
        );
    }

    #[test]
    fn what_is_no_toml_is_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("top.toml");
        fs::write(&path, "[top").unwrap();
        let error = columns(&path, &"limit".parse().unwrap()).unwrap_err();
        assert!(matches!(error, WriteError::Malformed { .. }), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "[top");
    }

    #[test]
    fn a_file_is_made_where_there_is_none_and_read_back() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("new").join("top.toml");
        let chosen: Columns = "peer=40,trend".parse().unwrap();
        columns(&path, &chosen).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(
            text.starts_with("# Settings of") && text.ends_with("\"trend\"]\n"),
            "{text}"
        );
        let read = crate::top::settings::Settings::load(Some(&path), |_| None).unwrap();
        assert_eq!(read.columns, Some(chosen));
        let link = directory.path().join("link.toml");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        columns(&link, &"limit".parse().unwrap()).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(fs::read_to_string(&path).unwrap().contains("[\"limit\"]"));
        let left = fs::read_dir(path.parent().unwrap()).unwrap().count();
        assert_eq!(left, 1, "nothing is left beside it");
    }
}
