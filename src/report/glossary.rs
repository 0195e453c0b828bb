//! The symbols of the paper: explained on hover, and in a list.

use std::fmt::Write;

use super::escape_html;
use crate::ledger::claims;

/// A symbol, the theorem that it is explained for (none: everywhere else), and what it stands for.
type Symbol = (&'static str, Option<&'static str>, &'static str);

const SYMBOLS: &[Symbol] = &[
    (
        "ECE",
        None,
        "expected calibration error: the mean gap between how sure answers are and how often they are right",
    ),
    (
        "K_eff",
        None,
        "effective number of items, (Σw)²/Σw²: K for equal weights, less for unequal ones",
    ),
    (
        "n_eff",
        None,
        "effective number of terms of a weighted average, 1/Σw² for weights that sum to one",
    ),
    (
        "d_eff",
        None,
        "effective dimension of a model: how many of its parameters the training data really set",
    ),
    (
        "σ_max",
        None,
        "the largest allowed norm of an encoder's covariance (assumption 2)",
    ),
    (
        "H̄(Y|E)",
        None,
        "what is not known of the class once the evidence is in: its entropy given the evidence, on average over the items in the paper",
    ),
    (
        "H̄",
        None,
        "entropy of the class given the evidence, on average over the items",
    ),
    (
        "H(Y|E)",
        None,
        "entropy of the class given all of the evidence",
    ),
    ("H(Y)", None, "entropy of the class before any evidence"),
    (
        "Φᵢ",
        None,
        "the factor of item i: a distribution over the classes, computed from one item of evidence",
    ),
    (
        "q(z|e)",
        None,
        "the encoder's answer to item e: a distribution of the latent variable z",
    ),
    ("|Y|", None, "number of classes"),
    (
        "LPF-SPN",
        None,
        "the product of all factors, each raised to its weight, normalized",
    ),
    (
        "L1",
        None,
        "distance of two distributions: the sum of the absolute differences, from 0 to 2",
    ),
    (
        "PAC-Bayes-kl",
        None,
        "a bound on the true loss that compares it with the training loss by the divergence of two coins",
    ),
    (
        "Hilbert distances",
        None,
        "of two distributions: how far their log ratios spread, largest minus smallest",
    ),
    (
        "Chernoff information",
        None,
        "how fast the best decision between two hypotheses gets better with each item",
    ),
    ("ε", Some("T1"), "the calibration error of single factors"),
    ("ε", Some("T5"), "the share of the items that are replaced"),
    ("ε", Some("T6"), "the calibration error that is aimed at"),
    (
        "ε",
        None,
        "a small error or share: of single factors in theorem 1, the replaced share in theorem 5, the aim in theorem 6",
    ),
    ("δ", Some("T5"), "how far one factor is moved, in L1"),
    (
        "δ",
        None,
        "the probability with which a bound may fail; in theorem 5, how far a factor is moved",
    ),
    ("η", None, "how far the logarithm of a factor is off"),
    ("λ", None, "strength of the regularization"),
    ("σ²", None, "a variance"),
    (
        "R²",
        None,
        "the share of the variance that a fitted curve explains",
    ),
    (
        "C",
        Some("T6"),
        "a constant of the claim; in T6' the Chernoff information",
    ),
    ("C", None, "a constant that the claim leaves open or fits"),
    ("K", None, "number of items of evidence for one entity"),
    ("M", None, "number of samples behind one factor"),
    ("N", None, "number of training examples"),
    (
        "R",
        Some("T5"),
        "how far the log scores spread: the largest change minus the smallest",
    ),
];

/// The text as HTML, each symbol with its meaning where it stands first; `theorem` (as `T5`)
/// chooses between meanings.
pub(super) fn marked(text: &str, theorem: &str) -> String {
    with_links(text, theorem, |_| false)
}

/// The same with a link for each id of another claim than `own`.
pub(super) fn linked(text: &str, theorem: &str, own: &str) -> String {
    with_links(text, theorem, |id| id != own)
}

fn with_links(text: &str, theorem: &str, wanted: impl Fn(&str) -> bool) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let mut seen: Vec<&str> = Vec::new();
    let mut rest = text;
    let mut before: Option<char> = None;
    while let Some(next) = rest.chars().next() {
        let id = claim_at(rest, before).filter(|id| wanted(id));
        if let Some(id) = id {
            let shown = escape_html(id);
            let _ = write!(out, "<a href=\"#{shown}\">{shown}</a>");
            before = id.chars().next_back();
            rest = &rest[id.len()..];
            continue;
        }
        let Some((name, _, meaning)) = symbol(rest, before, theorem) else {
            out.push_str(&escape_html(next.encode_utf8(&mut [0; 4])));
            rest = &rest[next.len_utf8()..];
            before = Some(next);
            continue;
        };
        let shown = escape_html(name);
        if seen.contains(name) {
            out.push_str(&shown);
        } else {
            seen.push(name);
            let meaning = escape_html(meaning);
            let _ = write!(out, "<abbr title=\"{meaning}\">{shown}</abbr>");
        }
        before = name.chars().next_back();
        rest = &rest[name.len()..];
    }
    out
}

/// The id of a claim at the start of `rest`, if it stands alone there.
fn claim_at(rest: &str, before: Option<char>) -> Option<&str> {
    let own = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '\'' | '-');
    if before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '\'' | '.' | '-')) {
        return None;
    }
    let word = &rest[..rest.find(|c| !own(c)).unwrap_or(rest.len())];
    // A sentence ends behind an id too, and "theorem 1's" is none.
    let word = word.trim_end_matches(['.', '-']);
    let numbered = word
        .chars()
        .nth(1)
        .is_some_and(|c| c.is_ascii_digit() || c == '.');
    let known = || claims::all().iter().any(|claim| claim.id == word);
    (numbered && known()).then_some(word)
}

/// The longest symbol at the start of `rest`, if it stands alone there; the first of its meanings
/// that fits the theorem.
fn symbol(rest: &str, before: Option<char>, theorem: &str) -> Option<&'static Symbol> {
    let joined = |c: char| c.is_alphanumeric() || matches!(c, '_' | '\'' | '\u{304}');
    if before.is_some_and(joined) {
        return None;
    }
    SYMBOLS
        .iter()
        .filter(|(name, of, _)| rest.starts_with(name) && of.is_none_or(|of| of == theorem))
        .filter(|(name, _, _)| !rest[name.len()..].chars().next().is_some_and(joined))
        .min_by_key(|(name, of, _)| (usize::MAX - name.len(), of.is_none()))
}

/// Every symbol and what it stands for.
pub(super) fn glossary() -> String {
    let mut out = String::from("<dl class=\"facts\">");
    for (name, of, meaning) in SYMBOLS {
        let place = match of.and_then(|of| of.strip_prefix('T')) {
            Some(number) => format!(" (theorem {number})"),
            None => String::new(),
        };
        let (name, meaning) = (escape_html(name), escape_html(meaning));
        let _ = write!(out, "<dt>{name}{place}</dt><dd>{meaning}</dd>");
    }
    out.push_str("</dl>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_marked_once_alone_and_by_theorem() {
        let html = marked("ε + C/√K_eff < Kish, ε again, T5's K", "T5");
        assert_eq!(html.matches("<abbr").count(), 4, "{html}");
        assert!(html.contains("share of the items that are replaced"));
        assert!(html.contains("&lt; Kish, ε again"));
        assert!(marked("ε", "T1").contains("single factors"));
        let entropy = marked("H̄(Y|E)/H(Y)", "T4");
        assert!(entropy.starts_with("<abbr title=\"what") && entropy.contains(">H(Y)<"));
    }

    #[test]
    fn claims_are_linked_where_they_are_named() {
        let html = linked(
            "A1 to A4: use T5', see T7.aleatoric. Not AT1, T99 or T5.",
            "T5",
            "T5",
        );
        let links: Vec<&str> = html.split("href=\"#").skip(1).collect();
        assert_eq!(links.len(), 4, "{html}");
        assert!(links[2].starts_with("T5&#39;\"") && links[3].starts_with("T7.aleatoric\""));
    }

    #[test]
    fn nothing_of_the_text_is_lost() {
        for text in [
            "",
            "<&>",
            "C·ε·δ·√K at δ = 1, K_eff ≥ ⌈K/2⌉",
            "H̄ and ε₀ and |Y| of T5' and A6.",
        ] {
            let html = linked(text, "T6", "");
            let mut plain = String::new();
            let mut tag = false;
            for c in html.chars() {
                match c {
                    '<' => tag = true,
                    '>' => tag = false,
                    c if !tag => plain.push(c),
                    _ => {}
                }
            }
            assert_eq!(plain, escape_html(text));
        }
    }
}
