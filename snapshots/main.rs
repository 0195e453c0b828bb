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

/// Compares a text with a pinned file of the program; with `LPF_PIN=1` writes it instead.
fn pinned_text(file: &str, text: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    if std::env::var_os("LPF_PIN").is_some_and(|value| value == "1") {
        std::fs::write(&path, text).unwrap();
    }
    let pinned = std::fs::read_to_string(&path).unwrap();
    let differing = pinned.lines().zip(text.lines()).find(|(a, b)| a != b);
    assert!(
        pinned == text,
        "{file} differs, first in {differing:?}; LPF_PIN=1 writes it anew"
    );
}
