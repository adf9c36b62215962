//! `tcpwin top`.

use std::path::PathBuf;

use clap::Args;

use crate::config::Tick;
use crate::query::{Filter, Sort};
use crate::top::{self, ColourMode, Columns, Palette, PictureSize, Settings};

use super::{ConnectArgs, RecordArgs, ReplayArgs, WatchArgs, parse_filter};

/// Arguments of `tcpwin top`.
#[derive(Args, Debug)]
#[expect(missing_docs, reason = "clap would show it")]
pub struct TopArgs {
    #[command(flatten)]
    screen: ScreenArgs,
    #[command(flatten)]
    pub record: RecordArgs,
    #[command(flatten)]
    pub replay: ReplayArgs,
    #[command(flatten)]
    pub picture: PictureArgs,
    #[command(flatten)]
    pub connect: ConnectArgs,
    #[command(flatten)]
    pub watch: WatchArgs,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Screen")]
struct ScreenArgs {
    /// Order of the table: fields with commas between, -FIELD for the other way round [default: limit, the sickest first]
    #[arg(long, value_name = "FIELD,…", allow_hyphen_values = true)]
    sort: Option<Sort>,
    /// Columns of the table from left to right, with a width where one is wanted: limit,rate,peer=40 [default: those that fit]
    #[arg(long, value_name = "COLUMN[=WIDTH],…")]
    columns: Option<Columns>,
    /// Show only what passes: words, and conditions such as limit=rwnd or "rate > 1M and peer in 203.0.113.0/24"
    #[arg(long, value_name = "FILTER", value_parser = parse_filter)]
    filter: Option<Filter>,
    /// Show only connections held by a window, loss or this host
    #[arg(long)]
    sick: bool,
    /// Colours [default: auto, from NO_COLOR, TERM and COLORTERM]
    #[arg(long, value_enum, value_name = "WHEN")]
    color: Option<Color>,
    /// Draw with nothing but ASCII
    #[arg(long)]
    ascii: bool,
    /// Colours by their meaning: okabe-ito, high-contrast, light or terminal [default: okabe-ito]
    #[arg(long, value_name = "NAME")]
    palette: Option<Palette>,
    /// Settings of the screen; flags win over them [default: ~/.config/tcpwin/top.toml]
    #[arg(long = "top.config.file", value_name = "FILE")]
    settings_file: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Color {
    Auto,
    Never,
    /// The terminal's own
    #[value(name = "16")]
    Sixteen,
    /// A palette that colour-blind people can tell apart
    #[value(name = "256")]
    Full,
}

impl TopArgs {
    /// How the screen starts: flags win over the settings file.
    ///
    /// # Errors
    /// When the settings file cannot be read or says what is not allowed.
    pub fn options(&self) -> Result<top::Options, top::SettingsError> {
        let screen = &self.screen;
        let file = Settings::load(screen.settings_file.as_deref(), |name| std::env::var_os(name))?;
        let interval = self.watch.interval.map(Tick::duration).or(file.interval);
        Ok(top::Options {
            interval: interval.unwrap_or_else(|| self.watch.interval()),
            colour: match screen.color {
                None | Some(Color::Auto) => ColourMode::Auto,
                Some(Color::Never) => ColourMode::Never,
                Some(Color::Sixteen) => ColourMode::Sixteen,
                Some(Color::Full) => ColourMode::Full,
            },
            ascii: screen.ascii || file.ascii.unwrap_or_default(),
            sort: screen.sort.clone().or(file.sort).unwrap_or_default(),
            columns: screen.columns.clone().or(file.columns).unwrap_or_default(),
            filter: screen.filter.clone().or(file.filter).unwrap_or_default(),
            sick_only: screen.sick || file.sick.unwrap_or_default(),
            palette: screen.palette.unwrap_or(file.palette),
            presets: file.presets,
            settings_file: file.path,
            playback: None,
        })
    }
}

/// The end of a recording as a picture.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Recording")]
pub struct PictureArgs {
    /// Draw the last screen of the recording to a file, as SVG, instead of showing it
    #[arg(long, value_name = "FILE", requires = "replay")]
    pub picture: Option<PathBuf>,
    /// Size of that screen
    #[arg(long, value_name = "COLUMNSxROWS", requires = "picture", default_value_t)]
    pub picture_size: PictureSize,
    /// Keys that are typed before it is drawn, such as /nginx<Enter><Enter>
    #[arg(long, value_name = "KEYS", requires = "picture", default_value = "")]
    pub picture_keys: String,
}
