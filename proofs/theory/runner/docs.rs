//! The tables of `docs/theory.md`, written from the sources.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use crate::markers::fill;
use crate::root;
use crate::sources::Sources;

/// The page.
pub fn page() -> PathBuf {
    root().join("docs/theory.md")
}

/// Replaces what stands between the markers of each table.
///
/// # Errors
/// A marker is missing.
pub fn filled(page: &str, sources: &Sources) -> Result<String, String> {
    let mut text = page.to_owned();
    for (name, table) in [
        ("theorems", theorems(sources)),
        ("caveats", caveats(sources)),
        ("counts", counts(sources)),
    ] {
        text = fill(&text, name, "theory-docs", &table)?;
    }
    Ok(text)
}

/// Writes the page where it has changed.
///
/// # Errors
/// It cannot be read or written, or a marker is missing.
pub fn update(sources: &Sources) -> Result<(), String> {
    let path = page();
    let old =
        fs::read_to_string(&path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    let new = filled(&old, sources)?;
    if new != old {
        fs::write(&path, new).map_err(|e| format!("cannot write {}: {e}", path.display()))?;
        println!("theory: {} written", path.display());
    }
    Ok(())
}

/// Lemmas, theorems, assumptions and the rest, each in the order of its number.
fn rank(claim: &str) -> (usize, u32, String) {
    let kind = ["L", "T", "A", "E"]
        .iter()
        .position(|k| claim.starts_with(k) && claim[1..].starts_with(|c: char| c.is_ascii_digit()));
    let digits: String = claim
        .chars()
        .skip(1)
        .take_while(char::is_ascii_digit)
        .collect();
    (
        kind.unwrap_or(9),
        digits.parse().unwrap_or(0),
        claim.to_owned(),
    )
}

fn theorems(sources: &Sources) -> String {
    let mut rows: Vec<_> = sources.theorems().collect();
    rows.sort_by_key(|(source, t)| (rank(&t.claims[0]), source.file.clone(), t.line));
    let mut table =
        String::from("| claim | | theorem | in words | caveats |\n|---|---|---|---|---|\n");
    for (source, t) in rows {
        let _ = writeln!(
            table,
            "| {} | {} | [`{}`](../proofs/theory/{}#L{}) | {} | {} |",
            t.claims.join(", "),
            t.says,
            t.name,
            source.file,
            t.line,
            t.words.replace('|', "\\|"),
            if t.caveats.is_empty() {
                "none".into()
            } else {
                t.caveats.join(", ")
            },
        );
    }
    table
}

fn caveats(sources: &Sources) -> String {
    let mut table = String::from("| caveat | what it means | theorems |\n|---|---|---:|\n");
    for (name, definition) in &sources.caveats {
        let used = sources
            .theorems()
            .filter(|(_, t)| t.caveats.contains(name))
            .count();
        let _ = writeln!(
            table,
            "| {name} | {} | {used} |",
            definition.replace('|', "\\|")
        );
    }
    table
}

fn counts(sources: &Sources) -> String {
    let says = |what: &str| sources.theorems().filter(|(_, t)| t.says == what).count();
    format!(
        "{} theorems: {} prove a claim, {} refute one, {} show that a bound cannot be improved. {} negative proofs.\n",
        sources.theorems().count(),
        says("proves"),
        says("refutes"),
        says("sharpens"),
        sources.negative.len(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder;

    #[test]
    fn the_page_is_up_to_date() {
        let sources = Sources::read(&folder()).unwrap();
        let page = fs::read_to_string(page()).unwrap();
        assert!(
            filled(&page, &sources).unwrap() == page,
            "docs/theory.md is not what the sources say: run `make theory-docs`"
        );
        assert!(filled("no markers", &sources).is_err());
    }

    #[test]
    fn claims_are_in_the_order_of_the_paper() {
        let mut claims = ["Norm", "T10", "E1", "T2'", "A6", "L7", "T2", "T1.Keff"];
        claims.sort_by_key(|c| rank(c));
        assert_eq!(
            claims,
            ["L7", "T1.Keff", "T2", "T2'", "T10", "A6", "E1", "Norm"]
        );
    }
}
