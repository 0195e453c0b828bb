//! Tables and figures as data.
//!
//! Nothing here knows how it will be shown; `report` turns tables into text, Markdown or HTML, and
//! figures into SVG.

use serde::Serialize;

/// One cell of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Cell {
    /// Text.
    Text(String),
    /// A number, perhaps with its spread (a standard deviation or half an interval; the column
    /// says which), to be shown with `digits` digits after the point.
    Number {
        /// The value, unrounded.
        value: f64,
        /// What follows the ± sign.
        #[serde(skip_serializing_if = "Option::is_none")]
        spread: Option<f64>,
        /// Digits after the point in printed tables.
        digits: u8,
    },
    /// Nothing: not printed by the paper, or not defined.
    Empty,
}

impl Cell {
    /// A number shown with `digits` digits after the point.
    pub fn number(value: f64, digits: u8) -> Self {
        Cell::Number {
            value,
            spread: None,
            digits,
        }
    }

    /// A number with its spread.
    pub fn spread(value: f64, spread: f64, digits: u8) -> Self {
        Cell::Number {
            value,
            spread: Some(spread),
            digits,
        }
    }

    /// A whole number.
    pub fn count(n: usize) -> Self {
        Cell::number(n as f64, 0)
    }

    /// A cell of text.
    pub fn text(words: impl Into<String>) -> Self {
        Cell::Text(words.into())
    }

    /// The cell as a reader sees it: rounded to its digits, `—` where there is nothing.
    pub fn shown(&self) -> String {
        match self {
            Cell::Text(words) => words.clone(),
            Cell::Number {
                value,
                spread,
                digits,
            } => {
                let d = usize::from(*digits);
                match spread {
                    Some(s) => format!("{value:.d$} ± {s:.d$}"),
                    None => format!("{value:.d$}"),
                }
            }
            Cell::Empty => "—".to_owned(),
        }
    }
}

/// A table with named columns; every row has one cell for each.
///
/// ```
/// use lpf::{exhibit::{Cell, Table}, report::table_text};
/// let mut table = Table::new("scores", "Scores");
/// table.row([("method", Cell::text("spn")), ("ECE", Cell::spread(0.031, 0.004, 3))]);
/// assert!(table_text(&table).ends_with("spn     0.031 ± 0.004\n"));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Table {
    /// Stable name, such as `T2.error`.
    pub id: String,
    /// What the table shows, with units.
    pub title: String,
    /// Column headings.
    pub columns: Vec<String>,
    /// Cells, row by row.
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table without rows yet; the first row names its columns.
    pub fn new(id: impl Into<String>, title: impl Into<String>) -> Self {
        Table {
            id: id.into(),
            title: title.into(),
            columns: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// Adds a row: cells with the headings of their columns, which are the same in every row.
    pub fn row<H: Into<String>>(&mut self, cells: impl IntoIterator<Item = (H, Cell)>) {
        let (columns, cells) = cells.into_iter().map(|(h, cell)| (h.into(), cell)).unzip();
        if self.rows.is_empty() {
            self.columns = columns;
        }
        self.rows.push(cells);
    }
}

/// How an axis maps values to positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Equal steps for equal differences.
    Linear,
    /// Equal steps for equal ratios; only positive values appear.
    Log,
}

/// One axis of a panel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Axis {
    /// Name and unit.
    pub label: String,
    /// Linear or logarithmic.
    pub scale: Scale,
    /// Values to mark; empty means that round values are chosen.
    pub ticks: Vec<f64>,
    /// What stands at the marks in place of their values; empty for the values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

impl Axis {
    /// A linear axis with round values marked.
    pub fn linear(label: &str) -> Self {
        Axis {
            label: label.to_owned(),
            scale: Scale::Linear,
            ticks: Vec::new(),
            names: Vec::new(),
        }
    }

    /// An axis of things that have names instead of values: they stand at 1, 2, ….
    pub fn named(label: &str, names: &[&str]) -> Self {
        Axis {
            ticks: (1..=names.len()).map(|i| i as f64).collect(),
            names: names.iter().map(|&name| name.to_owned()).collect(),
            ..Axis::linear(label)
        }
    }

    /// A logarithmic axis with round values marked.
    pub fn log(label: &str) -> Self {
        Axis {
            scale: Scale::Log,
            ..Axis::linear(label)
        }
    }

    /// Marks these values instead.
    pub fn marked(mut self, ticks: &[f64]) -> Self {
        self.ticks = ticks.to_vec();
        self
    }
}

/// Where a series comes from; decides its colour, so that the same source looks the same everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Our own run.
    Ours,
    /// A second quantity of our own run.
    OursToo,
    /// A third quantity of our own run.
    OursAlso,
    /// What the paper prints.
    Paper,
    /// A second quantity that the paper prints.
    PaperToo,
    /// A bound that the paper claims.
    Claimed,
    /// A bound that holds.
    Proven,
    /// A line to read against, such as the diagonal.
    Guide,
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// Joined by straight lines, with marks.
    Line,
    /// Joined by a dashed line, no marks.
    Dashed,
    /// Marks only.
    Points,
    /// Columns from zero.
    Bars,
    /// Filled between this series and the one before it (or zero), for stacked parts.
    Area,
    /// Filled between the first half of the points and the second, which comes back from right to left.
    Band,
}

/// One series of points.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// What the legend says.
    pub name: String,
    /// Where it comes from.
    pub role: Role,
    /// How it is drawn.
    pub shape: Shape,
    /// The points, `(x, y)`.
    pub points: Vec<(f64, f64)>,
    /// Half-lengths of vertical error bars; empty for none.
    pub errors: Vec<f64>,
}

impl Series {
    /// A series without error bars.
    pub fn new(
        name: &str,
        role: Role,
        shape: Shape,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) -> Self {
        Series {
            name: name.to_owned(),
            role,
            shape,
            points: points.into_iter().collect(),
            errors: Vec::new(),
        }
    }

    /// A [`Shape::Line`].
    pub fn line(name: &str, role: Role, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Series::new(name, role, Shape::Line, points)
    }

    /// A [`Shape::Dashed`] line.
    pub fn dashed(name: &str, role: Role, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Series::new(name, role, Shape::Dashed, points)
    }

    /// Marks: [`Shape::Points`].
    pub fn points(name: &str, role: Role, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Series::new(name, role, Shape::Points, points)
    }

    /// Columns from zero: [`Shape::Bars`].
    pub fn bars(name: &str, role: Role, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Series::new(name, role, Shape::Bars, points)
    }

    /// A stacked part: [`Shape::Area`].
    pub fn area(name: &str, role: Role, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Series::new(name, role, Shape::Area, points)
    }

    /// The range between lower and upper ends at the same places: [`Shape::Band`].
    pub fn band(
        name: &str,
        role: Role,
        lower: impl IntoIterator<Item = (f64, f64)>,
        upper: impl DoubleEndedIterator<Item = (f64, f64)>,
    ) -> Self {
        Series::new(
            name,
            role,
            Shape::Band,
            lower.into_iter().chain(upper.rev()),
        )
    }

    /// The same with error bars.
    pub fn with_errors(mut self, errors: impl IntoIterator<Item = f64>) -> Self {
        self.errors = errors.into_iter().collect();
        self
    }
}

/// One coordinate system of a figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Panel {
    /// Heading of the panel.
    pub title: String,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// What is drawn, first at the bottom.
    pub series: Vec<Series>,
}

impl Panel {
    /// A panel of these series.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis, series: Vec<Series>) -> Self {
        Panel {
            title: title.into(),
            x,
            y,
            series,
        }
    }
}

/// A figure of one or more panels.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// Stable name, such as `T2`.
    pub id: String,
    /// What the figure shows, in a sentence; also its text alternative.
    pub caption: String,
    /// The panels, left to right, then down.
    pub panels: Vec<Panel>,
}

impl Figure {
    /// A figure of these panels.
    pub fn new(id: &str, caption: impl Into<String>, panels: Vec<Panel>) -> Self {
        Figure {
            id: id.to_owned(),
            caption: caption.into(),
            panels,
        }
    }
}
