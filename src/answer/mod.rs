//! One entity in, one answer out: all four stages behind one object.
//!
//! | file | what it holds |
//! |---|---|
//! | `answerer` | [`Answerer`]: method, classes, prior, model and map, checked once |
//! | `settings` | [`AnswererBuilder`]: the settings of an [`Answerer`] |
//! | `given` | [`Answer`], [`Class`], [`Item`]: what is said about an entity |
//! | `stream` | [`Answers`]: the answers to all records of a reader, in parallel and constant memory |
//! | `logged` | rows of a log, completed and answered again |
//! | `latent` | learned aggregation and uncertainty, for evidence that has posteriors |

mod answerer;
mod given;
mod latent;
mod logged;
mod settings;
mod stream;

pub use answerer::Answerer;
pub use given::{Answer, Class, Item};
pub use latent::{MOST_EXPLAINED, uncertainty_stream};
pub use settings::{AnswererBuilder, DEFAULT_SAMPLES, Source};
pub use stream::Answers;
