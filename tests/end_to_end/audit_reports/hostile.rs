//! Five hundred inputs that mean harm, or were harmed: each ends with exit code 2 and a message, or
//! with a report in which every row is used or counted, and none leaves markup in any format.

use std::fs;
use std::path::Path;

use lpf::latent::random::Stream;
use rayon::prelude::*;

use super::markup::elements;
use super::{Run, lpf};

/// How many inputs there are; the generators below make exactly as many.
const INPUTS: usize = 500;

struct Input {
    csv: bool,
    bytes: Vec<u8>,
}

pub const STRINGS: [&str; 24] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "]]><!-- x --><![CDATA[",
    "&lt;b&gt; &amp; &#60;",
    "| a | b |\n|---|---|",
    "# heading\n\n* item",
    "[l](javascript:alert(1)) ![i](https://x.example/p.png)",
    "`code` ``` fence",
    "@everyone #1 https://x.example",
    "\u{1b}[31mred\u{1b}[0m\u{1b}]0;title\u{7}",
    "\u{9b}2J\u{90}x\u{9c}",
    "\u{202e}gnp.exe\u{202c}",
    "\u{200b}\u{feff}\u{2066}\u{2069}",
    "line\nfeed\r\nreturn\rtab\t",
    "\u{0}nul",
    "::error file=x::y",
    "${{ secrets.X }} $(x) `x`",
    "=cmd|' /C calc'!A0",
    "../../../../etc/passwd",
    "%n%s%x {} {{ 1 + 1 }}",
    "\u{1f469}\u{200d}\u{1f680}\u{301}\u{301}\u{301}",
    "\\\\\\\" \\u003cscript\\u003e",
    "</code></li></ul></main></body></html><svg onload=alert(1)>",
];

const NUMBERS: [&str; 24] = [
    "NaN",
    "Infinity",
    "-Infinity",
    "1e999",
    "-1e999",
    "1e-999",
    "-0",
    "-0.0",
    "2",
    "-1",
    "1e308",
    "4.9e-324",
    "0.1e",
    "0x10",
    "1_000",
    "01",
    "+1",
    "\"0.5\"",
    "null",
    "true",
    "[]",
    "{}",
    "[0.5]",
    "18446744073709551616",
];

/// Good rows around a bad one, so that the file is not refused as a whole.
fn between(line: &str) -> Vec<u8> {
    let good = "{\"entity\":\"g\",\"label\":0,\"probs\":[0.75,0.25],\"evidence\":[{\"factor\":[0.75,0.25]}]}\n";
    format!("{good}{line}\n{good}").into_bytes()
}

fn json_inputs(out: &mut Vec<Input>) {
    let text = |s: &str| serde_json::to_string(s).unwrap();
    let mut push = |bytes: Vec<u8>| out.push(Input { csv: false, bytes });
    for s in STRINGS {
        let s = text(s);
        // As a name that is used, as a label that is not known, as a class, as a field.
        push(between(&format!(
            "{{\"entity\":{s},\"label\":0,\"probs\":[0.5,0.75]}}"
        )));
        push(between(&format!(
            "{{\"entity\":\"x\",\"label\":{s},\"probs\":[0.5,0.5]}}"
        )));
        push(
            format!(
                "{{\"entity\":\"x\",\"classes\":[{s},\"b\"],\"label\":{s},\"probs\":[0.5,0.5]}}\n"
            )
            .into_bytes(),
        );
        push(between(&format!(
            "{{\"entity\":\"x\",{s}:{s},\"label\":1,\"probs\":[0.5,{s}]}}"
        )));
    }
    for n in NUMBERS {
        push(between(&format!(
            "{{\"entity\":\"x\",\"label\":0,\"probs\":[0.5,{n}]}}"
        )));
        push(between(&format!(
            "{{\"entity\":\"x\",\"label\":{n},\"probs\":[0.5,0.5]}}"
        )));
        push(between(&format!(
            "{{\"label\":0,\"probs\":[0.5,0.5],\"evidence\":[{{\"factor\":[0.5,0.5],\"weight\":{n}}}]}}"
        )));
        push(between(&format!(
            "{{\"label\":0,\"probs\":[0.5,0.5],\"samples\":[[0.5,{n}]],\"uncertainty\":{{\"total\":{n},\"epistemic\":0,\"aleatoric\":0}}}}"
        )));
    }
    let many = |n: usize, x: &str| vec![x; n].join(",");
    let square = |n: usize, x: &str| many(n, &format!("[{}]", many(n, x)));
    for posterior in [
        "\"mu\":[0],\"sigma\":[NaN]".to_string(),
        "\"mu\":[0],\"sigma\":[-1]".to_string(),
        "\"mu\":[0],\"sigma\":[5e-324],\"weight\":1".to_string(),
        "\"mu\":[0],\"sigma\":[1.7e308],\"weight\":0".to_string(),
        "\"mu\":[1e999],\"sigma\":[1]".to_string(),
        "\"mu\":[],\"sigma\":[]".to_string(),
        "\"mu\":[0,0],\"sigma\":[1]".to_string(),
        "\"mu\":[0,0],\"cov\":[[1],[1,2,3]]".to_string(),
        "\"mu\":[0,0],\"cov\":[[1,2],[2,1]]".to_string(),
        "\"mu\":[0,0],\"cov\":[[1e308,1e308],[1e308,1e308]],\"weight\":-1".to_string(),
        "\"mu\":\"<b>\",\"sigma\":{}".to_string(),
        "\"sigma\":[1],\"cov\":[[1]],\"embedding\":[]".to_string(),
        format!("\"mu\":[{0}],\"sigma\":[{0}]", many(200_000, "1")),
        format!("\"mu\":[{}],\"cov\":[{}]", many(400, "0"), square(400, "1")),
        format!("\"mu\":[0],\"cov\":[{}]", square(1_000, "1")),
    ] {
        push(between(&format!(
            "{{\"label\":0,\"probs\":[0.5,0.5],\"evidence\":[{{{posterior}}}]}}"
        )));
    }
    for structure in [
        String::new(),
        "\n\n\n".to_string(),
        "{".to_string(),
        "}".to_string(),
        "[]".to_string(),
        "null".to_string(),
        "\"text\"".to_string(),
        "{}".to_string(),
        "{}\n{}\n{}".to_string(),
        "[".repeat(100_000),
        "{\"probs\":".repeat(10_000),
        format!("{{\"x\":{}{}}}", "[".repeat(5_000), "]".repeat(5_000)),
        format!("{{\"label\":0,\"probs\":[{}]}}", many(100_000, "0")),
        format!("{{\"label\":0,\"probs\":[1,{}]}}", many(3_000, "0")),
        format!(
            "{{\"label\":0,\"probs\":[0.5,0.5],\"evidence\":[{}]}}",
            many(50_000, "{}")
        ),
        format!(
            "{{\"label\":0,\"probs\":[0.5,0.5],\"factors\":[{}]}}",
            many(5_000, "[0.5,0.5]")
        ),
        "{\"label\":0,\"label\":1,\"probs\":[0.5,0.5]}".to_string(),
        "{\"label\":0,\"probs\":[],\"classes\":[]}".to_string(),
        "{\"label\":0,\"probs\":[1]}".to_string(),
        "{\"label\":0,\"probs\":[0,0]}".to_string(),
        "{\"label\":0,\"probs\":[0,1]}".to_string(),
        "{\"label\":9007199254740993,\"probs\":[0.5,0.5]}".to_string(),
        "{\"label\":0,\"probs\":[0.5,0.5]}{\"label\":0,\"probs\":[0.5,0.5]}".to_string(),
        "\u{feff}{\"label\":0,\"probs\":[0.5,0.5]}".to_string(),
        format!(
            "{{\"entity\":\"{}\",\"label\":0,\"probs\":[0.5,0.5]}}",
            "x".repeat(1 << 20)
        ),
        format!("{{\"label\":0,\"probs\":[0.5,0.{}]}}", "5".repeat(1 << 16)),
        "{\"label\":0,\"probs\":[0.5,0.5],\"factors\":[[1,0],[0,1]]}".to_string(),
        "{\"label\":0,\"probs\":[0.5,0.5],\"weights\":[1]}".to_string(),
        "{\"entity\":\"\\ud800\",\"label\":0,\"probs\":[0.5,0.5]}".to_string(),
        "{\"label\":-1,\"probs\":[0.5,0.5]}".to_string(),
    ] {
        push(structure.into_bytes());
    }
    for bytes in [
        &b"\xff\xfe"[..],
        b"{\"entity\":\"\xc0\xaf\"}",
        b"\x00\x00\x00",
        b"\x1f\x8b\x08\x00",
        b"PAR1",
        b"\r\r\r",
    ] {
        push(bytes.to_vec());
    }
}

fn csv_inputs(out: &mut Vec<Input>) {
    let mut push = |text: String| {
        let bytes = text.into_bytes();
        out.push(Input { csv: true, bytes });
    };
    let quoted = |s: &str| format!("\"{}\"", s.replace('"', "\"\""));
    for s in STRINGS {
        let s = quoted(s);
        push(format!(
            "id,label,prob_a,prob_b\n{s},a,0.5,0.75\n2,b,0.5,0.5\n"
        ));
        push(format!(
            "id,label,prob_a,prob_b\n1,{s},0.5,0.5\n2,b,0.5,0.5\n"
        ));
        push(format!(
            "{s},label,prob_a,prob_b\n1,a,0.5,{s}\n2,b,0.5,0.5\n"
        ));
    }
    for n in NUMBERS {
        push(format!("label,prob_a,prob_b\na,{n},0.5\nb,0.5,0.5\n"));
    }
    let wide = vec!["prob_x"; 2_000].join(",");
    for text in [
        "",
        "\n",
        ",",
        "label\n",
        "label,prob_a\n",
        "prob_a,prob_b\n0.5,0.5\n",
        "\"",
        "\"\n\n\n",
        "label,prob_a,prob_b\n\"a,0.5,0.5\n",
        "label,prob_a,prob_a\na,0.5,0.5\n",
        "label,prob_a,prob_b\na\n",
        "label,prob_a,prob_b\na,0.5,0.5,0.5\n",
        "label;prob_a;prob_b\na;0.5;0.5\n",
        "label,prob_a,prob_b\r\na,0.5,0.5\r\n",
        "label,prob_a,prob_b\ra,0.5,0.5\r",
        "\u{feff}label,prob_a,prob_b\na,0.5,0.5\n",
        "label,label,prob_a,prob_b\na,a,0.5,0.5\n",
        "label,prob_,prob_b\na,0.5,0.5\n",
        "label,prob_a,prob_b\na,\"0.5\"x,0.5\n",
        &wide,
        &format!("label,{wide}\n"),
    ] {
        push(text.to_string());
    }
}

/// Valid inputs with bytes changed by chance, the same in every run.
fn mutated(out: &mut Vec<Input>) {
    let json: String = (0..6)
        .map(|i| {
            format!(
                "{{\"entity\":\"e{i}\",\"label\":{},\"classes\":[\"a\",\"b\"],\"probs\":[0.625,0.375],\"evidence\":[{{\"id\":\"x\",\"factor\":[0.625,0.375],\"weight\":1,\"mu\":[0,1],\"cov\":[[2,1],[1,2]]}}],\"samples\":[[0.5,0.5],[0.75,0.25]]}}\n",
                i % 2
            )
        })
        .collect();
    let csv = "id,label,prob_a,prob_b\n1,a,0.625,0.375\n2,b,0.25,0.75\n3,\"a\",0.5,0.5\n";
    let words = [
        "\"", "{", "}", "[", "]", ",", ":", "\n", "\\", "e", "-", "9", "\u{1b}", "<",
    ];
    let mut number = 0;
    while out.len() < INPUTS {
        let mut stream = Stream::new(1, 0, number, 0);
        number += 1;
        let is_csv = number % 3 == 0;
        let mut bytes = if is_csv { csv } else { &json }.as_bytes().to_vec();
        for _ in 0..1 + stream.below(4) {
            let at = stream.below(bytes.len() as u64) as usize;
            match stream.below(4) {
                0 => bytes[at] = stream.next_u64() as u8,
                1 => bytes.truncate(at.max(1)),
                2 => {
                    let word = words[stream.below(words.len() as u64) as usize];
                    bytes.splice(at..at, word.bytes());
                }
                _ => drop(bytes.drain(at..(at + 9).min(bytes.len()))),
            }
            if bytes.is_empty() {
                break;
            }
        }
        out.push(Input { csv: is_csv, bytes });
    }
}

fn inputs() -> Vec<Input> {
    let mut out = Vec::with_capacity(INPUTS);
    json_inputs(&mut out);
    csv_inputs(&mut out);
    let by_hand = out.len();
    mutated(&mut out);
    assert!(by_hand < INPUTS - 50 && out.len() == INPUTS, "{by_hand}");
    out
}

/// Elements that our own pages and JUnit files are made of.
const ELEMENTS: [&str; 58] = [
    "html",
    "head",
    "meta",
    "link",
    "title",
    "style",
    "body",
    "main",
    "h1",
    "h2",
    "h3",
    "p",
    "div",
    "table",
    "caption",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "figure",
    "figcaption",
    "svg",
    "rect",
    "g",
    "line",
    "path",
    "polyline",
    "polygon",
    "circle",
    "text",
    "ul",
    "li",
    "code",
    "dl",
    "dt",
    "dd",
    "span",
    "div",
    "a",
    "b",
    "nav",
    "form",
    "label",
    "input",
    "select",
    "option",
    "button",
    "output",
    "details",
    "summary",
    "testsuites",
    "testsuite",
    "properties",
    "property",
    "testcase",
    "failure",
    "skipped",
];

/// The script of every page.
fn own_script() -> String {
    let empty = lpf::report::page("", "");
    let from = empty.find("<script>").unwrap();
    let to = empty.find("</script>").unwrap();
    empty[from..to].to_owned() + "</script>"
}

fn no_markup(format: &str, out: &str, what: &str) {
    let quiet = |c: char| c == '\n' || !c.is_control() && !('\u{202a}'..='\u{202e}').contains(&c);
    assert!(
        out.chars().all(quiet),
        "{what}: control characters in {format}"
    );
    match format {
        "html" | "junit" => {
            // The page's own script is the only one that there may be.
            let out = &out.replacen(&own_script(), "", 1);
            let found = elements(out).unwrap_or_else(|e| panic!("{what}: {e} in {format}"));
            for element in found {
                let name = &*element.name;
                assert!(ELEMENTS.contains(&name), "{what}: <{name}> in {format}");
                for (attribute, _) in element.attributes {
                    assert!(
                        !attribute.starts_with("on"),
                        "{what}: {attribute} in {format}"
                    );
                }
            }
        }
        "markdown" => {
            for tag in out.split('<').skip(1) {
                let name = tag.trim_start_matches('/').split('>').next();
                assert!(
                    matches!(name, Some("details" | "summary")),
                    "{what}: <{tag}"
                );
            }
        }
        "sarif" | "json" => {
            assert!(
                !out.contains(['<', '>']),
                "{what}: angle brackets in {format}"
            );
            let value: serde_json::Value = serde_json::from_str(out).unwrap();
            if format == "json" {
                let count = |path: &str| value.pointer(path).unwrap().as_u64().unwrap();
                let (rows, usable) = (count("/inputs/0/rows"), count("/inputs/0/usable"));
                assert_eq!(rows, usable + count("/rejected/count"), "{what}");
            }
        }
        _ => {}
    }
}

const FORMATS: [&str; 6] = ["html", "junit", "markdown", "sarif", "json", "text"];

fn audit(folder: &Path, number: usize, input: &Input, format: &str) -> Run {
    let name = format!("{number}.{}", if input.csv { "csv" } else { "jsonl" });
    fs::write(folder.join(&name), &input.bytes).unwrap();
    lpf(
        &["audit", &name, "--format", format, "--threads", "1"],
        folder,
    )
}

#[test]
fn five_hundred_hostile_inputs_are_refused_or_counted() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = inputs();
    let refused = inputs
        .par_iter()
        .enumerate()
        .map(|(number, input)| {
            // One format an input; hostile strings are in every format's turn, and the formats
            // share what they are made from.
            let format = FORMATS[number % FORMATS.len()];
            let run = audit(folder.path(), number, input, format);
            let what = format!("input {number}: {:?}", run);
            match run.code {
                Some(0 | 1) => no_markup(format, &run.out, &what),
                Some(2) => {
                    assert_eq!(run.out, "", "{what}");
                    assert!(
                        !run.err.is_empty() && !run.err.contains("panicked"),
                        "{what}"
                    );
                    let quiet = |c: char| c == '\n' || !c.is_control();
                    assert!(run.err.chars().all(quiet), "{what}");
                }
                _ => panic!("{what}"),
            }
            usize::from(run.code == Some(2))
        })
        .sum::<usize>();
    // Neither outcome is the only one, or the inputs would test less than they seem to.
    assert!(
        (50..450).contains(&refused),
        "{refused} of {INPUTS} refused"
    );
    // Nothing was written beside the inputs.
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), INPUTS);
}

#[test]
fn the_checks_above_see_markup_where_there_is_some() {
    let sees = |format: &str, text: &str| {
        let (format, text) = (format.to_string(), text.to_string());
        std::panic::catch_unwind(move || no_markup(&format, &text, "")).is_err()
    };
    assert!(sees("html", "<p>x</p><script>"));
    assert!(sees("html", "<p><script></script></p>"));
    assert!(sees("html", "<p onclick=\"x\"></p>"));
    assert!(sees("junit", "<testcase name=\"x\"><i/></testcase>"));
    assert!(sees("markdown", "a <img src=x>"));
    assert!(sees("sarif", "{\"a\":\"<\"}"));
    assert!(sees("text", "a\u{1b}[2J"));
    assert!(!sees("html", "<p class=\"n\">a &lt;b onx=&quot;</p>"));
}
