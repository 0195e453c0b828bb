//! Tables in pages of `docs/`: what stands between two markers is written by a command.

/// The page with the table between its markers, which name the target of `make` that writes it.
///
/// # Errors
/// A marker is missing.
pub fn fill(page: &str, name: &str, target: &str, table: &str) -> Result<String, String> {
    let begin = format!("<!-- {name}: written by `make {target}` -->\n");
    let end = format!("<!-- end of {name} -->");
    let missing = |marker: &str| format!("no marker {marker:?}");
    let (before, rest) = page.split_once(&begin).ok_or_else(|| missing(&begin))?;
    let (_, after) = rest.split_once(&end).ok_or_else(|| missing(&end))?;
    Ok(format!("{before}{begin}{table}{end}{after}"))
}
