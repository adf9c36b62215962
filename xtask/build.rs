//! Lists `scenarios/*.toml`, so that each is registered by being there.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

fn main() {
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    let dir = Path::new(&root)
        .parent()
        .expect("xtask is in the workspace")
        .join("scenarios");
    println!("cargo::rerun-if-changed={}", dir.display());
    let mut paths: Vec<_> = fs::read_dir(&dir)
        .expect("the workspace has scenarios/")
        .map(|entry| entry.expect("scenarios/ can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    paths.sort();
    let mut list = String::from("static SCENARIOS: &[(&str, &str)] = &[\n");
    for path in paths {
        let name = path
            .file_stem()
            .and_then(|stem| stem.to_str())
            .expect("a scenario's name is UTF-8");
        writeln!(list, "    ({name:?}, include_str!({path:?})),").expect("a string can be written to");
    }
    list.push_str("];\n");
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&out).join("scenarios.rs"), list).expect("OUT_DIR can be written to");
}
