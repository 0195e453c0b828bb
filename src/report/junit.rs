//! JUnit XML, which CI servers show as a list of tests.

use std::fmt::Write;

use super::escape_html;

/// One case of a JUnit report.
#[derive(Clone, Debug)]
pub struct JunitCase {
    /// Name of the test case.
    pub name: String,
    /// How long it took, where it was measured.
    pub seconds: Option<f64>,
    /// Reason of the failure, if it failed.
    pub failure: Option<String>,
    /// Reason for skipping, if it was not run.
    pub skipped: Option<String>,
}

/// One suite with its cases as a JUnit XML document.
pub fn junit(suite: &str, cases: &[JunitCase]) -> String {
    junit_with(suite, &[], cases)
}

/// The same with properties of the suite: names and values.
pub(super) fn junit_with(
    suite: &str,
    properties: &[(String, String)],
    cases: &[JunitCase],
) -> String {
    let failures = cases.iter().filter(|c| c.failure.is_some()).count();
    let skipped = cases.iter().filter(|c| c.skipped.is_some()).count();
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites><testsuite name=\"{}\" \
         tests=\"{}\" failures=\"{failures}\" skipped=\"{skipped}\">\n",
        escape_html(suite),
        cases.len()
    );
    if !properties.is_empty() {
        out.push_str("<properties>\n");
        for (name, value) in properties {
            let (name, value) = (escape_html(name), escape_html(value));
            let _ = writeln!(out, "<property name=\"{name}\" value=\"{value}\"/>");
        }
        out.push_str("</properties>\n");
    }
    for case in cases {
        let _ = write!(
            out,
            "<testcase classname=\"{}\" name=\"{}\"",
            escape_html(suite),
            escape_html(&case.name),
        );
        if let Some(seconds) = case.seconds {
            let _ = write!(out, " time=\"{seconds:.3}\"");
        }
        out.push('>');
        if let Some(why) = &case.failure {
            let _ = write!(out, "<failure message=\"{}\"/>", escape_html(why));
        }
        if let Some(why) = &case.skipped {
            let _ = write!(out, "<skipped message=\"{}\"/>", escape_html(why));
        }
        out.push_str("</testcase>\n");
    }
    out.push_str("</testsuite></testsuites>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_escapes() {
        let case = |failure: Option<&str>, skipped: Option<&str>| JunitCase {
            name: "a<b".into(),
            seconds: Some(0.5),
            failure: failure.map(str::to_owned),
            skipped: skipped.map(str::to_owned),
        };
        let text = junit(
            "s",
            &[
                case(Some("\"x\""), None),
                case(None, Some("y")),
                case(None, None),
            ],
        );
        assert!(text.contains("tests=\"3\" failures=\"1\" skipped=\"1\""));
        assert!(text.contains("name=\"a&lt;b\"") && text.contains("message=\"&quot;x&quot;\""));
    }
}
