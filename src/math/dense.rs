//! Products of small dense matrices with the same bits on every machine.
//!
//! Everything here is one operation, `C += A·B`, where each entry of `C` is accumulated **one term
//! at a time, in the order of the summed index**, with a rounding after each product and after each
//! sum:
//!
//! ```text
//! for each entry (r, c):   for k in 0..inner:   C[r,c] = C[r,c] + A[r,k]·B[k,c]
//! ```
//!
//! That order fixes the bits. Vector instructions run across the columns of `C`, and register blocks
//! across its rows, so neither the width of the vectors, nor the blocking, nor the number of rows
//! handed over at once, nor threads change an entry. Fused multiply-add would (it rounds once, and
//! not every machine has it), and is therefore not used: half the peak of the machine is the price.
//!
//! The three products of a layer `Y = X·W + b` with weights stored `[inputs][outputs]`:
//!
//! | product | `C` | `A` | `B` | summed over |
//! |---|---|---|---|---|
//! | [`forward`] | `Y`, started from `b` | `X` | `W` | inputs |
//! | [`backward_input`] | `dX`, started from 0 | `dY` | `Wᵀ` | outputs |
//! | [`backward_weights`] | `dW`, as it is | `Xᵀ` | `dY` | rows of the batch |

use std::fmt;
use std::ops::{Add, Mul};

use pulp::{Arch, Simd, WithSimd};

/// The sizes of one dense layer applied to a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Rows of the batch.
    pub rows: usize,
    /// Inputs of the layer, the columns of `X`.
    pub inputs: usize,
    /// Outputs of the layer, the columns of `Y`.
    pub outputs: usize,
}

/// Why a product was refused: a slice does not have the length that the shape asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DenseError {
    /// Which argument.
    pub argument: &'static str,
    /// Its length.
    pub length: usize,
    /// The number of rows it should have.
    pub rows: usize,
    /// The number of columns it should have.
    pub columns: usize,
}

impl fmt::Display for DenseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            argument,
            length,
            rows,
            columns,
        } = self;
        write!(
            f,
            "{argument} has {length} entries; a {rows} × {columns} matrix was expected"
        )
    }
}

impl std::error::Error for DenseError {}

/// `C += A·B`; `A` is read through two strides, so that a transposed `A` needs no copy.
pub struct Product<'a, T> {
    /// `C`, row-major, `columns` wide; its length says how many rows there are.
    c: &'a mut [T],
    a: &'a [T],
    /// Distance in `A` between neighbours along a row of `C`, and along the summed index.
    a_strides: (usize, usize),
    /// `B`, row-major, `inner` × `columns`.
    b: &'a [T],
    inner: usize,
    columns: usize,
}

/// A number that matrices can be made of: `f32` with vector instructions, `f64` plainly.
///
/// Networks are generic over it, so that gradients can be checked in double precision on the very
/// code that trains in single precision.
pub trait Element: Copy + Default + Add<Output = Self> + Mul<Output = Self> {
    /// `C += A·B` in the order fixed by the module.
    fn accumulate(product: Product<'_, Self>);
}

impl Element for f64 {
    fn accumulate(product: Product<'_, Self>) {
        accumulate_reference(product);
    }
}

impl Element for f32 {
    fn accumulate(product: Product<'_, Self>) {
        Arch::new().dispatch(product);
    }
}

/// `Y = X·W + b`. `x` is rows × inputs, `w` inputs × outputs, `b` outputs, `y` rows × outputs.
///
/// # Errors
/// [`DenseError`] when a length does not fit the shape; `y` is then untouched.
pub fn forward<T: Element>(
    shape: Shape,
    x: &[T],
    w: &[T],
    b: &[T],
    y: &mut [T],
) -> Result<(), DenseError> {
    let Shape {
        rows,
        inputs,
        outputs,
    } = shape;
    expect("x", x.len(), rows, inputs)?;
    expect("w", w.len(), inputs, outputs)?;
    expect("b", b.len(), 1, outputs)?;
    expect("y", y.len(), rows, outputs)?;
    if outputs == 0 {
        return Ok(());
    }
    for row in y.chunks_exact_mut(outputs) {
        row.copy_from_slice(b);
    }
    T::accumulate(Product {
        c: y,
        a: x,
        a_strides: (inputs, 1),
        b: w,
        inner: inputs,
        columns: outputs,
    });
    Ok(())
}

/// `dX = dY·Wᵀ`: the gradient with respect to the inputs of a layer.
///
/// `w_transposed` receives `Wᵀ` (outputs × inputs): the caller lends the room, so that a training
/// step allocates nothing.
///
/// # Errors
/// [`DenseError`] when a length does not fit the shape; nothing is then written.
pub fn backward_input<T: Element>(
    shape: Shape,
    dy: &[T],
    w: &[T],
    w_transposed: &mut [T],
    dx: &mut [T],
) -> Result<(), DenseError> {
    let Shape {
        rows,
        inputs,
        outputs,
    } = shape;
    expect("dy", dy.len(), rows, outputs)?;
    expect("w", w.len(), inputs, outputs)?;
    expect("w_transposed", w_transposed.len(), outputs, inputs)?;
    expect("dx", dx.len(), rows, inputs)?;
    transpose(w, outputs, w_transposed, inputs);
    dx.fill(T::default());
    T::accumulate(Product {
        c: dx,
        a: dy,
        a_strides: (outputs, 1),
        b: w_transposed,
        inner: outputs,
        columns: inputs,
    });
    Ok(())
}

/// `dW += Xᵀ·dY` and `db += Σ_rows dY`: the gradients with respect to weights and bias, added to
/// what is there in the order of the rows.
///
/// # Errors
/// [`DenseError`] when a length does not fit the shape; nothing is then written.
pub fn backward_weights<T: Element>(
    shape: Shape,
    x: &[T],
    dy: &[T],
    dw: &mut [T],
    db: &mut [T],
) -> Result<(), DenseError> {
    let Shape {
        rows,
        inputs,
        outputs,
    } = shape;
    expect("x", x.len(), rows, inputs)?;
    expect("dy", dy.len(), rows, outputs)?;
    expect("dw", dw.len(), inputs, outputs)?;
    expect("db", db.len(), 1, outputs)?;
    if outputs == 0 {
        return Ok(());
    }
    for row in dy.chunks_exact(outputs) {
        for (sum, &d) in db.iter_mut().zip(row) {
            *sum = *sum + d;
        }
    }
    T::accumulate(Product {
        c: dw,
        a: x,
        a_strides: (1, inputs),
        b: dy,
        inner: rows,
        columns: outputs,
    });
    Ok(())
}

/// `to[c][r] = from[r][c]` for a row-major `from` that is `columns` wide and a `to` `rows` wide.
///
/// Moves tiles of 16 × 16 entries, one cache line of `f32` each way. Domain: both slices have
/// `rows · columns` entries; nothing is written otherwise.
pub fn transpose<T: Element>(from: &[T], columns: usize, to: &mut [T], rows: usize) {
    const TILE: usize = 16;
    let size = rows.checked_mul(columns);
    if size != Some(from.len()) || size != Some(to.len()) || from.is_empty() {
        return;
    }
    let mut tile = [[T::default(); TILE]; TILE];
    for (band, from) in from.chunks(TILE * columns).enumerate() {
        let height = from.len() / columns;
        for first in (0..columns).step_by(TILE) {
            let width = TILE.min(columns - first);
            for (r, line) in from.chunks_exact(columns).enumerate() {
                for (lines, &entry) in tile.iter_mut().zip(&line[first..first + width]) {
                    lines[r] = entry;
                }
            }
            let lines = to[first * rows..].chunks_exact_mut(rows);
            for (line, entries) in lines.zip(&tile[..width]) {
                line[band * TILE..][..height].copy_from_slice(&entries[..height]);
            }
        }
    }
}

/// The definition of the module's operation, word for word; the oracle of the fast kernel.
fn accumulate_reference<T: Element>(product: Product<'_, T>) {
    let Product {
        c,
        a,
        a_strides: (across, along),
        b,
        inner,
        columns,
    } = product;
    if columns == 0 {
        return;
    }
    for (r, row) in c.chunks_exact_mut(columns).enumerate() {
        for k in 0..inner {
            let x = a[r * across + k * along];
            for (entry, &w) in row.iter_mut().zip(&b[k * columns..(k + 1) * columns]) {
                *entry = *entry + x * w;
            }
        }
    }
}

fn expect(
    argument: &'static str,
    length: usize,
    rows: usize,
    columns: usize,
) -> Result<(), DenseError> {
    if rows.checked_mul(columns) == Some(length) {
        Ok(())
    } else {
        Err(DenseError {
            argument,
            length,
            rows,
            columns,
        })
    }
}

/// How many terms of a sum are taken at a time: of so many rows of `B` the last columns, where they
/// do not fill a vector, are copied to the stack, at most 256 × 64 bytes = 16 KiB. Sums continue
/// from one part to the next through `C`.
const DEPTH: usize = 256;

impl WithSimd for Product<'_, f32> {
    type Output = ();

    /// Blocks of eight rows × 2 vectors where there are 32 vector registers (16 sums, 2 vectors of
    /// `B`, one product), of 4 × 2 where there are 16; leftover rows in blocks that keep at least
    /// four independent sums, which hides the latency of an addition.
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        if self.columns == 0 {
            return;
        }
        let rows = self.c.len() / self.columns;
        let mut tail = [simd.splat_f32s(0.0); DEPTH];
        for first in (0..self.inner).step_by(DEPTH) {
            let depth = DEPTH.min(self.inner - first);
            let b = &self.b[first * self.columns..(first + depth) * self.columns];
            let rest = self.columns % S::F32_LANES;
            let tail = &mut tail[..if rest == 0 { 0 } else { depth }];
            for (vector, line) in tail.iter_mut().zip(b.chunks_exact(self.columns)) {
                *vector = simd.partial_load_f32s(&line[self.columns - rest..]);
            }
            let mut done = 0;
            while done < rows {
                let (across, along) = self.a_strides;
                let mut block = Block {
                    simd,
                    c: &mut self.c[done * self.columns..],
                    a: &self.a[done * across + first * along..],
                    a_strides: self.a_strides,
                    b,
                    columns: self.columns,
                    tail,
                };
                done += match rows - done {
                    8.. if S::REGISTER_COUNT >= 32 => block.run::<8, 2>(),
                    4.. => block.run::<4, 2>(),
                    2.. => block.run::<2, 4>(),
                    _ => block.run::<1, 4>(),
                };
            }
        }
    }
}

/// A few rows of `C += A·B`, over at most [`DEPTH`] terms.
struct Block<'a, S: Simd> {
    simd: S,
    c: &'a mut [f32],
    a: &'a [f32],
    a_strides: (usize, usize),
    b: &'a [f32],
    columns: usize,
    /// The last columns of `b` where they do not fill a vector, filled up with zeros.
    tail: &'a [S::f32s],
}

impl<S: Simd> Block<'_, S> {
    /// Does the first `R` rows, `V` vectors of columns at a time, and returns `R`.
    #[inline(always)]
    fn run<const R: usize, const V: usize>(&mut self) -> usize {
        let mut column = 0;
        while self.columns - column >= V * S::F32_LANES {
            column += self.strip::<R, V>(column);
        }
        while self.columns - column >= S::F32_LANES {
            column += self.strip::<R, 1>(column);
        }
        if column < self.columns {
            self.tail_strip::<R>(column);
        }
        R
    }

    /// The first `R` rows of `A` where each stands side by side, cut to the depth of this block so
    /// that reading a term needs no check of bounds; of no use, and empty, where `A` is transposed.
    #[inline(always)]
    fn rows_of_a<const R: usize>(&self) -> [&[f32]; R] {
        let mut rows: [&[f32]; R] = [&[]; R];
        if self.a_strides.1 == 1 {
            let depth = self.b.len() / self.columns;
            for (r, row) in rows.iter_mut().enumerate() {
                *row = &self.a[r * self.a_strides.0..][..depth];
            }
        }
        rows
    }

    /// The terms of step `k`, read where they stand: copying them first costs a third of the
    /// whole product. Loops and not closures, which would not be compiled for the vector
    /// instructions of their caller.
    #[inline(always)]
    fn terms<const R: usize>(&self, rows: &[&[f32]; R], k: usize) -> [f32; R] {
        let mut terms = [0.0; R];
        if self.a_strides.1 == 1 {
            for (term, row) in terms.iter_mut().zip(rows) {
                *term = row[k];
            }
        } else {
            // The other stride is one: a transposed A has the terms of a step side by side.
            terms.copy_from_slice(&self.a[k * self.a_strides.1..][..R]);
        }
        terms
    }

    /// The `V` vectors of columns that start at `column`; returns how many columns these are.
    #[inline(always)]
    fn strip<const R: usize, const V: usize>(&mut self, column: usize) -> usize {
        let width = V * S::F32_LANES;
        let mut sums = [[self.simd.splat_f32s(0.0); V]; R];
        for (r, sums) in sums.iter_mut().enumerate() {
            let (line, _) = S::as_simd_f32s(&self.c[r * self.columns + column..][..width]);
            sums.copy_from_slice(line);
        }
        let rows = self.rows_of_a::<R>();
        let lines = self.b.chunks_exact(self.columns);
        for (k, line) in (0..lines.len()).zip(lines) {
            let (line, _) = S::as_simd_f32s(&line[column..][..width]);
            add_terms(self.simd, &mut sums, &self.terms(&rows, k), line);
        }
        for (r, sums) in sums.iter().enumerate() {
            let (line, _) = S::as_mut_simd_f32s(&mut self.c[r * self.columns + column..][..width]);
            line.copy_from_slice(sums);
        }
        width
    }

    /// The columns from `column` on, fewer than a vector.
    #[inline(always)]
    fn tail_strip<const R: usize>(&mut self, column: usize) {
        let mut sums = [[self.simd.splat_f32s(0.0)]; R];
        for (line, [sum]) in self.c.chunks_exact(self.columns).zip(&mut sums) {
            *sum = self.simd.partial_load_f32s(&line[column..]);
        }
        let rows = self.rows_of_a::<R>();
        for (k, line) in self.tail.iter().enumerate() {
            let line = std::slice::from_ref(line);
            add_terms(self.simd, &mut sums, &self.terms(&rows, k), line);
        }
        for (line, &[sum]) in self.c.chunks_exact_mut(self.columns).zip(&sums) {
            self.simd.partial_store_f32s(&mut line[column..], sum);
        }
    }
}

/// One step of the summed index: `sums[r][v] += terms[r]·line[v]`, rounded twice.
#[inline(always)]
fn add_terms<S: Simd, const R: usize, const V: usize>(
    simd: S,
    sums: &mut [[S::f32s; V]; R],
    terms: &[f32; R],
    line: &[S::f32s],
) {
    for (sums, &term) in sums.iter_mut().zip(terms) {
        let term = simd.splat_f32s(term);
        for (sum, &w) in sums.iter_mut().zip(line) {
            *sum = simd.add_f32s(*sum, simd.mul_f32s(term, w));
        }
    }
}

#[cfg(test)]
mod tests {
    use pulp::Scalar128b;

    use super::*;

    /// Numbers with full mantissas, both signs and a spread of magnitudes: every sum rounds, so a
    /// changed order or a fused multiply-add shows in the bits.
    fn numbers(n: usize, salt: u32) -> Vec<f32> {
        let mut state = salt.wrapping_mul(2_654_435_769).wrapping_add(1);
        (0..n)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let scale = [1.0, 0.03, 31.0, 1e-4][(state >> 9) as usize % 4];
                ((state >> 8) as f32 / 8_388_608.0 - 1.0) * scale
            })
            .collect()
    }

    fn bits(x: &[f32]) -> Vec<u32> {
        x.iter().map(|v| v.to_bits()).collect()
    }

    /// Sizes around every edge of the blocking: rows 8, 4, 2, 1; columns around 8, 16, 32, 64;
    /// terms around [`DEPTH`].
    fn shapes() -> Vec<Shape> {
        let mut shapes = Vec::new();
        for rows in [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 23] {
            for inputs in [0, 1, 2, 5, 64] {
                for outputs in [0, 1, 3, 7, 8, 9, 15, 16, 17, 31, 33, 48, 65] {
                    shapes.push(Shape {
                        rows,
                        inputs,
                        outputs,
                    });
                }
            }
        }
        for inputs in [DEPTH - 1, DEPTH, DEPTH + 1, 2 * DEPTH + 3] {
            for (rows, outputs) in [(1, 3), (5, 33), (13, 40)] {
                shapes.push(Shape {
                    rows,
                    inputs,
                    outputs,
                });
            }
        }
        shapes
    }

    /// The three products of a layer by their definitions, index by index.
    type Layer = (Vec<f32>, Vec<f32>, Vec<f32>, Vec<f32>);

    fn by_definition(s: Shape, x: &[f32], w: &[f32], b: &[f32], dy: &[f32], dw: &[f32]) -> Layer {
        let mut y = vec![0.0; s.rows * s.outputs];
        let mut dx = vec![0.0; s.rows * s.inputs];
        let (mut dw, mut db) = (dw.to_vec(), b.to_vec());
        for r in 0..s.rows {
            for o in 0..s.outputs {
                let mut sum = b[o];
                for i in 0..s.inputs {
                    sum += x[r * s.inputs + i] * w[i * s.outputs + o];
                }
                y[r * s.outputs + o] = sum;
            }
        }
        for r in 0..s.rows {
            for i in 0..s.inputs {
                let mut sum = 0.0;
                for o in 0..s.outputs {
                    sum += dy[r * s.outputs + o] * w[i * s.outputs + o];
                }
                dx[r * s.inputs + i] = sum;
            }
        }
        for i in 0..s.inputs {
            for o in 0..s.outputs {
                for r in 0..s.rows {
                    dw[i * s.outputs + o] += x[r * s.inputs + i] * dy[r * s.outputs + o];
                }
            }
        }
        for o in 0..s.outputs {
            for r in 0..s.rows {
                db[o] += dy[r * s.outputs + o];
            }
        }
        (y, dx, dw, db)
    }

    #[test]
    fn all_products_equal_their_definition_to_the_bit() {
        let shapes = shapes();
        assert_eq!(shapes.len(), 12 * 5 * 13 + 4 * 3);
        for s in shapes {
            let x = numbers(s.rows * s.inputs, 1);
            let w = numbers(s.inputs * s.outputs, 2);
            let b = numbers(s.outputs, 3);
            let dy = numbers(s.rows * s.outputs, 4);
            let dw0 = numbers(s.inputs * s.outputs, 5);
            let (y, dx, dw, db) = by_definition(s, &x, &w, &b, &dy, &dw0);

            let mut fast = vec![f32::NAN; y.len()];
            forward(s, &x, &w, &b, &mut fast).unwrap();
            assert_eq!(bits(&fast), bits(&y), "forward {s:?}");

            let mut fast = vec![f32::NAN; dx.len()];
            let mut room = vec![f32::NAN; w.len()];
            backward_input(s, &dy, &w, &mut room, &mut fast).unwrap();
            assert_eq!(bits(&fast), bits(&dx), "backward_input {s:?}");

            let (mut fast, mut fast_bias) = (dw0.clone(), b.clone());
            backward_weights(s, &x, &dy, &mut fast, &mut fast_bias).unwrap();
            assert_eq!(bits(&fast), bits(&dw), "backward_weights {s:?}");
            assert_eq!(bits(&fast_bias), bits(&db), "bias {s:?}");
        }
    }

    /// The path of a machine without wide vectors gives the bits of the machine at hand.
    #[test]
    fn every_vector_width_gives_the_same_bits() {
        let s = Shape {
            rows: 13,
            inputs: 300,
            outputs: 53,
        };
        let (x, w) = (
            numbers(s.rows * s.inputs, 6),
            numbers(s.inputs * s.outputs, 7),
        );
        let run = |which: usize| {
            let mut c = vec![0.25; s.rows * s.outputs];
            let product = Product {
                c: &mut c,
                a: &x,
                a_strides: (s.inputs, 1),
                b: &w,
                inner: s.inputs,
                columns: s.outputs,
            };
            match which {
                0 => accumulate_reference(product),
                1 => pulp::Scalar::new().vectorize(product),
                2 => Scalar128b.vectorize(product),
                3 => Arch::new().dispatch(product),
                #[cfg(target_arch = "x86_64")]
                4 => pulp::x86::V3::try_new()
                    .map(|v| Simd::vectorize(v, product))
                    .unwrap_or(()),
                _ => unreachable!(),
            }
            bits(&c)
        };
        let expected = run(0);
        for which in 1..=3 {
            assert_eq!(run(which), expected, "variant {which}");
        }
        #[cfg(target_arch = "x86_64")]
        if pulp::x86::V3::try_new().is_some() {
            assert_eq!(run(4), expected, "AVX2");
        }
    }

    /// Negative control: with one rounding per term, as a fused multiply-add does, bits differ, so
    /// the comparisons above would see it.
    #[test]
    fn fused_multiply_add_would_be_seen() {
        let (x, w) = (numbers(64 * 40, 8), numbers(64 * 40, 9));
        let sums = |step: fn(f32, (&f32, &f32)) -> f32, reverse: bool| -> Vec<u32> {
            let dots = x.chunks(64).zip(w.chunks(64)).map(|(x, w)| {
                let terms = x.iter().zip(w);
                if reverse {
                    terms.rev().fold(0.0, step)
                } else {
                    terms.fold(0.0, step)
                }
            });
            dots.map(f32::to_bits).collect()
        };
        let plain = sums(|s, (a, b)| s + a * b, false);
        assert_ne!(plain, sums(|s, (a, b)| a.mul_add(*b, s), false));
        assert_ne!(plain, sums(|s, (a, b)| s + a * b, true));
    }

    #[test]
    fn wrong_lengths_are_refused_by_name() {
        let s = Shape {
            rows: 2,
            inputs: 3,
            outputs: 1,
        };
        let mut y = [0.0f32; 2];
        let error = forward(s, &[0.0; 5], &[0.0; 3], &[0.0], &mut y).unwrap_err();
        assert_eq!(
            error.to_string(),
            "x has 5 entries; a 2 × 3 matrix was expected"
        );
        let huge = Shape {
            rows: usize::MAX,
            inputs: 2,
            outputs: 2,
        };
        assert!(forward(huge, &[0.0; 5], &[0.0; 4], &[0.0; 2], &mut y).is_err());
    }
}
