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
//! The products of a layer `Y = X·W + b` with weights stored `[inputs][outputs]`:
//!
//! | product | `C` | `A` | `B` | summed over |
//! |---|---|---|---|---|
//! | [`forward`] | `Y`, started from `b` | `X` | `W` | inputs |
//! | [`forward_columns`] | `Yᵀ`, started from `b` | `Wᵀ` | `Xᵀ` | inputs |
//! | [`backward_input`] | `dX`, started from 0 | `dY` | `Wᵀ` | outputs |
//! | [`backward_weights`] | `dW`, as it is | `Xᵀ` | `dY` | rows of the batch |

use std::ops::{Add, Mul};

use pulp::{Arch, Simd, WithSimd};

/// The sizes of one dense layer applied to a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayerShape {
    /// Rows of the batch.
    pub rows: usize,
    /// Inputs of the layer, the columns of `X`.
    pub inputs: usize,
    /// Outputs of the layer, the columns of `Y`.
    pub outputs: usize,
}

impl LayerShape {
    fn sizes(self) -> (usize, usize, usize) {
        (self.rows, self.inputs, self.outputs)
    }
}

/// Why a product was refused: a slice does not have the length that the shape asks for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{argument} has {length} entries; a {rows} × {columns} matrix was expected")]
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
    shape: LayerShape,
    x: &[T],
    w: &[T],
    b: &[T],
    y: &mut [T],
) -> Result<(), DenseError> {
    let (rows, inputs, outputs) = shape.sizes();
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

/// [`forward`] of a batch whose rows stand side by side: `Yᵀ = Wᵀ·Xᵀ + b`, where `x` is inputs × rows and
/// `y` outputs × rows. The same entries to the bit; faster where a layer has few outputs, as vectors then run across
/// the rows.
///
/// # Errors
/// [`DenseError`] when a length does not fit the shape; `y` is then untouched.
pub fn forward_columns<T: Element>(
    shape: LayerShape,
    x: &[T],
    w: &[T],
    b: &[T],
    y: &mut [T],
) -> Result<(), DenseError> {
    let (rows, inputs, outputs) = shape.sizes();
    expect("x", x.len(), inputs, rows)?;
    expect("w", w.len(), inputs, outputs)?;
    expect("b", b.len(), 1, outputs)?;
    expect("y", y.len(), outputs, rows)?;
    if rows == 0 {
        return Ok(());
    }
    for (line, &b) in y.chunks_exact_mut(rows).zip(b) {
        line.fill(b);
    }
    T::accumulate(Product {
        c: y,
        a: w,
        a_strides: (1, outputs),
        b: x,
        inner: inputs,
        columns: rows,
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
    shape: LayerShape,
    dy: &[T],
    w: &[T],
    w_transposed: &mut [T],
    dx: &mut [T],
) -> Result<(), DenseError> {
    let (rows, inputs, outputs) = shape.sizes();
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
    shape: LayerShape,
    x: &[T],
    dy: &[T],
    dw: &mut [T],
    db: &mut [T],
) -> Result<(), DenseError> {
    let (rows, inputs, outputs) = shape.sizes();
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
/// Domain: both slices have `rows · columns` entries; nothing is written otherwise.
pub fn transpose<T: Element>(from: &[T], columns: usize, to: &mut [T], rows: usize) {
    let size = rows.checked_mul(columns);
    if size != Some(from.len()) || size != Some(to.len()) || from.is_empty() {
        return;
    }
    Arch::new().dispatch(Transposition {
        from,
        columns,
        to,
        rows,
    });
}

struct Transposition<'a, T> {
    from: &'a [T],
    columns: usize,
    to: &'a mut [T],
    rows: usize,
}

/// Entries along each side of a tile: one cache line of `f32`.
const TILE: usize = 16;

impl<T: Element> WithSimd for Transposition<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Transposition {
            from,
            columns,
            to,
            rows,
        } = self;
        for (band, from) in from.chunks(TILE * columns).enumerate() {
            let height = from.len() / columns;
            for first in (0..columns).step_by(TILE) {
                let width = TILE.min(columns - first);
                let mut tile = [[T::default(); TILE]; TILE];
                for (line, from) in tile.iter_mut().zip(from.chunks_exact(columns)) {
                    let from = &from[first..first + width];
                    match from.first_chunk() {
                        Some(whole) => *line = *whole,
                        None => line[..width].copy_from_slice(from),
                    }
                }
                turn(&mut tile);
                let lines = to[first * rows..].chunks_exact_mut(rows);
                for (line, entries) in lines.zip(&tile[..width]) {
                    let line = &mut line[band * TILE..][..height];
                    match line.first_chunk_mut() {
                        Some(whole) => *whole = *entries,
                        None => line.copy_from_slice(&entries[..height]),
                    }
                }
            }
        }
    }
}

/// Transposes a tile in four rounds, each of which interleaves the upper half of the lines with the lower: row and
/// column are four bits each, and a round rotates all eight by one. Interleaving is what vectors are good at.
#[inline(always)]
fn turn<T: Element>(tile: &mut [[T; TILE]; TILE]) {
    const HALF: usize = TILE / 2;
    for _ in 0..TILE.ilog2() {
        let before = *tile;
        for i in 0..HALF {
            let (upper, lower) = (&before[i], &before[i + HALF]);
            for j in 0..HALF {
                tile[2 * i][2 * j] = upper[j];
                tile[2 * i][2 * j + 1] = lower[j];
                tile[2 * i + 1][2 * j] = upper[j + HALF];
                tile[2 * i + 1][2 * j + 1] = lower[j + HALF];
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

    /// Blocks of eight rows × 3 or 2 vectors where there are 32 vector registers (24 sums, 3 vectors of
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
        if R == 8 {
            // Two and two vectors in place of three and one.
            loop {
                let vectors = (self.columns - column) / S::F32_LANES;
                if vectors < 3 || vectors == 4 {
                    break;
                }
                column += self.strip::<R, 3>(column);
            }
        }
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
        let lines = self.b.chunks_exact(self.columns);
        if self.a_strides.1 == 1 {
            let rows = self.rows_of_a::<R>();
            for (k, line) in (0..lines.len()).zip(lines) {
                let mut terms = [0.0; R];
                for (term, row) in terms.iter_mut().zip(&rows) {
                    *term = row[k];
                }
                let (line, _) = S::as_simd_f32s(&line[column..][..width]);
                add_terms(self.simd, &mut sums, &terms, line);
            }
        } else {
            for (terms, line) in self.a.chunks(self.a_strides.1).zip(lines) {
                let (line, _) = S::as_simd_f32s(&line[column..][..width]);
                // The terms of a step stand side by side.
                add_terms(self.simd, &mut sums, &terms.as_chunks().0[0], line);
            }
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
mod tests;
