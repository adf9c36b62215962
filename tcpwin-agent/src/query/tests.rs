mod completions;
mod fixture;
mod language;
mod laws;
mod orders;
mod page;
