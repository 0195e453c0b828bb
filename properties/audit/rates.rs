//! The rates that were simulated, and the table of them.

use std::sync::Mutex;

use lpf::exhibit::{Cell, Table};

use crate::harness::tails::upper_tail;
use crate::harness::{Check, LEVEL};

/// One rate of the table.
struct Rate {
    world: String,
    rows: u64,
    what: String,
    logs: u64,
    hits: u64,
    allowed: f64,
}

static RATES: Mutex<Vec<Rate>> = Mutex::new(Vec::new());

/// Notes a rate that is to be at most `allowed`, and decides on it.
pub fn at_most(world: &str, rows: u64, what: &str, logs: u64, hits: u64, allowed: f64) -> Check {
    RATES.lock().unwrap().push(Rate {
        world: world.to_string(),
        rows,
        what: what.to_string(),
        logs,
        hits,
        allowed,
    });
    Check::rate(logs, hits, allowed, LEVEL).named(format!("{what}, {world}, {rows} rows"))
}

/// Writes the table of all rates.
pub fn write_table() -> std::io::Result<()> {
    let mut rates = RATES.lock().unwrap();
    if rates.is_empty() {
        return Ok(());
    }
    rates.sort_by(|a, b| (&a.what, &a.world, a.rows).cmp(&(&b.what, &b.world, b.rows)));
    let mut table = Table::new("rates", "Rates of the simulation".to_string());
    for rate in rates.iter() {
        let tail = upper_tail(rate.logs, rate.allowed, rate.hits);
        table.row([
            ("what", Cell::text(rate.what.clone())),
            ("world", Cell::text(rate.world.clone())),
            ("rows", Cell::count(rate.rows as usize)),
            ("logs", Cell::count(rate.logs as usize)),
            ("seen", Cell::count(rate.hits as usize)),
            (
                "promised",
                Cell::text(format!("≤ {} %", (1000.0 * rate.allowed).round() / 10.0)),
            ),
            ("tail", Cell::text(format!("{tail:.2e}"))),
        ]);
    }
    std::fs::create_dir_all("target/lpf")?;
    std::fs::write(
        "target/lpf/simulation.md",
        lpf::report::table_markdown(&table),
    )
}
