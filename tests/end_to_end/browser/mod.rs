//! The pages in a real browser: filter, search, deep links, keyboard, both colour schemes, a narrow
//! screen, paper. Pictures of what was seen are left in `target/lpf/pictures`.

mod driver;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use driver::Browser;
use lpf::exhibit::{Axis, Cell, Figure, Panel, Role, Series, Table};
use lpf::experiments::Outcome;
use lpf::ledger::claims::judge_all;
use lpf::ledger::paper::Paper;
use lpf::ledger::{Records, VerdictKind, evidence};
use lpf::report::{Engine, EngineState, Verification, page};
use serde_json::Value;

const FAULTS: &str = include_str!("faults.js");

/// Everything that is wrong with a page, on a wide screen in light and on a narrow one in the dark:
/// colours do not depend on the width, nor widths on the colours.
fn faults(browser: &mut Browser, file: &Path) -> Vec<String> {
    let mut all = Vec::new();
    for (width, scheme) in [(1280, "light"), (400, "dark")] {
        browser.open(file, "", width, scheme);
        let found = browser.evaluate(FAULTS);
        let found = found.as_array().unwrap().iter();
        let found = found.map(|fault| fault.as_str().unwrap().to_owned());
        let found = found.chain(browser.complaints());
        all.extend(found.map(|fault| format!("{width} {scheme}: {fault}")));
    }
    all
}

fn keep_picture(browser: &mut Browser, name: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/lpf/pictures");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(name), browser.picture()).unwrap();
}

fn written(folder: &Path, name: &str, html: &str) -> PathBuf {
    let file = folder.join(name);
    fs::write(&file, html).unwrap();
    file
}

/// A figure with every role, and a table wide enough to be a problem.
fn experiment() -> Outcome {
    let roles = [
        Role::Ours,
        Role::OursToo,
        Role::OursAlso,
        Role::Paper,
        Role::PaperToo,
        Role::Claimed,
        Role::Proven,
        Role::Guide,
    ];
    let series = roles.iter().enumerate().map(|(i, &role)| {
        let points = (1..6).map(|x| (f64::from(x), f64::from(x) + i as f64));
        Series::line("a series with a long name", role, points)
    });
    let panel = Panel::new(
        "Panel",
        Axis::linear("x"),
        Axis::linear("y"),
        series.collect(),
    );
    let mut table = Table::new("T5.compared", "The paper's numbers beside ours");
    for row in 0..3 {
        let cells = (0..12).map(|i| (format!("column {i}"), Cell::spread(0.125, 0.0625, 4)));
        let name = (
            "statement".to_owned(),
            Cell::text(format!("the statement number {row}")),
        );
        table.row([name].into_iter().chain(cells));
    }
    Outcome {
        id: "T5".into(),
        title: "Robustness".into(),
        settings: vec![("seed".into(), "1".into())],
        tables: vec![table.clone(), table_named(table, "T5.more")],
        figures: vec![Figure::new("T5", "What moves", vec![panel.clone(), panel])],
        sentence: "One of three statements agrees.".into(),
        statements: Vec::new(),
    }
}

fn table_named(mut table: Table, id: &str) -> Table {
    table.id = id.into();
    table
}

fn verification() -> Verification {
    let records = Records::none();
    let engine = |name: &str, state| Engine {
        name: name.into(),
        state,
        said: "something".into(),
        command: "make verify",
    };
    Verification {
        judged: judge_all(&Paper::published(), &records),
        evidence: evidence(&records),
        changes: Vec::new(),
        experiments: vec![experiment()],
        engines: vec![
            engine("one", EngineState::Held),
            engine("two", EngineState::Quoted),
            engine("three", EngineState::Failed),
            engine("four", EngineState::NotRun),
        ],
        when: "today".into(),
        commit: "commit 0123456789abcdef0123456789abcdef01234567".into(),
        sources: Some("../../../".into()),
        about: vec![("digest, SHA-256", "0123456789abcdef".repeat(4))],
    }
}

/// How many entries are in sight.
const SHOWN: &str =
    "[...document.querySelectorAll('details.entry')].filter(e => e.checkVisibility()).length";

/// Sets a field of the filter as a reader does.
fn choose(browser: &mut Browser, field: &str, value: &str) {
    browser.evaluate(&format!(
        "(function(){{var f=document.querySelector('#filter [name={field}]');f.value={value:?};\
         f.dispatchEvent(new Event('input',{{bubbles:true}}));}})()"
    ));
}

#[test]
fn the_verification_page_works_in_a_browser() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let report = verification();
    let [(_, html), ..] = report.documents();
    let file = written(folder.path(), "index.html", &html);
    assert_eq!(faults(&mut browser, &file), [""; 0]);

    let all = report.judged.len();
    let count = |wanted: VerdictKind| report.judged.iter().filter(|e| e.kind() == wanted).count();
    browser.open(&file, "", 1280, "light");
    keep_picture(&mut browser, "verification.png");
    assert_eq!(browser.evaluate(SHOWN), all);
    let closed = "document.querySelectorAll('details[open]').length";
    assert_eq!(browser.evaluate(closed), 0);

    // A count is a link that filters; so are the fields; and all is shown again.
    browser.evaluate("document.querySelector('a[href=\"#verdict-Refuted\"]').click()");
    browser.evaluate("new Promise(done => setTimeout(done, 100))");
    assert_eq!(browser.evaluate(SHOWN), count(VerdictKind::Refuted));
    choose(&mut browser, "group", "T5");
    let ids = "[...document.querySelectorAll('details.entry')].filter(e => e.checkVisibility()).map(e => e.querySelector('.name').textContent)";
    let ids = browser.evaluate(ids);
    let want: Vec<&str> = report
        .judged
        .iter()
        .filter(|e| e.kind() == VerdictKind::Refuted && lpf::report::group(&e.claim.id).id == "T5")
        .map(|e| e.claim.id.as_str())
        .collect();
    assert_eq!(ids, Value::from(want));
    let said = browser.evaluate("document.querySelector('#filter output').textContent");
    assert!(
        said.as_str().unwrap().ends_with(&format!("of {all} shown")),
        "{said}"
    );
    browser.evaluate("document.querySelector('#filter button').click()");
    assert_eq!(browser.evaluate(SHOWN), all);
    choose(&mut browser, "text", "MEMORIZES learner");
    let found = browser.evaluate(SHOWN).as_u64().unwrap();
    assert!((1..20).contains(&found), "{found}");
    choose(&mut browser, "text", "xyzzy");
    assert_eq!(browser.evaluate(SHOWN), 0);
    choose(&mut browser, "text", "");
    choose(&mut browser, "engine", "coq");
    let by_coq = browser.evaluate(SHOWN).as_u64().unwrap();
    assert!(by_coq > 20 && by_coq < all as u64, "{by_coq}");
    // A filtered view has an address.
    let address = browser.evaluate("location.hash");
    browser.open(&file, address.as_str().unwrap(), 1280, "light");
    assert_eq!(browser.evaluate(SHOWN), by_coq);

    // A deep link opens its claim, and only that, where it can be seen, even one that is filtered out.
    browser.open(&file, "#T5", 1280, "light");
    let opened = "[...document.querySelectorAll('details[open]')].map(e => e.querySelector('.name').textContent)";
    assert_eq!(browser.evaluate(opened), serde_json::json!(["T5"]));
    let top = "document.getElementById('T5').parentElement.getBoundingClientRect().top";
    let at = browser.evaluate(top).as_f64().unwrap();
    assert!((0.0..400.0).contains(&at), "{at}");
    keep_picture(&mut browser, "theorem-5.png");
    choose(&mut browser, "verdict", "Proved");
    browser.evaluate("location.hash = '#T6'");
    browser.evaluate("new Promise(done => setTimeout(done, 100))");
    assert_eq!(browser.evaluate(SHOWN), all);
    // The way back.
    browser.evaluate("document.querySelector('#T6 .up a[href=\"#theorems\"]').click()");
    browser.evaluate("new Promise(done => setTimeout(done, 100))");
    let at = browser.evaluate("document.getElementById('theorems').getBoundingClientRect().top");
    assert!((0.0..200.0).contains(&at.as_f64().unwrap()), "{at}");

    // The keyboard opens and closes.
    browser.evaluate("document.querySelector('details.entry summary').focus()");
    browser.press("Enter", 13);
    assert_eq!(
        browser.evaluate("document.querySelector('details.entry').open"),
        true
    );

    // In the dark a figure is dark.
    browser.open(&file, "#experiment-T5", 1280, "dark");
    let ground = "getComputedStyle(document.querySelector('figure svg rect')).fill";
    assert_eq!(browser.evaluate(ground), "rgb(22, 24, 27)");
    keep_picture(&mut browser, "experiment-dark.png");
    browser.open(&file, "#T5", 400, "dark");
    keep_picture(&mut browser, "theorem-5-narrow.png");

    // On paper: the theorems in full, all else in a line each.
    browser.open(&file, "", 1280, "light");
    let pdf = browser.print();
    let text = String::from_utf8_lossy(&pdf);
    let pages = text.matches("/Type /Page\n").count() + text.matches("/Type /Page ").count();
    assert!((8..=25).contains(&pages), "{pages} pages");
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn the_audit_page_works_in_a_browser() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let mut log: String = (0..400)
        .map(|i| {
            let label = usize::from(i * 7 % 10 >= 6);
            format!(
                "{{\"entity\":\"e{i}\",\"site\":\"{}\",\"label\":{label},\"probs\":[0.9,0.1],\"evidence\":[\
                 {{\"id\":\"x\",\"factor\":[0.75,0.25]}},{{\"id\":\"y\",\"factor\":[0.75,0.25]}}]}}\n",
                ["north", "<script>console.log(2)</script>", "a site with a long name"][i % 3]
            )
        })
        .collect();
    log.push_str(
        "{\"entity\":\"<script>console.log(1)</script>\",\"label\":7,\"probs\":[0.5,0.5]}\n",
    );
    fs::write(folder.path().join("log.jsonl"), log).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_lpf"))
        .args([
            "audit",
            "log.jsonl",
            "--by",
            "site",
            "--by",
            "evidence.id",
            "--format",
            "html",
            "--output",
            "audit.html",
        ])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let file = folder.path().join("audit.html");
    assert_eq!(faults(&mut browser, &file), [""; 0]);
    browser.open(&file, "", 1280, "light");
    keep_picture(&mut browser, "audit.png");
    // The steps come before the checks, and the panels of a figure are pictures of their own.
    let step = browser.evaluate("document.querySelector('#next + ul code.step').textContent");
    assert_eq!(
        step,
        "lpf calibrate log.jsonl --method auto --output cal.json"
    );
    let apart = "[...document.querySelectorAll('.panels')].every(p => p.querySelectorAll('svg').length === p.children.length)";
    assert_eq!(browser.evaluate(apart), true);
    for id in ["sources", "slices", "classes"] {
        let there = browser.evaluate(&format!("document.getElementById('{id}') !== null"));
        assert_eq!(there, true, "{id}");
    }
    browser.open(&file, "#slices", 400, "dark");
    keep_picture(&mut browser, "audit_narrow_dark.png");
    browser.open(&file, "", 1280, "light");
    choose(&mut browser, "verdict", "fail");
    let shown = browser.evaluate(SHOWN).as_u64().unwrap();
    let failed = fs::read_to_string(&file)
        .unwrap()
        .matches("data-verdict=\"fail\"")
        .count();
    assert!(failed > 0);
    assert_eq!(shown, failed as u64);
}

/// What the tests above would not pass over.
#[test]
fn a_broken_page_is_noticed() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let sound = page("A page", "<h2>Part</h2><p>Words that can be read.</p>");
    let file = written(folder.path(), "sound.html", &sound);
    assert_eq!(faults(&mut browser, &file), [""; 0]);
    for (fault, fragment) in [
        ("console", "<script>nothing.here()</script>"),
        ("console", "<script>console.warn(\"careful\")</script>"),
        (
            "contrast",
            "<p style=\"color:#808080\">Grey on white, or on black.</p>",
        ),
        (
            "contrast 1.00",
            "<p style=\"color:#fff;background:#fff\">Nothing to see.</p>",
        ),
        (
            "1280 light: page 15",
            "<div style=\"width:1500px\">As wide as a street.</div>",
        ),
        (
            "squeezed",
            "<table><tbody><tr><td style=\"display:block;width:9px;overflow-wrap:anywhere\">statement</td></tr></tbody></table>",
        ),
        ("no label", "<input name=\"q\"/>"),
        ("a heading is skipped", "<h4>Too deep</h4>"),
        (
            "no text for a figure",
            "<svg width=\"9\" height=\"9\"></svg>",
        ),
        // Forbidden by the page's own policy, which tells the console.
        (
            "console",
            "<img alt=\"x\" src=\"http://127.0.0.1:9/x.png\"/>",
        ),
    ] {
        let broken = page("A page", &format!("<h2>Part</h2><p>Words.</p>{fragment}"));
        let file = written(folder.path(), "broken.html", &broken);
        let found = faults(&mut browser, &file);
        assert!(
            found.iter().any(|line| line.contains(fault)),
            "{fragment}: {found:?}"
        );
    }
}
