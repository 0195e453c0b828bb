//! Pinned tables: what the paper prints, and what our own runs give.
//!
//! Snapshots lie beside this file. A changed number fails the run; `cargo insta review` shows and
//! accepts the change. Nothing here accepts by itself.

mod claims;
mod experiments;
mod paper;

/// Compares a text with the pinned one `snapshots/<folder>/<name>.snap`.
fn pinned(folder: &str, name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(folder);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}
