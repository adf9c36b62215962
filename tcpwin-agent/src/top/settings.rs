//! The settings file of the screen: columns, order, filter, colours, presets.
//!
//! Every key is checked; what is wrong is told with its line, the key and what is allowed.

mod palette;
mod value;
mod write;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use self::palette::Colors;
pub use self::palette::{Palette, UnknownPalette};
pub(crate) use self::palette::{Role, readable_on};
pub use self::write::WriteError;
use super::column::Columns;
use super::preset::Preset;
use crate::query::{Filter, Sort};

/// What the file says; nothing where it says nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// Where the file is, or would be; none without a home.
    pub path: Option<PathBuf>,
    /// Columns of the table.
    pub columns: Option<Columns>,
    /// Order of the table.
    pub sort: Option<Sort>,
    /// What is shown.
    pub filter: Option<Filter>,
    /// Only the sick.
    pub sick: Option<bool>,
    /// Nothing but ASCII.
    pub ascii: Option<bool>,
    /// Time between snapshots.
    pub interval: Option<Duration>,
    /// Colours.
    pub palette: Palette,
    /// Named looks, by name.
    pub presets: Vec<Preset>,
}

/// Why there are no settings.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The file cannot be read.
    #[error("cannot read the settings file {}: {cause}; check the path given to --top.config.file", .path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// What the kernel said.
        cause: std::io::Error,
    },
    /// A line of it is wrong.
    #[error("{}:{line}: {}{message}", .path.display(), key_text(.key))]
    Line {
        /// Which file.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        /// Which key, `top.columns`; empty if the line has none.
        key: String,
        /// What is wrong and what is allowed.
        message: String,
    },
}

fn key_text(key: &str) -> String {
    if key.is_empty() {
        String::new()
    } else {
        format!("`{key}`: ")
    }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct File {
    top: Top,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct Top {
    #[serde(deserialize_with = "value::columns")]
    columns: Option<Columns>,
    #[serde(deserialize_with = "value::text")]
    sort: Option<Sort>,
    #[serde(deserialize_with = "value::text")]
    filter: Option<Filter>,
    sick: Option<bool>,
    ascii: Option<bool>,
    #[serde(deserialize_with = "value::interval")]
    interval: Option<Duration>,
    #[serde(deserialize_with = "value::text")]
    palette: Option<Palette>,
    colors: Colors,
    presets: BTreeMap<String, FilePreset>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct FilePreset {
    #[serde(deserialize_with = "value::columns")]
    columns: Option<Columns>,
    #[serde(deserialize_with = "value::text")]
    sort: Option<Sort>,
    #[serde(deserialize_with = "value::text")]
    filter: Option<Filter>,
    sick: Option<bool>,
}

impl Settings {
    /// From the file that was asked for, else from `$XDG_CONFIG_HOME/tcpwin/top.toml` or `~/.config/tcpwin/top.toml` if
    /// it is there; `var` reads the environment.
    ///
    /// # Errors
    /// When the file cannot be read or says what is not allowed.
    pub fn load(
        asked_for: Option<&Path>,
        var: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, SettingsError> {
        let Some(path) = asked_for.map(Path::to_owned).or_else(|| default_path(var)) else {
            return Ok(Self::default());
        };
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if asked_for.is_none() && error.kind() == std::io::ErrorKind::NotFound => {
                String::new()
            }
            Err(cause) => return Err(SettingsError::Read { path, cause }),
        };
        Self::parse(&path, &text)
    }

    /// From the file's text.
    ///
    /// # Errors
    /// Naming the line, the key and what is allowed.
    pub fn parse(path: &Path, text: &str) -> Result<Self, SettingsError> {
        let at = |key: Option<String>, error: &toml::de::Error| {
            let start = error.span().map_or(0, |span| span.start);
            let line = 1 + text.bytes().take(start).filter(|byte| *byte == b'\n').count();
            SettingsError::Line {
                path: path.to_owned(),
                line,
                key: key.unwrap_or_default(),
                message: value::with_nearest(error.message()),
            }
        };
        let document = toml::Deserializer::parse(text).map_err(|error| at(None, &error))?;
        let File { top } = serde_path_to_error::deserialize(document).map_err(|error| {
            let key = Some(error.path().to_string()).filter(|key| key != ".");
            at(key, error.inner())
        })?;
        let preset = |(name, preset): (String, FilePreset)| Preset {
            name,
            columns: preset.columns,
            sort: preset.sort,
            filter: preset.filter,
            sick: preset.sick,
        };
        Ok(Self {
            path: Some(path.to_owned()),
            columns: top.columns,
            sort: top.sort,
            filter: top.filter,
            sick: top.sick,
            ascii: top.ascii,
            interval: top.interval,
            palette: top.palette.unwrap_or_default().with(&top.colors),
            presets: top.presets.into_iter().map(preset).collect(),
        })
    }
}

/// Where the file is by the XDG base directory specification; a path that is not absolute is to be ignored.
fn default_path(var: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let absolute = |name: &str| var(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let config = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")))?;
    Some(config.join("tcpwin").join("top.toml"))
}

/// Writes columns to the file, everything else in it stays as it is.
///
/// # Errors
/// When it cannot be read, understood or written.
pub(crate) fn write_columns(path: &Path, columns: &Columns) -> Result<(), WriteError> {
    write::columns(path, columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Settings, SettingsError> {
        Settings::parse(Path::new("top.toml"), text)
    }

    #[test]
    fn everything_can_be_set() {
        let settings = parse(
            r##"
            [top]
            columns = ["limit", "peer=40", "trend"]
            sort = "-rate,peer"
            filter = "bound = window"
            sick = true
            ascii = true
            interval = "500ms"
            palette = "high-contrast"
            [top.colors]
            window = "#ff8700"
            loss = "13"
            [top.presets.web]
            filter = "proc = nginx"
            columns = ["peer", "rate"]
            [top.presets.slow]
            sort = "rtt"
            sick = false
            "##,
        )
        .unwrap();
        assert_eq!(settings.columns.unwrap().to_string(), "limit,peer=40,trend");
        assert_eq!(settings.sort.unwrap().to_string(), "-rate,peer");
        assert_eq!(settings.interval, Some(Duration::from_millis(500)));
        let names: Vec<&str> = settings.presets.iter().map(|preset| &*preset.name).collect();
        assert_eq!(names, ["slow", "web"]);
        assert_ne!(settings.palette, "high-contrast".parse().unwrap());
        assert_eq!(parse("").unwrap().palette, Palette::default());
    }

    #[test]
    fn complaints_name_file_line_key_and_what_is_meant() {
        let complaints = [
            "[top]\n\ncolunms = [\"limit\"]\n",
            "[tops]\nsort = \"rate\"\n",
            "[top]\nsort = \"speed\"\n",
            "[top]\ncolumns = [\"limit\", \"retans\"]\n",
            "[top]\ncolumns = [\"limit\", \"peer=900\"]\n",
            "[top]\ncolumns = []\n",
            "[top]\ncolumns = \"limit\"\n",
            "[top]\nfilter = \"rtt >\"\n",
            "[top]\ninterval = \"5 parsecs\"\n",
            "[top]\ninterval = \"10ms\"\n",
            "[top]\npalette = \"high-contrst\"\n",
            "[top.colors]\nwindows = \"208\"\n",
            "[top.colors]\nwindow = \"mauve\"\n",
            "[top.presets.web]\nfliter = \"nginx\"\n",
            "[top.presets.web]\n\n\nsort = \"x\"\n",
            "[top\n",
            "[top]\nsick = 3\n",
        ]
        .map(|text| parse(text).unwrap_err().to_string())
        .join("\n");
        insta::assert_snapshot!(complaints);
    }

    #[test]
    fn the_file_is_where_other_programs_have_theirs() {
        let path = |vars: &[(&str, &str)]| {
            let found = default_path(|name| {
                let found = vars.iter().find(|(var, _)| *var == name);
                found.map(|(_, value)| OsString::from(value))
            });
            found.map(|path| path.display().to_string())
        };
        assert_eq!(
            path(&[("XDG_CONFIG_HOME", "/x"), ("HOME", "/h")]).as_deref(),
            Some("/x/tcpwin/top.toml")
        );
        assert_eq!(
            path(&[("XDG_CONFIG_HOME", "x"), ("HOME", "/h")]).as_deref(),
            Some("/h/.config/tcpwin/top.toml")
        );
        assert_eq!(path(&[]), None);
        assert_eq!(Settings::load(None, |_| None).unwrap(), Settings::default());
        let missing = Settings::load(Some(Path::new("/nowhere/top.toml")), |_| None).unwrap_err();
        assert!(missing.to_string().contains("--top.config.file"), "{missing}");
    }
}
