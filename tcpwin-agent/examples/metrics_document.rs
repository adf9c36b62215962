//! Prints docs/metrics.md; `cargo xtask docs` writes it.

fn main() {
    print!("{}", tcpwin_agent::exporter::document());
}
