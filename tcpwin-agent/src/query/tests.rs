mod completions;
mod cost;
mod fixture;
mod language;
mod laws;
mod orders;
mod page;
