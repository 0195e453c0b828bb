//! From values to positions, and which values to mark.

use crate::exhibit::{Axis, Scale};

/// A mapping of one axis's values to `[0, 1]`.
#[derive(Clone, Debug)]
pub(super) struct Mapping {
    scale: Scale,
    low: f64,
    high: f64,
    /// The values to mark.
    pub(super) ticks: Vec<f64>,
}

impl Mapping {
    /// Covers all `values` (those an axis of this kind can show), with some room, and its marks.
    pub(super) fn covering(axis: &Axis, values: impl Iterator<Item = f64>) -> Self {
        let shown = |v: &f64| v.is_finite() && (axis.scale == Scale::Linear || *v > 0.0);
        let (mut low, mut high) = values
            .chain(axis.ticks.iter().copied())
            .filter(shown)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| {
                (l.min(v), h.max(v))
            });
        if low > high {
            // Nothing to show: an empty unit axis.
            (low, high) = match axis.scale {
                Scale::Linear => (0.0, 1.0),
                Scale::Log => (1.0, 10.0),
            };
        }
        match axis.scale {
            Scale::Linear => {
                let room = if !axis.names.is_empty() {
                    // Half a place on both sides: names are centred on their marks.
                    0.5
                } else if high > low {
                    (high - low) * 0.05
                } else {
                    0.5
                };
                // An axis that starts at zero stays there.
                low = if low == 0.0 { 0.0 } else { low - room };
                high += room;
            }
            Scale::Log => {
                let room = if high > low {
                    libm::pow(high / low, 0.05)
                } else {
                    2.0
                };
                (low, high) = (low / room, high * room);
            }
        }
        let ticks = if axis.ticks.is_empty() {
            match axis.scale {
                Scale::Linear => linear_ticks(low, high),
                Scale::Log => log_ticks(low, high),
            }
        } else {
            axis.ticks.clone()
        };
        Mapping {
            scale: axis.scale,
            low,
            high,
            ticks,
        }
    }

    /// The position of `value`; outside `[0, 1]` where it lies outside the axis.
    pub(super) fn at(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log => libm::log10(value / self.low) / libm::log10(self.high / self.low),
        }
    }

    /// Where columns and areas stand: zero, or the lower end where zero is not on the axis.
    pub(super) fn ground(&self) -> f64 {
        match self.scale {
            Scale::Linear => self.at(if self.low <= 0.0 && 0.0 <= self.high {
                0.0
            } else {
                self.low
            }),
            Scale::Log => 0.0,
        }
    }
}

/// About six round values (1, 2 or 5 times a power of ten apart).
fn linear_ticks(low: f64, high: f64) -> Vec<f64> {
    let raw = (high - low) / 6.0;
    let power = libm::pow(10.0, libm::floor(libm::log10(raw)));
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|m| m * power)
        .find(|&s| s >= raw)
        .unwrap_or(10.0 * power);
    let first = libm::ceil(low / step);
    (0..12)
        .map(|i| (first + f64::from(i)) * step)
        .take_while(|&t| t <= high)
        .collect()
}

/// Powers of ten; with 2 and 5 between them where the axis spans less than three decades.
fn log_ticks(low: f64, high: f64) -> Vec<f64> {
    let multiples: &[f64] = if high / low < 1000.0 {
        &[1.0, 2.0, 5.0]
    } else {
        &[1.0]
    };
    let first = libm::floor(libm::log10(low)) as i32;
    let last = libm::ceil(libm::log10(high)) as i32;
    (first..=last)
        .flat_map(|e| {
            let power = libm::pow(10.0, f64::from(e));
            multiples.iter().map(move |m| m * power)
        })
        .filter(|&t| low <= t && t <= high)
        .collect()
}

/// A tick's label: short, without a trailing zero; scientific only beyond six digits.
pub(super) fn label(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e6).contains(&value.abs()) {
        return format!("{value:.0e}");
    }
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(linear_ticks(0.0, 1.05).len(), 6);
        assert_eq!(log_ticks(0.9, 1100.0), [1.0, 10.0, 100.0, 1000.0]);
        for (low, high) in [(0.0, 1e-9), (-3.0, 7.5), (1e6, 1e6 + 1.0)] {
            let ticks = linear_ticks(low, high);
            assert!(ticks.len() >= 3 && ticks.iter().all(|&t| low <= t && t <= high));
        }
    }

    #[test]
    fn values_without_spread_or_none_at_all_still_map() {
        for values in [vec![], vec![3.0], vec![f64::NAN, 0.0]] {
            for axis in [Axis::linear("x"), Axis::log("x")] {
                let mapping = Mapping::covering(&axis, values.iter().copied());
                assert!(mapping.at(3.0).is_finite());
            }
        }
    }

    #[test]
    fn labels_are_short() {
        assert_eq!(label(0.25), "0.25");
        assert_eq!(label(24.0), "24");
        assert_eq!(label(-0.5), "-0.5");
        assert_eq!(label(6e7), "6e7");
    }
}
