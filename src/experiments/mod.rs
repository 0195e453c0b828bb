//! The paper's experiments, run on the embedded synthetic data.

mod outcome;

pub use outcome::{Axis, Cell, Figure, Outcome, Panel, Role, Scale, Series, Shape, Table};
