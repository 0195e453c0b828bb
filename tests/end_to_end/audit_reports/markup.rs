//! A strict reader of markup: what it accepts is balanced, quoted and escaped, as XML demands and
//! as a page of ours should be.

/// One element.
#[derive(Clone, Debug)]
pub struct Element {
    pub name: String,
    pub attributes: Vec<(String, String)>,
    /// Position of the element around it.
    pub parent: Option<usize>,
}

/// Elements of HTML that have no end.
const VOID: [&str; 2] = ["meta", "link"];

/// All elements in the order of their starts, or the first thing that is not well-formed.
pub fn elements(text: &str) -> Result<Vec<Element>, String> {
    let mut found: Vec<Element> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut rest = text;
    for start in [
        "<!DOCTYPE html>",
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
    ] {
        rest = rest.strip_prefix(start).unwrap_or(rest);
    }
    while let Some(at) = rest.find('<') {
        let (before, from) = rest.split_at(at);
        escaped(before)?;
        if open.is_empty() && !before.trim().is_empty() {
            return Err(format!("{before:?} outside of everything"));
        }
        if let Some(end) = from.strip_prefix("</") {
            let (name, after) = end.split_once('>').ok_or("a tag without an end")?;
            let last = open
                .pop()
                .ok_or_else(|| format!("</{name}> ends nothing"))?;
            if found[last].name != name {
                return Err(format!("</{name}> ends <{}>", found[last].name));
            }
            rest = after;
            continue;
        }
        if open.is_empty() && !found.is_empty() {
            return Err("a second root".to_string());
        }
        let (mut element, after, closed) = tag(&from[1..])?;
        element.parent = open.last().copied();
        rest = after;
        if matches!(&*element.name, "style" | "script") {
            // Its content is no markup up to its end.
            let end = format!("</{}>", element.name);
            let end = rest.find(&end).ok_or("a style or script without an end")?;
            rest = &rest[end..];
        }
        if !closed && !VOID.contains(&&*element.name) {
            open.push(found.len());
        }
        found.push(element);
    }
    match open.last() {
        Some(last) => Err(format!("<{}> has no end", found[*last].name)),
        None if !rest.trim().is_empty() => Err(format!("{rest:?} after the end")),
        None => Ok(found),
    }
}

/// A tag from behind its `<`, what follows, and whether it closes itself.
fn tag(text: &str) -> Result<(Element, &str, bool), String> {
    let name_end = text.find([' ', '>', '/']).ok_or("a tag without an end")?;
    let (name, mut rest) = text.split_at(name_end);
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric()) {
        return Err(format!("<{name} is no element"));
    }
    let mut element = Element {
        name: name.to_string(),
        attributes: Vec::new(),
        parent: None,
    };
    loop {
        for (end, closed) in [(">", false), ("/>", true)] {
            if let Some(after) = rest.strip_prefix(end) {
                return Ok((element, after, closed));
            }
        }
        let attribute = rest
            .strip_prefix(' ')
            .ok_or_else(|| format!("in <{name}"))?;
        let (key, value) = attribute.split_once("=\"").ok_or("no quoted value")?;
        let letters = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if key.is_empty() || !key.chars().all(letters) {
            return Err(format!("{key:?} is no attribute of <{name}>"));
        }
        let (value, after) = value.split_once('"').ok_or("a quote without an end")?;
        if value.contains('<') {
            return Err(format!("< in an attribute of <{name}>"));
        }
        if element.attributes.iter().any(|(have, _)| have == key) {
            return Err(format!("{key} twice in <{name}>"));
        }
        escaped(value)?;
        element
            .attributes
            .push((key.to_string(), value.to_string()));
        rest = after;
    }
}

/// That every `&` starts an entity, and no character is one that XML forbids.
fn escaped(text: &str) -> Result<(), String> {
    for after in text.split('&').skip(1) {
        let entity = after.split_once(';').map(|(entity, _)| entity);
        if !entity.is_some_and(|e| ["amp", "lt", "gt", "quot", "#39"].contains(&e)) {
            return Err(format!("a lone & before {after:?}"));
        }
    }
    match text.chars().find(|c| c.is_control() && *c != '\n') {
        Some(c) => Err(format!("{c:?}")),
        None => Ok(()),
    }
}

#[test]
fn the_reader_refuses_what_is_not_well_formed() {
    for good in [
        "<a/>",
        "<!DOCTYPE html>\n<a b=\"c &amp; d\" e=\"\"><f/>x &lt; y<g></g></a>\n",
        "<head><meta x=\"y\"><style>a>b{}</style></head>",
    ] {
        elements(good).unwrap();
    }
    for bad in [
        "",
        "<a>",
        "</a>",
        "<a></b>",
        "<a><b></a></b>",
        "<a/><a/>",
        "<a/>x",
        "x<a/>",
        "<a b/>",
        "<a b=c/>",
        "<a b='c'/>",
        "<a b=\"c/>",
        "<a b=\"<\"/>",
        "<a b=\"1\" b=\"2\"/>",
        "<a>&</a>",
        "<a>&nbsp;</a>",
        "<a b=\"&\"/>",
        "<a>\u{1b}</a>",
        "<a>< b</a>",
        "<a><!-- x --></a>",
        "<style>a",
    ] {
        let found = elements(bad);
        assert!(
            found.as_ref().map_or(true, Vec::is_empty),
            "{bad}: {found:?}"
        );
    }
    let found = elements("<a><b/><c><d/></c></a>").unwrap();
    let parents: Vec<_> = found.iter().map(|e| e.parent).collect();
    assert_eq!(parents, [None, Some(0), Some(0), Some(2)]);
}
