//! Drawing a figure.

use std::fmt::Write;

use super::scale::{Mapping, label};
use crate::exhibit::{Figure, Panel, Role, Series, Shape};
use crate::report::escape_html;

/// Width of one panel and height of its plotting area, in SVG user units (about one CSS pixel).
const PANEL_WIDTH: f64 = 470.0;
const PLOT_HEIGHT: f64 = 250.0;
/// Room for the heading above, the axis below, and labels left and right.
const TOP: f64 = 34.0;
const BOTTOM: f64 = 54.0;
const LEFT: f64 = 66.0;
const RIGHT: f64 = 14.0;
const LEGEND_LINE: f64 = 20.0;
/// One line of a name along the horizontal axis.
const NAME_LINE: f64 = 14.0;
/// Width of an average character of the 13-unit sans-serif text, on the safe side.
const CHARACTER: f64 = 7.4;

const WHITE: &str = "#ffffff";
const GRID: &str = "#e4e4e4";
const FRAME: &str = "#444444";

/// Every colour, and what it becomes on a dark page.
const SCHEME: [(&str, &str); 10] = [
    (WHITE, "#16181b"),
    (GRID, "#34383e"),
    (FRAME, "#aeb2b8"),
    ("#0072B2", "#56B4E9"),
    ("#009E73", "#2FC79B"),
    ("#CC79A7", "#E29AC4"),
    ("#000000", "#F0F0EC"),
    ("#D55E00", "#FF8A3D"),
    ("#E69F00", "#F0C04D"),
    ("#888888", "#9A9EA4"),
];

/// Colour, dash pattern and mark of a role.
fn look(role: Role) -> (&'static str, &'static str, char) {
    match role {
        Role::Ours => ("#0072B2", "", 'o'),
        Role::OursToo => ("#009E73", "", 's'),
        Role::OursAlso => ("#CC79A7", "", 'd'),
        Role::Paper => ("#000000", "2 3", 'x'),
        Role::PaperToo => ("#000000", "1 4", '+'),
        Role::Claimed => ("#D55E00", "7 4", 't'),
        Role::Proven => ("#E69F00", "12 3 2 3", 'v'),
        Role::Guide => ("#888888", "4 4", '.'),
    }
}

/// The style of figures on a dark page: each colour of an attribute replaced by its counterpart. A
/// figure that stands alone keeps its own.
pub(crate) fn dark_scheme() -> String {
    let mut rules = String::from("@media screen and (prefers-color-scheme:dark){");
    for (light, dark) in SCHEME {
        for paint in ["fill", "stroke"] {
            let _ = write!(rules, "figure svg [{paint}=\"{light}\"]{{{paint}:{dark}}}");
        }
    }
    rules.push('}');
    rules
}

/// The figure as a complete SVG document.
pub fn svg(figure: &Figure) -> String {
    let columns = if figure.panels.len() == 1 { 1 } else { 2 };
    let heights: Vec<f64> = figure
        .panels
        .chunks(columns)
        .map(|row| row.iter().map(panel_height).fold(0.0, f64::max))
        .collect();
    let (width, height) = (PANEL_WIDTH * columns as f64, heights.iter().sum::<f64>());
    let mut out = String::new();
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\" aria-label=\"{caption}\" \
         font-family=\"system-ui, sans-serif\" font-size=\"13\">\
         <rect width=\"100%\" height=\"100%\" fill=\"{WHITE}\"/>",
        caption = escape_html(&figure.caption),
    );
    let mut y = 0.0;
    for (row, height) in figure.panels.chunks(columns).zip(&heights) {
        for (i, panel) in row.iter().enumerate() {
            draw_panel(&mut out, panel, PANEL_WIDTH * i as f64, y);
        }
        y += height;
    }
    out.push_str("</svg>\n");
    out
}

/// Legend entries, broken into lines that fit the panel.
fn legend(panel: &Panel) -> Vec<Vec<&Series>> {
    let mut lines: Vec<Vec<&Series>> = vec![Vec::new()];
    let mut used = 0.0;
    for series in &panel.series {
        let width = entry_width(series);
        if used + width > PANEL_WIDTH - LEFT - RIGHT && used > 0.0 {
            lines.push(Vec::new());
            used = 0.0;
        }
        used += width;
        if let Some(line) = lines.last_mut() {
            line.push(series);
        }
    }
    lines
}

fn entry_width(series: &Series) -> f64 {
    44.0 + CHARACTER * series.name.chars().count() as f64
}

fn panel_height(panel: &Panel) -> f64 {
    let legend = LEGEND_LINE * legend(panel).len() as f64;
    TOP + PLOT_HEIGHT + BOTTOM + below_marks(panel) + legend + 10.0
}

/// Room for further lines of the names along the horizontal axis.
fn below_marks(panel: &Panel) -> f64 {
    let lines = panel.x.names.iter().map(|n| n.split_whitespace().count());
    NAME_LINE * lines.max().unwrap_or(1).saturating_sub(1) as f64
}

fn draw_panel(out: &mut String, panel: &Panel, left: f64, top: f64) {
    let plot_width = PANEL_WIDTH - LEFT - RIGHT;
    let all = || panel.series.iter();
    let xs = all().flat_map(|s| s.points.iter().map(|p| p.0));
    let bars_or_areas = |s: &&Series| matches!(s.shape, Shape::Bars | Shape::Area);
    let zero = all().find(bars_or_areas).map(|_| 0.0);
    let ys = all().flat_map(|s| {
        s.points.iter().enumerate().flat_map(|(i, p)| {
            let e = s.errors.get(i).copied().unwrap_or_default();
            [p.1 - e, p.1 + e]
        })
    });
    let x = Mapping::covering(&panel.x, xs);
    let y = Mapping::covering(&panel.y, ys.chain(zero));
    let frame = Frame {
        left: left + LEFT,
        top: top + TOP,
        width: plot_width,
        height: PLOT_HEIGHT,
        x,
        y,
    };
    let _ = write!(
        out,
        "<text x=\"{:.1}\" y=\"{:.1}\" font-weight=\"600\">{}</text>",
        frame.left,
        top + 20.0,
        escape_html(&panel.title)
    );
    frame.axes(out, panel);
    let mut below: Option<&Series> = None;
    let bars = all().filter(|s| s.shape == Shape::Bars).count();
    let mut bar = 0;
    for series in &panel.series {
        match series.shape {
            Shape::Area => {
                frame.area(out, series, below);
                below = Some(series);
            }
            Shape::Bars => {
                frame.bars(out, series, bar, bars);
                bar += 1;
            }
            Shape::Band => frame.band(out, series),
            Shape::Line | Shape::Dashed | Shape::Points => frame.line(out, series),
        }
    }
    let mut y = frame.top + PLOT_HEIGHT + BOTTOM + below_marks(panel) + 6.0;
    for line in legend(panel) {
        let mut x = frame.left;
        for series in line {
            legend_entry(out, series, x, y);
            x += entry_width(series);
        }
        y += LEGEND_LINE;
    }
}

/// The sample of a series' look and its name, from `x` on.
fn legend_entry(out: &mut String, series: &Series, x: f64, y: f64) {
    let (colour, dash, _) = look(series.role);
    let middle = y - 4.5;
    if matches!(series.shape, Shape::Area | Shape::Bars | Shape::Band) {
        let opacity = opacity(series.shape);
        let _ = write!(
            out,
            "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"24\" height=\"10\" fill=\"{colour}\" \
             fill-opacity=\"{opacity}\" stroke=\"{colour}\"/>",
            y - 10.0
        );
    }
    if matches!(series.shape, Shape::Line | Shape::Dashed) {
        let _ = write!(
            out,
            "<line x1=\"{x:.1}\" x2=\"{:.1}\" y1=\"{middle:.1}\" y2=\"{middle:.1}\" \
             stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dash}\"/>",
            x + 24.0
        );
    }
    if matches!(series.shape, Shape::Line | Shape::Points) {
        mark(out, series.role, x + 12.0, middle);
    }
    let (x, name) = (x + 30.0, escape_html(&series.name));
    let _ = write!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\">{name}</text>");
}

/// How much of what is below a filled shape hides.
fn opacity(shape: Shape) -> &'static str {
    match shape {
        Shape::Band => "0.2",
        _ => "0.55",
    }
}

/// One mark, centred.
fn mark(out: &mut String, role: Role, x: f64, y: f64) {
    let (colour, _, shape) = look(role);
    let filled = format!("fill=\"{colour}\"");
    let lines = format!("stroke=\"{colour}\" stroke-width=\"2\" fill=\"none\"");
    let (path, style) = match shape {
        's' => (format!("M{:.1} {:.1}h7v7h-7z", x - 3.5, y - 3.5), filled),
        'd' => (
            format!("M{x:.1} {:.1}l4.5 4.5l-4.5 4.5l-4.5-4.5z", y - 4.5),
            filled,
        ),
        't' => (format!("M{x:.1} {:.1}l4.5 8h-9z", y - 5.0), filled),
        'v' => (format!("M{x:.1} {:.1}l4.5-8h-9z", y + 5.0), filled),
        'x' => (
            format!("M{:.1} {:.1}l8 8m0-8l-8 8", x - 4.0, y - 4.0),
            lines,
        ),
        '+' => (
            format!("M{:.1} {y:.1}h10M{x:.1} {:.1}v10", x - 5.0, y - 5.0),
            lines,
        ),
        '.' => return,
        _ => {
            let _ = write!(
                out,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" {filled}/>"
            );
            return;
        }
    };
    let _ = write!(out, "<path d=\"{path}\" {style}/>");
}

/// The plotting area of one panel.
struct Frame {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
    x: Mapping,
    y: Mapping,
}

impl Frame {
    fn px(&self, x: f64) -> f64 {
        self.left + self.width * self.x.at(x)
    }

    /// Vertical position of a fraction of the axis.
    fn fraction(&self, f: f64) -> f64 {
        self.top + self.height * (1.0 - f)
    }

    fn py(&self, y: f64) -> f64 {
        self.fraction(self.y.at(y))
    }

    /// The points that both axes can show, with their positions and indices.
    fn visible<'a>(&'a self, series: &'a Series) -> impl Iterator<Item = (usize, f64, f64)> + 'a {
        let points = series.points.iter().enumerate();
        points
            .map(|(i, &(x, y))| (i, self.px(x), self.py(y)))
            .filter(|(_, x, y)| x.is_finite() && y.is_finite())
    }

    fn axes(&self, out: &mut String, panel: &Panel) {
        let (right, bottom) = (self.left + self.width, self.top + self.height);
        for (i, &t) in self.x.ticks.iter().enumerate() {
            let x = self.px(t);
            let _ = write!(
                out,
                "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{:.1}\" y2=\"{bottom:.1}\" stroke=\"{GRID}\"/>",
                self.top
            );
            // A name of several words takes a line for each, so that neighbours stay apart.
            let size = if panel.x.names.is_empty() { 12 } else { 11 };
            let words = match panel.x.names.get(i) {
                Some(name) => name.split_whitespace().map(escape_html).collect(),
                None => vec![label(t)],
            };
            for (line, word) in words.iter().enumerate() {
                let _ = write!(
                    out,
                    "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"{size}\">{word}</text>",
                    bottom + 17.0 + NAME_LINE * line as f64,
                );
            }
        }
        for &t in &self.y.ticks {
            let y = self.py(t);
            let _ = write!(
                out,
                "<line x1=\"{:.1}\" x2=\"{right:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"{GRID}\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" font-size=\"12\">{}</text>",
                self.left,
                self.left - 6.0,
                y + 4.0,
                label(t)
            );
        }
        let _ = write!(
            out,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"none\" stroke=\"{FRAME}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
             <text transform=\"translate({:.1} {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            self.left,
            self.top,
            self.width,
            self.height,
            self.left + self.width / 2.0,
            bottom + 36.0 + below_marks(panel),
            escape_html(&panel.x.label),
            self.left - 50.0,
            self.top + self.height / 2.0,
            escape_html(&panel.y.label),
        );
    }

    fn line(&self, out: &mut String, series: &Series) {
        let (colour, dash, _) = look(series.role);
        let dash = match series.shape {
            Shape::Line => "",
            _ => dash,
        };
        for (i, x, y) in self.visible(series) {
            self.error_bar(out, series, i, x);
            if series.shape != Shape::Dashed {
                mark(out, series.role, x, y);
            }
        }
        if series.shape != Shape::Points {
            let mut path = String::new();
            for (k, (_, x, y)) in self.visible(series).enumerate() {
                let _ = write!(path, "{}{x:.1} {y:.1}", if k == 0 { 'M' } else { 'L' });
            }
            let _ = write!(
                out,
                "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" \
                 stroke-dasharray=\"{dash}\"/>"
            );
        }
    }

    /// The error bar of point `i`, if it has one, at the position `x`.
    fn error_bar(&self, out: &mut String, series: &Series, i: usize, x: f64) {
        let (colour, _, _) = look(series.role);
        let Some(&e) = series.errors.get(i).filter(|&&e| e > 0.0) else {
            return;
        };
        let value = series.points[i].1;
        let (low, high) = (self.py(value - e), self.py(value + e));
        // Below zero a logarithmic axis has no place: the bar goes down to its end.
        let low = if low.is_finite() {
            low
        } else {
            self.fraction(0.0)
        };
        let _ = write!(
            out,
            "<path d=\"M{x:.1} {low:.1}V{high:.1}M{left:.1} {high:.1}h6M{left:.1} {low:.1}h6\" \
             stroke=\"{colour}\" fill=\"none\"/>",
            left = x - 3.0
        );
    }

    fn bars(&self, out: &mut String, series: &Series, index: usize, of: usize) {
        let (colour, _, _) = look(series.role);
        let step = self.width / (series.points.len().max(1) as f64 + 1.0);
        let width = 0.8 * step / of.max(1) as f64;
        let ground = self.fraction(self.y.ground());
        for (i, x, y) in self.visible(series) {
            let x = x + width * (index as f64 - of as f64 / 2.0);
            let _ = write!(
                out,
                "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{:.1}\" \
                 fill=\"{colour}\" fill-opacity=\"0.55\" stroke=\"{colour}\"/>",
                y.min(ground),
                (y - ground).abs()
            );
            self.error_bar(out, series, i, x + width / 2.0);
        }
    }

    /// Closed along its outline, so that a band of one place is a line.
    fn band(&self, out: &mut String, series: &Series) {
        let (colour, _, _) = look(series.role);
        let mut path = String::new();
        for (k, (_, x, y)) in self.visible(series).enumerate() {
            let _ = write!(path, "{}{x:.1} {y:.1}", if k == 0 { 'M' } else { 'L' });
        }
        let close = if path.is_empty() { "" } else { "Z" };
        let _ = write!(
            out,
            "<path d=\"{path}{close}\" fill=\"{colour}\" fill-opacity=\"{}\" stroke=\"{colour}\" \
             stroke-width=\"1.5\"/>",
            opacity(Shape::Band)
        );
    }

    fn area(&self, out: &mut String, series: &Series, below: Option<&Series>) {
        let (colour, _, _) = look(series.role);
        let mut path = String::new();
        let shown: Vec<_> = self.visible(series).collect();
        for (k, (_, x, y)) in shown.iter().enumerate() {
            let _ = write!(path, "{}{x:.1} {y:.1}", if k == 0 { 'M' } else { 'L' });
        }
        let ground = self.fraction(self.y.ground());
        for &(i, x, _) in shown.iter().rev() {
            let value = series.points[i].0;
            let floor = below.and_then(|b| b.points.iter().find(|p| p.0 == value));
            let y = floor.map_or(ground, |p| self.py(p.1));
            let _ = write!(path, "L{x:.1} {y:.1}");
        }
        let _ = write!(
            out,
            "<path d=\"{path}Z\" fill=\"{colour}\" fill-opacity=\"0.45\" stroke=\"{colour}\"/>"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exhibit::Axis;

    fn figure(points: Vec<(f64, f64)>) -> Figure {
        let shapes = [
            Shape::Line,
            Shape::Dashed,
            Shape::Points,
            Shape::Bars,
            Shape::Area,
            Shape::Band,
        ];
        let series = shapes
            .iter()
            .map(|&s| Series::new("<b>&", Role::Ours, s, points.clone()).with_errors(vec![0.1; 3]))
            .collect();
        let panel = Panel::new("t", Axis::log("x"), Axis::linear("y"), series);
        Figure::new("f", "\"<", vec![panel.clone(), panel])
    }

    #[test]
    fn every_colour_has_its_counterpart_in_the_dark() {
        let text = svg(&figure(vec![(1.0, 2.0), (2.0, 3.0)]));
        let painted = text.split(['"', ' ']).filter(|part| part.starts_with('#'));
        let mut seen = 0;
        for colour in painted {
            assert!(SCHEME.iter().any(|(light, _)| *light == colour), "{colour}");
            seen += 1;
        }
        assert!(seen > 10);
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
        for role in roles {
            assert!(SCHEME.iter().any(|(light, _)| *light == look(role).0));
        }
    }

    #[test]
    fn any_numbers_draw_without_nan_and_with_names_escaped() {
        for points in [
            vec![],
            vec![(1.0, 2.0)],
            vec![
                (0.0, 1.0),
                (f64::NAN, 1.0),
                (1.0, f64::INFINITY),
                (2.0, 3.0),
            ],
        ] {
            let text = svg(&figure(points));
            assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
            assert!(!text.contains("<b>") && text.contains("&lt;b&gt;&amp;"));
            assert!(text.ends_with("</svg>\n"));
        }
    }
}
