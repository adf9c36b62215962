//! The pictures of the documentation are what the screen shows today of the recording they were made of.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde::Deserialize;

/// `docs/pictures.toml`.
#[derive(Deserialize)]
struct Pictures {
    picture: Vec<Picture>,
}

#[derive(Deserialize)]
struct Picture {
    file: String,
    size: String,
    keys: String,
}

#[test]
fn pictures_are_what_the_screen_shows_of_the_recording() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let text = fs::read_to_string(docs.join("pictures.toml")).expect("the list of pictures");
    let pictures: Pictures = toml::from_str(&text).expect("pictures");
    let drawn_to = tempfile::tempdir().expect("a folder");
    for Picture { file, size, keys } in pictures.picture {
        let drawn = drawn_to.path().join(&file);
        fs::create_dir_all(drawn.parent().expect("a folder")).expect("a folder");
        let status = Command::new(env!("CARGO_BIN_EXE_tcpwin"))
            .args(["top", "--picture-size", &size, "--picture-keys", &keys])
            .arg("--replay")
            .arg(docs.join("demo.tcpwin"))
            .arg("--picture")
            .arg(&drawn)
            .status()
            .expect("tcpwin runs");
        assert!(status.success(), "{file}: {status}");
        let [now, then] = [drawn, docs.join(&file)].map(|path| fs::read_to_string(path).expect("a picture"));
        assert!(
            now == then,
            "docs/{file} is not what the screen shows; `cargo xtask demo --redraw` draws it anew"
        );
    }
}
