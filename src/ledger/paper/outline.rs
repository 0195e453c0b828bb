//! Whether a place is one that a reader of the compiled paper finds.
//!
//! A place is one or more spots separated by `; `. A spot begins with its section (`Section 3.1`,
//! `Appendix B.1`, `Abstract`); what follows, separated by `, `, must be in that section: a statement,
//! `equation (11)`, `equations (10) and (11)` or `(43) to (45)`, a table or figure, then its `caption`,
//! `row …`, `rows …` or what stands `below` it, and a paragraph of the outline.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

const OUTLINE: &str = include_str!("outline.txt");

/// A section of the paper.
#[derive(Debug, Default)]
struct Section {
    equations: Option<RangeInclusive<u32>>,
    /// Statements, tables and figures.
    numbered: Vec<&'static str>,
    paragraphs: Vec<&'static str>,
}

fn outline() -> Vec<(&'static str, Section)> {
    let lines = OUTLINE
        .lines()
        .filter(|l| !l.is_empty() && !l.starts_with('#'));
    let list = |text: &'static str| -> Vec<&'static str> {
        let parts = text.split(", ").map(str::trim);
        parts.filter(|part| !part.is_empty()).collect()
    };
    let sections = lines.map(|line| {
        let parts: Vec<&str> = line.splitn(4, " |").map(str::trim).collect();
        let [name, equations, numbered, paragraphs] = parts[..] else {
            panic!("four columns: {line}");
        };
        let equations = (!equations.is_empty()).then(|| {
            let (first, last) = equations.split_once('–').unwrap_or((equations, equations));
            first.parse().unwrap()..=last.parse().unwrap()
        });
        let section = Section {
            equations,
            numbered: list(numbered),
            paragraphs: list(paragraphs),
        };
        (name, section)
    });
    sections.collect()
}

/// The numbers in `equation (11)`, `equations (10) and (11)` or `equations (43) to (45)`.
fn equations(part: &str) -> Option<Vec<u32>> {
    let rest = part
        .strip_prefix("equations ")
        .or(part.strip_prefix("equation "))?;
    let number = |text: &str| text.strip_prefix('(')?.strip_suffix(')')?.parse().ok();
    match rest.split_once(" to ") {
        Some((first, last)) => Some((number(first)?..=number(last)?).collect()),
        None => rest.split(" and ").map(number).collect(),
    }
}

/// What is wrong with a place; nothing where a reader finds it.
fn fault(sections: &BTreeMap<&str, Section>, place: &str) -> Option<String> {
    for spot in place.split("; ") {
        let mut parts = spot.split(", ");
        let first = parts.next().unwrap_or_default();
        let name = ["Section ", "Appendix "]
            .iter()
            .find_map(|word| first.strip_prefix(word))
            .unwrap_or(first);
        let lettered = name.starts_with(|c: char| c.is_ascii_uppercase()) && name != "Abstract";
        if lettered != first.starts_with("Appendix ") {
            return Some(format!("{first} is called otherwise"));
        }
        let Some(section) = sections.get(name) else {
            return Some(format!("there is no {first}"));
        };
        let mut float = false;
        for part in parts {
            let of_float = ["caption", "row ", "rows ", "column "]
                .iter()
                .any(|word| part.starts_with(word));
            let named = part.strip_prefix("below ").unwrap_or(part);
            let found = match equations(part) {
                Some(numbers) => numbers.iter().all(|n| {
                    section
                        .equations
                        .as_ref()
                        .is_some_and(|range| range.contains(n))
                }),
                None if of_float => float,
                None => section.numbered.contains(&named) || section.paragraphs.contains(&part),
            };
            if !found {
                return Some(format!("{part} is not in {first}"));
            }
            float = of_float || named.starts_with("Table ") || named.starts_with("Figure ");
        }
    }
    None
}

mod tests {
    use super::*;
    use crate::ledger::claims;
    use crate::ledger::paper::Paper;

    fn sections() -> BTreeMap<&'static str, Section> {
        outline().into_iter().collect()
    }

    /// Numbers as LaTeX counts them: one after the other, each once.
    #[test]
    fn the_outline_is_numbered_as_it_would_be_compiled() {
        let all = outline();
        let equations = all
            .iter()
            .filter_map(|(_, s)| s.equations.clone())
            .flatten();
        assert!(equations.eq(1..=62));
        for (word, count) in [
            ("Table", 10),
            ("Figure", 8),
            ("Assumption", 6),
            ("Remark", 1),
        ] {
            let found = all.iter().flat_map(|(_, s)| &s.numbered);
            let found = found.filter_map(|n| n.strip_prefix(word)?.trim().parse::<u32>().ok());
            assert!(found.eq(1..=count), "{word}");
        }
        for (word, section, count) in [("Theorem", "3", 7), ("Lemma", "A", 7)] {
            let found: Vec<&str> = all
                .iter()
                .flat_map(|(_, s)| s.numbered.iter().copied())
                .filter(|n| n.starts_with(word))
                .collect();
            let expected: Vec<String> = (1..=count)
                .map(|n| format!("{word} {section}.{n}"))
                .collect();
            assert_eq!(found, expected);
        }
        // 1, 1.1, 1.2 … 9, A, A.1 … B.7.
        let mut before = (String::new(), 0);
        for (name, _) in &all[1..] {
            let (major, minor) = name.split_once('.').unwrap_or((name, "0"));
            let minor: u32 = minor.parse().unwrap();
            let follows = match minor {
                0 => matches!(
                    (before.0.as_str(), major),
                    ("", "1")
                        | ("1", "2")
                        | ("2", "3")
                        | ("3", "4")
                        | ("4", "5")
                        | ("5", "6")
                        | ("6", "7")
                        | ("7", "8")
                        | ("8", "9")
                        | ("9", "A")
                        | ("A", "B")
                ),
                _ => before == (major.to_owned(), minor - 1),
            };
            assert!(follows, "{name}");
            before = (major.to_owned(), minor);
        }
    }

    #[test]
    fn every_claim_of_the_paper_stands_where_a_reader_finds_it() {
        let sections = sections();
        let ours = [
            "in place of ",
            "beside ",
            "beyond ",
            "this implementation",
            "everywhere",
        ];
        for claim in claims::all() {
            let own = ours.iter().any(|word| claim.place.starts_with(word));
            let prime = claim.id.ends_with('\'');
            assert!(!prime || own, "{}: {}", claim.id, claim.place);
            if !own {
                let wrong = fault(&sections, &claim.place);
                assert_eq!(wrong, None, "{}: {}", claim.id, claim.place);
            }
        }
    }

    #[test]
    fn every_number_of_the_paper_stands_where_a_reader_finds_it() {
        let sections = sections();
        for cell in Paper::published().cells() {
            let wrong = fault(&sections, cell.place.name);
            assert_eq!(wrong, None, "{}: {}", cell.id, cell.place.name);
        }
    }

    #[test]
    fn a_place_that_is_not_there_is_found_out() {
        let sections = sections();
        for (place, wrong) in [
            ("Section 6.10", "there is no Section 6.10"),
            ("Appendix 3.1", "called otherwise"),
            ("Section B.1", "called otherwise"),
            ("Section 3.1, equation (13)", "equation (13) is not in"),
            ("Section 3.1, equations (10) and (13)", "is not in"),
            ("Section 6.2, Table 3", "Table 3 is not in"),
            ("Section 6.2, row M = 4", "row M = 4 is not in"),
            (
                "Section 3.1, Theorem 3.1; Section 3.2, Theorem 3.1",
                "is not in Section 3.2",
            ),
            ("Appendix B.6, step 1", "step 1 is not in"),
        ] {
            let said = fault(&sections, place).unwrap_or_default();
            assert!(said.contains(wrong), "{place}: {said}");
        }
        let right =
            "Abstract; Section 6.2, Table 2, row M = 16; Appendix B.2, equations (43) to (45)";
        assert_eq!(fault(&sections, right), None);
    }
}
