//! The screen as SVG.

use super::fixture::{connections, snapshot};
use crate::top::{Picture, PictureSize};

#[test]
fn a_picture_shows_what_the_keys_lead_to() {
    let mut picture = Picture::new("120x30".parse().unwrap());
    for tick in 1..=3 {
        picture.take(snapshot(tick, connections()));
    }
    let overview = picture.svg();
    assert!(overview.contains(">rwnd_scale</text>"), "{overview}");
    picture.press("/nginx<Enter><Enter>").unwrap();
    let detail = picture.svg();
    assert_ne!(detail, overview);
    assert!(!detail.contains(">gain</text>"), "{detail}");
    picture.press("<Esc>").unwrap();
    assert_eq!(
        picture.press("<F13>").unwrap_err().to_string(),
        "no key is called <F13>: there are Enter, Esc, Tab, Up, Down, Left, Right, PgUp, PgDn, Home, End, lt"
    );
}

#[test]
fn the_same_screen_is_the_same_picture() {
    let draw = || {
        let mut picture = Picture::new("80x24".parse().unwrap());
        picture.take(snapshot(1, connections()));
        picture.svg()
    };
    assert_eq!(draw(), draw());
}

#[test]
fn a_size_is_that_of_a_screen() {
    assert_eq!("150x40".parse(), Ok(PictureSize::default()));
    for wrong in ["", "150", "x", "0x40", "150x501", "-1x5"] {
        assert!(wrong.parse::<PictureSize>().is_err(), "{wrong}");
    }
}
