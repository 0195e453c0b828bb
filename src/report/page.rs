//! One self-contained HTML page: no network, no scripts, legible on paper, on a phone, without
//! colour.

use super::escape_html;

/// The style sheet. Colours only repeat what words and symbols say.
const STYLE: &str = "\
:root{color-scheme:light dark;--line:#c8c8c8;--soft:#f4f4f2;--ink:#1b1b1b;--link:#0b57a4}\
@media(prefers-color-scheme:dark){:root{--line:#555;--soft:#26282b;--ink:#e8e8e6;--link:#8ab8ea}\
body{background:#17181a}figure svg{background:#fff}}\
body{font:16px/1.55 system-ui,sans-serif;color:var(--ink);max-width:72rem;margin:0 auto;padding:1rem}\
h1{font-size:1.7rem;line-height:1.2}h2{margin-top:2.5rem;border-bottom:1px solid var(--line)}\
h3{margin-top:2rem}a{color:var(--link)}\
.scroll{overflow-x:auto}table{border-collapse:collapse;margin:1rem 0;font-size:.92rem}\
caption{text-align:left;font-weight:600;padding:.3rem 0}\
th,td{border-bottom:1px solid var(--line);padding:.3rem .7rem .3rem 0;text-align:left;vertical-align:top}\
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\
.verdict{font-weight:600;white-space:nowrap}\
article{border:1px solid var(--line);border-radius:6px;padding:.2rem 1rem .8rem;margin:1rem 0;\
break-inside:avoid}article h3{margin-top:.7rem}\
ol.steps{font-variant-numeric:tabular-nums}code,pre{font-family:ui-monospace,monospace;font-size:.9em}\
pre{overflow-x:auto;background:var(--soft);padding:.6rem}\
dl.settings{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem;font-size:.9rem}\
dl.settings dd{margin:0;overflow-wrap:anywhere}figure{margin:1rem 0}\
figure svg{max-width:100%;height:auto}figcaption{font-size:.9rem}\
.loud{border:2px solid;padding:.6rem 1rem;font-weight:600}\
@media print{body{max-width:none;font-size:11pt}a{color:inherit;text-decoration:none}h2{break-after:avoid}}\
@media(max-width:40rem){body{font-size:15px}dl.settings{grid-template-columns:1fr}\
dl.settings dd{margin-bottom:.4rem}}";

/// The whole page around `body`, which is HTML already.
pub fn page(title: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <link rel=\"icon\" href=\"data:,\"><title>{title}</title><style>{STYLE}</style></head>\
         <body><main>\n<h1>{title}</h1>\n{body}</main></body></html>\n",
        title = escape_html(title)
    )
}
