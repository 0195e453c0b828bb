//! Standard normal draws by the ziggurat method.
//!
//! The area under `f(x) = exp(−x²/2)`, `x ≥ 0`, is covered by `LAYERS` regions of equal area `v`:
//! rectangles of width `x₁ > x₂ > … > x₂₅₅` stacked upwards, and at the bottom a rectangle of
//! width `x₁ = r` together with the tail beyond `r`. A layer is picked, then a point in it; points
//! outside the curve are drawn again. That is exact, whatever the table; equal areas only make
//! every layer equally likely.
//!
//! | point `x` in layer `i` | decided by | how often |
//! |---|---|---|
//! | `x < x_{i+1}` | inside the layer above, hence under the curve | 98.8 % |
//! | `i = 0`, `x ≥ r` | a draw from the tail (Marsaglia 1964) | 0.03 % |
//! | else | comparing a height with `f(x)` | 1.2 % |

use std::sync::LazyLock;

use super::{Stream, join};
use crate::math::{exp, ln};

/// A power of two, so that a layer is picked by bits.
const LAYERS: usize = 256;

struct Table {
    /// `x₀ = v/f(r)`, the width of a rectangle with the area of the bottom layer; `x₁ = r`; down
    /// to `x₂₅₆ = 0`.
    x: [f64; LAYERS + 1],
    /// `f(x_i)`.
    f: [f64; LAYERS + 1],
}

static TABLE: LazyLock<Table> = LazyLock::new(Table::new);

/// The unnormalized density.
fn density(x: f64) -> f64 {
    exp(-0.5 * x * x)
}

/// The area of the bottom layer: `r·f(r) + ∫_r^∞ f`.
fn bottom_area(r: f64) -> f64 {
    let tail =
        libm::sqrt(std::f64::consts::FRAC_PI_2) * libm::erfc(r * std::f64::consts::FRAC_1_SQRT_2);
    r * density(r) + tail
}

impl Table {
    /// Stacks layers of equal area from `r` upwards. Returns the table and the height of its top,
    /// which is one for the right `r`; above one, the stack ends early.
    fn stack(r: f64) -> (Table, f64) {
        let area = bottom_area(r);
        let (mut x, mut f) = ([0.0; LAYERS + 1], [1.0; LAYERS + 1]);
        (x[0], f[0]) = (area / density(r), density(r));
        (x[1], f[1]) = (r, density(r));
        for i in 1..LAYERS {
            let height = f[i] + area / x[i];
            if i + 1 == LAYERS || height >= 1.0 {
                let early = i + 1 < LAYERS;
                return (Table { x, f }, if early { f64::INFINITY } else { height });
            }
            (x[i + 1], f[i + 1]) = (libm::sqrt(-2.0 * ln(height)), height);
        }
        (Table { x, f }, f64::INFINITY)
    }

    /// Bisects for `r`: a larger `r` makes the layers thinner and the stack lower.
    fn new() -> Self {
        let (mut low, mut high) = (1.0, 10.0);
        loop {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                return Self::stack(high).0;
            }
            if Self::stack(middle).1 > 1.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
    }
}

/// Fills `out` with draws; the public face is [`Stream::fill_standard_normal`].
///
/// Whole batches of the generator are turned into draws at a time; the few points that need more
/// than a comparison leave that loop.
pub(super) fn fill(stream: &mut Stream, out: &mut [f64]) {
    let table = &*TABLE;
    let mut done = 0;
    while done < out.len() {
        let rest = &mut out[done..];
        let mut taken = 0;
        let mut unfinished = None;
        for (value, words) in rest.iter_mut().zip(stream.batch()) {
            let point = Point::new(table, join(words));
            taken += 1;
            if !point.inside {
                unfinished = Some(point);
                break;
            }
            *value = point.signed(point.x);
        }
        stream.skip(taken);
        done += taken;
        if let Some(point) = unfinished {
            match outside(table, stream, point.layer, point.x) {
                Some(x) => rest[taken - 1] = point.signed(x),
                None => done -= 1,
            }
        }
    }
}

/// A point in a layer. Bits 0 to 7 pick the layer, bit 8 the sign, bits 11 to 63 the point: all
/// disjoint.
struct Point {
    layer: usize,
    sign: u64,
    x: f64,
    /// Whether it lies under the layer above.
    inside: bool,
}

impl Point {
    #[inline]
    fn new(table: &Table, bits: u64) -> Self {
        let layer = bits as usize % LAYERS;
        // 53 bits fit a signed number, from which processors convert directly.
        let x = (bits >> 11) as i64 as f64 * super::UNIFORM_STEP * table.x[layer];
        Point {
            layer,
            sign: (bits & 0x100) << 55,
            x,
            inside: x < table.x[layer + 1],
        }
    }

    #[inline]
    fn signed(&self, x: f64) -> f64 {
        f64::from_bits(x.to_bits() | self.sign)
    }
}

/// What becomes of a point that is not under the layer above; `None`: draw again.
#[cold]
fn outside(table: &Table, stream: &mut Stream, layer: usize, x: f64) -> Option<f64> {
    if layer == 0 {
        return Some(tail(table.x[1], stream));
    }
    let height = table.f[layer] + (table.f[layer + 1] - table.f[layer]) * stream.uniform();
    (height < density(x)).then_some(x)
}

/// A draw from the normal distribution beyond `r`: exponential steps, accepted with probability
/// `exp(−step²/2)`.
fn tail(r: f64, stream: &mut Stream) -> f64 {
    loop {
        // 1 − u lies in (0, 1], where the logarithm is finite.
        let step = -ln(1.0 - stream.uniform()) / r;
        let height = -ln(1.0 - stream.uniform());
        if 2.0 * height > step * step {
            return r + step;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{Binomial, ChiSquared, ContinuousCDF, DiscreteCDF};

    /// As in the module above.
    const FALSE_ALARM: f64 = 1e-9;
    const DRAWS: usize = 2_000_000;

    /// `P(|X| > x)`.
    fn two_tails(x: f64) -> f64 {
        libm::erfc(x * std::f64::consts::FRAC_1_SQRT_2)
    }

    fn draws(evidence: u64) -> Vec<f64> {
        many_draws(evidence, DRAWS)
    }

    fn many_draws(evidence: u64, n: usize) -> Vec<f64> {
        let mut out = vec![0.0; n];
        Stream::new(11, 0, 0, evidence).fill_standard_normal(&mut out);
        out
    }

    #[test]
    fn table_closes_and_all_layers_have_the_same_area() {
        let table = &*TABLE;
        // Marsaglia and Tsang (2000) print r = 3.6541528853610088 (here rounded to a double) for 256 layers.
        assert!((table.x[1] - 3.654_152_885_361_009).abs() < 1e-14);
        let area = bottom_area(table.x[1]);
        for i in 1..LAYERS {
            assert!(table.x[i] > table.x[i + 1]);
            let layer = table.x[i] * (table.f[i + 1] - table.f[i]);
            // The topmost layer takes up what bisection to the last bit leaves: some 250 heights
            // rounded to 2⁻⁵³ each, of which a layer has at least 1/300.
            assert!(
                (layer / area - 1.0).abs() < 250.0 * 300.0 * 2f64.powi(-53),
                "{i}"
            );
        }
        assert_eq!((table.x[LAYERS], table.f[LAYERS]), (0.0, 1.0));
    }

    #[test]
    fn mean_and_variance_follow_their_exact_distributions() {
        let x = draws(0);
        // √n·mean is standard normal, Σ x² is chi-squared with n degrees.
        let score = x.iter().sum::<f64>() / (DRAWS as f64).sqrt();
        assert!(two_tails(score.abs()) > FALSE_ALARM);
        let squares: f64 = x.iter().map(|x| x * x).sum();
        let degrees = ChiSquared::new(DRAWS as f64).unwrap();
        let tail = |s: f64| degrees.cdf(s).min(degrees.sf(s));
        assert!(tail(squares) > FALSE_ALARM / 2.0);
        // Negative control: a standard deviation that is 0.5 % too large.
        assert!(tail(squares * 1.005 * 1.005) < FALSE_ALARM / 2.0);
    }

    /// Pearson's statistic over the cells between the edges of the layers and its tail
    /// probability; the smallest cell expects over 100 draws, so the chi-squared limit is good.
    fn tail_of_pearson(draws: &[f64]) -> f64 {
        let edges: Vec<f64> = TABLE.x[1..].iter().rev().copied().collect();
        let mut counts = vec![[0u32; 2]; edges.len()];
        for x in draws {
            let cell = edges.partition_point(|e| *e <= x.abs()) - 1;
            counts[cell][usize::from(x.is_sign_negative())] += 1;
        }
        let upper = |cell: usize| edges.get(cell + 1).map_or(0.0, |&e| two_tails(e));
        let statistic: f64 = (0..edges.len())
            .map(|cell| {
                let p = (two_tails(edges[cell]) - upper(cell)) / 2.0;
                let expected = draws.len() as f64 * p;
                assert!(expected > 100.0);
                let off = |c: u32| (f64::from(c) - expected).powi(2) / expected;
                off(counts[cell][0]) + off(counts[cell][1])
            })
            .sum();
        ChiSquared::new(2.0 * edges.len() as f64 - 1.0)
            .unwrap()
            .sf(statistic)
    }

    #[test]
    fn frequencies_between_layer_edges_are_normal() {
        // As many as the control below needs to be seen.
        let n = 4 * DRAWS;
        assert!(tail_of_pearson(&many_draws(1, n)) > FALSE_ALARM);
        // Negative control: the same without the comparison of heights, which accepts every point
        // of a rectangle.
        let mut s = Stream::new(11, 0, 0, 1);
        let without: Vec<f64> = (0..n)
            .map(|_| {
                let bits = s.next_u64();
                let layer = bits as usize % LAYERS;
                let x = (bits >> 11) as f64 * 2f64.powi(-53) * TABLE.x[layer];
                let far = layer == 0 && x >= TABLE.x[1];
                let x = if far { tail(TABLE.x[1], &mut s) } else { x };
                if bits & 0x100 == 0 { x } else { -x }
            })
            .collect();
        assert!(tail_of_pearson(&without) < FALSE_ALARM);
    }

    #[test]
    fn kolmogorov_smirnov_against_the_normal_distribution() {
        let mut x = draws(2);
        x.sort_by(f64::total_cmp);
        let n = DRAWS as f64;
        let distance = |scale: f64| {
            let gaps = x.iter().enumerate().map(|(i, &x)| {
                let p = 0.5 * two_tails(-x * scale);
                (p - i as f64 / n).abs().max((p - (i + 1) as f64 / n).abs())
            });
            gaps.fold(0.0, f64::max)
        };
        // P(D > t) ≤ 2 exp(−2 n t²) (Massart).
        let limit = ((2.0 / FALSE_ALARM).ln() / (2.0 * n)).sqrt();
        assert!(distance(1.0) <= limit);
        assert!(distance(1.02) > limit, "control: 2 % too narrow");
    }

    /// The smaller of the two exact tails of a binomial count.
    fn tail_of_count(values: &[f64], edge: f64, p: f64) -> f64 {
        let count = values.iter().filter(|x| x.abs() > edge).count() as u64;
        let binomial = Binomial::new(p, values.len() as u64).unwrap();
        let above = if count == 0 {
            1.0
        } else {
            binomial.sf(count - 1)
        };
        binomial.cdf(count).min(above)
    }

    #[test]
    fn counts_beyond_the_ziggurat_are_binomial() {
        let x = draws(3);
        let r = TABLE.x[1];
        for edge in [r, r + 0.2, r + 0.5, r + 1.0] {
            assert!(tail_of_count(&x, edge, two_tails(edge)) > FALSE_ALARM / 2.0);
        }
        // Negative control: half as many draws beyond r as there should be.
        assert!(tail_of_count(&x, r, two_tails(r) * 2.0) < FALSE_ALARM / 2.0);
    }

    #[test]
    fn tail_draws_are_normal_given_that_they_are_in_the_tail() {
        let r = TABLE.x[1];
        let mut s = Stream::new(11, 0, 0, 4);
        let x: Vec<f64> = (0..100_000).map(|_| tail(r, &mut s)).collect();
        let steps = (0..100_000).map(|_| -ln(1.0 - s.uniform()) / r);
        // Negative control: without its rejection step the tail is exponential, too heavy.
        let exponential: Vec<f64> = steps.map(|step| r + step).collect();
        for edge in [r + 0.1, r + 0.5, r + 1.0] {
            let p = two_tails(edge) / two_tails(r);
            assert!(tail_of_count(&x, edge, p) > FALSE_ALARM / 2.0);
            assert!(tail_of_count(&exponential, edge, p) < FALSE_ALARM / 2.0);
        }
    }

    #[test]
    fn pieces_give_the_draws_of_the_whole() {
        let mut whole = [0.0; 100];
        Stream::new(1, 1, 1, 1).fill_standard_normal(&mut whole);
        let mut pieces = Stream::new(1, 1, 1, 1);
        for want in whole {
            assert_eq!(pieces.standard_normal().to_bits(), want.to_bits());
        }
    }
}
