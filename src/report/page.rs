//! One self-contained HTML page: no network, legible on paper, on a phone, in the dark, without
//! colour and without script.

use super::chart::dark_scheme;
use super::escape_html;

const STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = include_str!("page/script.js");

/// Nothing is ever loaded, whatever a page should come to hold.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
                      img-src data:";

/// The whole page around `body`, which is HTML already.
pub fn page(title: &str, body: &str) -> String {
    with_sections(title, &[], body)
}

/// The page with a list of its sections, each with its anchor, which stays in sight.
pub(super) fn with_sections(title: &str, sections: &[(&str, &str)], body: &str) -> String {
    let links: String = sections
        .iter()
        .map(|(id, name)| format!("<li><a href=\"#{id}\">{name}</a></li>"))
        .collect();
    let (mut skip, mut list) = (String::new(), String::new());
    if let Some((first, _)) = sections.first() {
        skip = format!("<a class=\"skip\" href=\"#{first}\">To the content</a>");
        list = format!("<nav class=\"top\" aria-label=\"Sections\"><ul>{links}</ul></nav>\n");
    }
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <link rel=\"icon\" href=\"data:,\"><title>{title}</title><style>{STYLE}{dark}</style></head>\
         <body>{skip}\n{list}<main>\n<h1>{title}</h1>\n{body}</main>\n<script>{SCRIPT}</script>\
         </body></html>\n",
        title = escape_html(title),
        dark = dark_scheme(),
    )
}
