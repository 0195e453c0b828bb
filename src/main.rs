//! The `lpf` command.
fn main() {}
