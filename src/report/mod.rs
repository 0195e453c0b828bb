//! Text, Markdown, JSON, JUnit and HTML reports.
