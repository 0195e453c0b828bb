//! A map is fitted that repairs over-confidence, and judged on rows that it has not seen.

use lpf::calibration::{CalibrationMap, Evaluation, MapMethod};
use lpf::simplex::Distribution;

fn main() -> lpf::Result<()> {
    // A model that says 90 % and is right in 70 %, and says 60 % and is right in 60 %.
    let mut rows = Vec::new();
    for i in 0..1000_usize {
        let (sure, right) = if i % 2 == 0 { (0.9, 7) } else { (0.6, 6) };
        let label = usize::from(i / 2 % 10 >= right);
        rows.push((Distribution::new(vec![sure, 1.0 - sure])?, label));
    }
    let (fit_on, judge_on) = rows.split_at(500);
    let (predictions, labels): (Vec<_>, Vec<_>) = fit_on.iter().cloned().unzip();
    let map = CalibrationMap::fit(MapMethod::Isotonic, &predictions, &labels)?;

    let (mut before, mut after) = (Evaluation::new(2, 10)?, Evaluation::new(2, 10)?);
    for (prediction, label) in judge_on {
        before.add(prediction, *label)?;
        after.add(&map.apply(prediction)?.distribution, *label)?;
    }
    println!(
        "expected calibration error: {:.3} before, {:.3} after",
        before.ece()?,
        after.ece()?
    );
    Ok(())
}
