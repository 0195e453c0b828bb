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

use pulp::{Arch, Simd, WithSimd};

use super::Stream;
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

/// The layers as draws begin: bits 0 to 7 of a number pick the layer, bit 8 is the sign, and bits 11 to 63 are
/// one of 2⁵³ steps across the layer: all disjoint.
struct Start {
    /// All 64 bits of a number whose point lies under the layer above are below this.
    inside: u64,
    /// The width of a step.
    step: f64,
}

/// The part of a layer that the layer above does not cover, for points in it.
struct Edge {
    /// Heights of the layer.
    low: f64,
    high: f64,
    /// Where the curve's chord is as high as the layer, and how it rises.
    begin: f64,
    slope: f64,
    /// How far the chord and the curve, both as computed, can be apart.
    slack: f64,
}

struct Layers {
    starts: [Start; LAYERS],
    edges: [Edge; LAYERS],
}

/// What rounding can add to the distance of the chord and the curve: some ten roundings of numbers up to one,
/// and in the exponent, below 7, another.
const ROUNDING: f64 = 32.0 * f64::EPSILON;

static START: LazyLock<Layers> = LazyLock::new(|| Layers {
    starts: std::array::from_fn(|i| {
        // Scaling by a power of two is exact: multiples of this are the products of the definition.
        let step = TABLE.x[i] * super::UNIFORM_STEP;
        // Multiplication rounds monotonically, so bisection finds where points stop being inside.
        let (mut inside, mut outside) = (0u64, 1u64 << 53);
        while inside < outside {
            let middle = (inside + outside) / 2;
            if middle as f64 * step < TABLE.x[i + 1] {
                inside = middle + 1;
            } else {
                outside = middle;
            }
        }
        // Not all of a layer is inside, so this does not overflow.
        let inside = inside << 11;
        Start { inside, step }
    }),
    edges: std::array::from_fn(|i| {
        let (far, near) = (TABLE.x[i], TABLE.x[i + 1]);
        let (low, high) = (TABLE.f[i], TABLE.f[i + 1]);
        let width = far - near;
        // |f″| = |x² − 1|·f, whose factors are largest at an end; a chord is within |f″|·width²/8.
        let bend = (far * far - 1.0).abs().max((near * near - 1.0).abs()) * high;
        Edge {
            low,
            high,
            begin: near,
            slope: (low - high) / width,
            slack: bend * width * width / 8.0 + ROUNDING,
        }
    }),
});

/// How many points are worked out at a time.
const POINTS: usize = 128;

/// Points by their distance in steps, with their sign.
struct Points<'a> {
    numbers: &'a [u64],
    points: &'a mut [f64; POINTS],
}

impl WithSimd for Points<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (point, &bits) in self.points.iter_mut().zip(self.numbers) {
            // 53 bits fit a signed number, from which processors convert directly.
            *point = signed((bits >> 11) as i64 as f64, bits);
        }
    }
}

/// Fills `out` with draws; the public face is [`Stream::fill_standard_normal`].
///
/// Many numbers of the generator are turned into draws at a time.
pub(super) fn fill(stream: &mut Stream, out: &mut [f64]) {
    let layers = &*START;
    let mut points = [0.0; POINTS];
    let mut done = 0;
    while done < out.len() {
        let numbers = stream.batch();
        let numbers = &numbers[..(out.len() - done).min(POINTS).min(numbers.len())];
        Arch::new().dispatch(Points {
            numbers,
            points: &mut points,
        });
        let mut taken = 0;
        let mut unfinished = None;
        while let (Some(&bits), Some(point)) = (numbers.get(taken), points.get(taken)) {
            taken += 1;
            let layer = bits as usize % LAYERS;
            let start = &layers.starts[layer];
            let x = point * start.step;
            out[done] = x;
            if bits < start.inside {
                done += 1;
            } else if let (1.., Some(&next)) = (layer, numbers.get(taken)) {
                taken += 1;
                done += usize::from(under_the_curve(layer, x.abs(), super::unit(next)));
            } else {
                unfinished = Some((bits, x.abs()));
                break;
            }
        }
        stream.skip(taken);
        if let Some((bits, x)) = unfinished
            && let Some(x) = outside(stream, bits as usize % LAYERS, x)
        {
            out[done] = signed(x, bits);
            done += 1;
        }
    }
}

/// `x`, which is not negative, with the sign that a number of the generator says.
#[inline(always)]
fn signed(x: f64, bits: u64) -> f64 {
    f64::from_bits(x.to_bits() | (bits & 0x100) << 55)
}

/// What becomes of a point that is not under the layer above; `None`: draw again.
#[cold]
fn outside(stream: &mut Stream, layer: usize, x: f64) -> Option<f64> {
    if layer == 0 {
        return Some(tail(TABLE.x[1], stream));
    }
    under_the_curve(layer, x, stream.uniform()).then_some(x)
}

/// Whether the curve at `x`, in a layer but not under the one above, is higher than the part `u` of the layer.
#[inline]
fn under_the_curve(layer: usize, x: f64, u: f64) -> bool {
    let edge = &START.edges[layer];
    let height = edge.low + (edge.high - edge.low) * u;
    let above = height - (edge.high + (x - edge.begin) * edge.slope);
    if above.abs() > edge.slack {
        above < 0.0
    } else {
        // Too near to the curve for its chord to tell.
        height < density(x)
    }
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

    /// The ziggurat word for word, with the curve itself in place of chords and every comparison in doubles.
    fn by_definition(stream: &mut Stream) -> f64 {
        loop {
            let bits = stream.next_u64();
            let layer = bits as usize % LAYERS;
            let x = (bits >> 11) as f64 * 2f64.powi(-53) * TABLE.x[layer];
            let sign = if bits & 0x100 == 0 { 1.0 } else { -1.0 };
            if x < TABLE.x[layer + 1] {
                return sign * x;
            }
            if layer == 0 {
                return sign * tail(TABLE.x[1], stream);
            }
            let (low, high) = (TABLE.f[layer], TABLE.f[layer + 1]);
            if low + (high - low) * stream.uniform() < density(x) {
                return sign * x;
            }
        }
    }

    #[test]
    fn draws_are_those_of_the_definition_to_the_bit() {
        for (stream, pieces) in [(5, DRAWS), (6, 1), (7, 63), (8, 129)] {
            let mut definition = Stream::new(11, 0, 0, stream);
            let mut ours = definition.clone();
            let mut out = vec![0.0; pieces];
            for _ in 0..(DRAWS / 4).div_ceil(pieces) {
                ours.fill_standard_normal(&mut out);
                for x in &out {
                    assert_eq!(x.to_bits(), by_definition(&mut definition).to_bits());
                }
            }
            assert_eq!(
                ours.next_u64(),
                definition.next_u64(),
                "as many numbers are taken"
            );
        }
    }

    #[test]
    fn chords_judge_as_the_curve_does_and_leave_it_what_is_near() {
        let mut s = Stream::new(11, 0, 0, 9);
        let mut near = 0;
        for layer in 1..LAYERS {
            let edge = &START.edges[layer];
            let (far, begin) = (TABLE.x[layer], TABLE.x[layer + 1]);
            for step in 0..=2000 {
                let x = begin + (far - begin) * f64::from(step) / 2000.0;
                let chord = edge.high + (x - edge.begin) * edge.slope;
                assert!((density(x) - chord).abs() <= edge.slack, "{layer} {x}");
                // Heights on both sides of the curve, at its very last places too.
                let there = (density(x) - edge.low) / (edge.high - edge.low);
                for u in [s.uniform(), there, there.next_up(), there.next_down()] {
                    let height = edge.low + (edge.high - edge.low) * u;
                    assert_eq!(under_the_curve(layer, x, u), height < density(x));
                }
                let height = edge.low + (edge.high - edge.low) * s.uniform();
                near += usize::from((height - chord).abs() <= edge.slack);
            }
        }
        // Few points need the curve; a slack that takes in everything would only be slow.
        assert!(near < 255 * 2001 / 50, "{near}");
        // Negative control: chords as if the curve were one, without any slack.
        let bent = (1..LAYERS).filter(|&layer| {
            let edge = &START.edges[layer];
            let x = (TABLE.x[layer] + TABLE.x[layer + 1]) / 2.0;
            let chord = edge.high + (x - edge.begin) * edge.slope;
            (density(x) - chord).abs() > ROUNDING
        });
        assert!(bent.count() > 250);
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
