//! A room of `src` uses only rooms above it. The order is that of the table in `src/lib.rs`.

use std::fs;
use std::path::{Path, PathBuf};

/// The rooms, first to last: the rows of the table in the crate's documentation.
fn order(lib: &str) -> Vec<String> {
    let rows = lib.lines().filter_map(|line| line.strip_prefix("//! | [`"));
    let names = rows.filter_map(|row| row.split_once("`]"));
    names.map(|(name, _)| name.to_string()).collect()
}

/// The rooms that `text` names by `crate::room`, with the lines.
fn uses(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let code = line.split("//").next().unwrap_or_default();
        for after in code.split("crate::").skip(1) {
            let end = after.find(|c: char| !(c.is_alphanumeric() || c == '_'));
            let name = &after[..end.unwrap_or(after.len())];
            // A list of rooms could hide one on another line.
            assert!(!name.is_empty(), "one `use` for each room: {line}");
            found.push((number + 1, name.to_string()));
        }
    }
    found
}

fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, into);
        } else if path.extension().is_some_and(|e| e == "rs") {
            into.push(path);
        }
    }
}

/// What a file says up to its tests, which may use anything.
fn production(text: &str) -> &str {
    let inline = text.find("\n#[cfg(test)]\nmod tests {");
    &text[..inline.unwrap_or(text.len())]
}

/// One line for each use of a room that is not above.
fn violations(order: &[String], room: &str, text: &str) -> Vec<String> {
    let rank = |name: &str| order.iter().position(|r| r == name);
    let own = rank(room).unwrap();
    let uses = uses(production(text)).into_iter();
    uses.filter(|(_, used)| rank(used).is_some_and(|r| r > own))
        .map(|(line, used)| format!("line {line}: {room} uses {used}"))
        .collect()
}

#[test]
fn each_room_uses_only_rooms_above_it() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let order = order(&fs::read_to_string(src.join("lib.rs")).unwrap());
    let mut rooms: Vec<String> = fs::read_dir(&src)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_string())
        .collect();
    rooms.sort();
    let mut listed = order.clone();
    listed.sort();
    assert_eq!(rooms, listed, "folders of src against the table in lib.rs");

    let mut wrong = Vec::new();
    for room in &order {
        let mut all = Vec::new();
        files(&src.join(room), &mut all);
        assert!(!all.is_empty());
        for path in all {
            if path
                .iter()
                .any(|part| part == "tests" || part == "tests.rs")
            {
                continue;
            }
            let found = violations(&order, room, &fs::read_to_string(&path).unwrap());
            wrong.extend(found.iter().map(|v| format!("{}: {v}", path.display())));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn a_use_of_a_room_below_is_found() {
    let order: Vec<String> = ["math", "simplex", "spn"].map(String::from).to_vec();
    for text in ["use crate::spn::Network;", "fn f() { crate::spn::g() }"] {
        assert_eq!(violations(&order, "simplex", text).len(), 1, "{text}");
    }
    for text in [
        "use crate::math::ln;",
        "// crate::spn",
        "use super::spn;",
        "x\n#[cfg(test)]\nmod tests {\nuse crate::spn::Network;\n}",
    ] {
        assert!(violations(&order, "simplex", text).is_empty(), "{text}");
    }
}

/// The macros that print end the program where a pipe is closed or a disk is full; `cli::output` does not.
#[test]
fn nothing_prints_by_a_macro_that_panics() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = Vec::new();
    files(&src, &mut all);
    let mut found = Vec::new();
    for path in all {
        let text = fs::read_to_string(&path).unwrap();
        for (number, line) in production(&text).lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            let prints = ["print!(", "println!(", "dbg!("];
            if prints.iter().any(|macro_| code.contains(macro_)) {
                found.push(format!("{}:{}", path.display(), number + 1));
            }
        }
    }
    assert!(found.is_empty(), "{found:?}");
}
