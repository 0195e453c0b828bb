//! Figures as self-contained SVG.
//!
//! Colours are those of Okabe and Ito, told apart by colour-blind readers; each role also has its
//! own mark and dash, so that a print without colour reads the same. Legends stand below their
//! panel, where they cover nothing.

mod draw;
mod scale;

pub(super) use draw::dark_scheme;
pub use draw::svg;
