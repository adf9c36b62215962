//! Facts in, findings out: what cannot be planted in a network namespace, and what must not be said.

mod docs;
mod fixture;
mod machine;
mod places;
mod plans;
