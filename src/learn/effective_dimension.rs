//! How many of the aggregator's parameters the data determine.

use super::aggregator_training::Work;
use super::{Aggregator, Entities, Number, TrainError, Vae};
use crate::math::dense::{self, LayerShape};
use crate::math::{ExactSum, exp};

/// Why there is no effective dimension.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum DimensionError {
    /// The regularization is not a positive finite number.
    #[error("the regularization is {value}; the effective dimension needs a positive number")]
    Regularization { value: f64 },
    #[error(transparent)]
    Data(TrainError),
    /// The curvature is not finite.
    #[error("the curvature of the loss is not finite")]
    Curvature,
}

/// The effective dimension `d_eff = Σ_k λ_k/(λ_k + λ)` of an aggregator at its parameters.
///
/// `λ_k` are the eigenvalues of the Gauss–Newton matrix of the training loss (the mean of
/// `−ln p(label∣z)`),
///
/// ```text
/// G = (1/N) Σ_n J_nᵀ (diag p_n − p_n p_nᵀ) J_n,     J_n = ∂ scores_n / ∂ parameters,
/// ```
///
/// and `λ` is the strength of L2: the regularized loss `mean + λ/2·‖w‖²` has the curvature `G + λ`.
/// A direction counts fully where the data bend the loss far more than the regularization does, and
/// not at all where they do not bend it (MacKay 1992).
///
/// Range: `[0, min(parameters, N·(classes − 1))]`. Computed in double precision from the `N·C`
/// square matrix `A·Aᵀ` with `A_{(n,c)} = √(p_nc/N)·(J_nc − Σ_k p_nk J_nk)`, which has the same
/// non-zero eigenvalues: work grows with `N²·parameters + N³`.
///
/// # Errors
/// [`DimensionError`] names what is wrong.
pub fn effective_dimension(
    aggregator: &Aggregator,
    vae: &Vae,
    data: &Entities,
    regularization: f64,
) -> Result<f64, DimensionError> {
    if !(regularization > 0.0 && regularization.is_finite()) {
        return Err(DimensionError::Regularization {
            value: regularization,
        });
    }
    let (wide_aggregator, wide_vae, wide_data) = (aggregator.widen(), vae.widen(), data.widen());
    let rows = curvature_factor(&wide_aggregator, &wide_vae, &wide_data)?;
    let parameters = wide_aggregator.parameters.len();
    trace_of_shrinkage(&rows, parameters, regularization).ok_or(DimensionError::Curvature)
}

/// The rows of `A`, each as long as there are parameters.
fn curvature_factor(
    aggregator: &Aggregator<f64>,
    vae: &Vae<f64>,
    data: &Entities<f64>,
) -> Result<Vec<f64>, DimensionError> {
    data.check("training", aggregator.shape.latent, vae)
        .map_err(DimensionError::Data)?;
    let classes = vae.shape().classes;
    let count = data.labels.len() as f64;
    let mut work = Work::new(aggregator, vae, 1, data);
    let mut rows = Vec::with_capacity(data.labels.len() * classes * aggregator.parameters.len());
    let mut p = vec![0.0; classes];
    let sizes = |e| DimensionError::Data(TrainError::Sizes(e));
    for entity in 0..data.labels.len() {
        for class in 0..classes {
            // The tape is used up by a backward pass, so each row has its own forward pass.
            aggregator
                .forward(vae, data, &[entity], None, &mut work)
                .map_err(sizes)?;
            let (scores, deltas) = work.decoder.tape.output_gradients();
            let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            for (p, s) in p.iter_mut().zip(scores) {
                *p = exp(s - largest);
            }
            let total: f64 = p.iter().sum();
            p.iter_mut().for_each(|p| *p /= total);
            let root = libm::sqrt(p[class] / count);
            for (k, (delta, p)) in deltas.iter_mut().zip(&p).enumerate() {
                *delta = root * (f64::from(u8::from(k == class)) - p);
            }
            aggregator
                .backward(vae, data, &[entity], 1.0, &mut work)
                .map_err(sizes)?;
            rows.extend_from_slice(&work.gradients);
        }
    }
    Ok(rows)
}

/// `tr K(K + λ)⁻¹` for `K = A·Aᵀ`, where `A` has rows of the given width; `None` unless `K + λ` is
/// finite and positive definite in floating point.
///
/// `K + λ = L·Lᵀ` (Cholesky), and `tr K(K + λ)⁻¹ = n − λ·‖L⁻¹‖²`.
///
/// Written out row by row: nalgebra's factorization subtracts the same products one by one, as
/// accurately but with other last bits than those the pinned results of T3 have.
fn trace_of_shrinkage(rows: &[f64], width: usize, lambda: f64) -> Option<f64> {
    let n = rows.len().checked_div(width)?;
    let mut transposed = vec![0.0; rows.len()];
    dense::transpose(rows, width, &mut transposed, n);
    let mut l = vec![0.0; n * n];
    let shape = LayerShape {
        rows: n,
        inputs: width,
        outputs: n,
    };
    dense::forward(shape, rows, &transposed, &vec![0.0; n], &mut l).ok()?;
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0.0, |s, (a, b)| s + a * b);
    for i in 0..n {
        l[i * n + i] += lambda;
        let (above, rest) = l.split_at_mut(i * n);
        let row = &mut rest[..n];
        for j in 0..i {
            let other = &above[j * n..][..n];
            row[j] = (row[j] - dot(&row[..j], &other[..j])) / other[j];
        }
        let pivot = row[i] - dot(&row[..i], &row[..i]);
        if !(pivot > 0.0 && pivot.is_finite()) {
            return None;
        }
        row[i] = libm::sqrt(pivot);
    }
    // Column k of L⁻¹ by forward substitution.
    let mut squares = ExactSum::new();
    let mut column = vec![0.0; n];
    for k in 0..n {
        for i in k..n {
            let start = if i == k { 1.0 } else { 0.0 };
            let row = &l[i * n..][..n];
            column[i] = (start - dot(&row[k..i], &column[k..i])) / row[i];
            squares.add(column[i] * column[i]);
        }
    }
    Some(n as f64 - lambda * squares.to_f64())
}

impl Aggregator {
    fn widen(&self) -> Aggregator<f64> {
        Aggregator {
            shape: self.shape,
            item_net: self.item_net.clone(),
            weight_net: self.weight_net.clone(),
            parameters: widen(&self.parameters),
        }
    }
}

impl Entities {
    fn widen(&self) -> Entities<f64> {
        Entities {
            means: widen(&self.means),
            log_variances: widen(&self.log_variances),
            items: self.items.clone(),
            labels: self.labels.clone(),
        }
    }
}

pub(super) fn widen(x: &[f32]) -> Vec<f64> {
    x.iter().map(|x| x.to_f64()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::latent::random::Stream;
    use crate::learn::{AggregatorShape, Consistency, VaeShape};
    use nalgebra::{DMatrix, SymmetricEigen};

    #[test]
    fn shrinkage_of_a_diagonal_by_hand() {
        // A = diag(1, 2, 0): eigenvalues 1, 4, 0; λ = 1: 1/2 + 4/5.
        let rows = [1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0];
        let d = trace_of_shrinkage(&rows, 3, 1.0).unwrap();
        assert!((d - 1.3).abs() < 4.0 * f64::EPSILON, "{d}");
    }

    /// Oracle: the matrix G itself, built from its definition with central differences for J, and
    /// its eigenvalues by nalgebra.
    #[test]
    fn equals_the_sum_over_eigenvalues_of_the_definition() {
        let shape = AggregatorShape {
            latent: 2,
            hidden: 4,
            consistency: Consistency::Symmetric,
        };
        let vae_shape = VaeShape {
            embedding: 2,
            encoder_hidden: vec![],
            latent: 2,
            predicate: 1,
            decoder_hidden: vec![4],
            classes: 3,
            sigma_floor: 1e-6,
        };
        let vae = Vae::<f32>::new(vae_shape, 4);
        let aggregator = Aggregator::<f32>::new(shape, 5);
        let mut s = Stream::new(6, 0, 0, 0);
        let mut draws = |n: usize| (0..n).map(|_| s.standard_normal() as f32).collect();
        let data = Entities {
            means: draws(24),
            log_variances: draws(24),
            items: vec![0..3, 3..5, 5..9, 9..12],
            labels: vec![0, 1, 2, 0],
        };
        let (wide, wide_vae, wide_data) = (aggregator.widen(), vae.widen(), data.widen());
        let n = wide.parameters.len();
        let mut work = Work::new(&wide, &wide_vae, 1, &wide_data);
        let mut scores = |parameters: &[f64], e: usize| -> Vec<f64> {
            let model = Aggregator::from_parameters(shape, parameters.to_vec()).unwrap();
            model
                .forward(&wide_vae, &wide_data, &[e], None, &mut work)
                .unwrap();
            work.decoder.tape.outputs().to_vec()
        };
        let h = 1e-6;
        let mut g = DMatrix::<f64>::zeros(n, n);
        for e in 0..4 {
            let mut j = DMatrix::<f64>::zeros(3, n);
            for k in 0..n {
                let mut moved = wide.parameters.clone();
                moved[k] += h;
                let up = scores(&moved, e);
                moved[k] -= 2.0 * h;
                let down = scores(&moved, e);
                for c in 0..3 {
                    j[(c, k)] = (up[c] - down[c]) / (2.0 * h);
                }
            }
            let mut p = scores(&wide.parameters, e);
            crate::simplex::softmax(&mut p).unwrap();
            let hessian = DMatrix::from_fn(3, 3, |a, b| {
                if a == b {
                    p[a] - p[a] * p[a]
                } else {
                    -p[a] * p[b]
                }
            });
            g += j.transpose() * hessian * j / 4.0;
        }
        let lambda = 1e-4;
        let eigenvalues = SymmetricEigen::new(g).eigenvalues;
        let expected: f64 = eigenvalues
            .iter()
            .map(|l| l.max(0.0) / (l.max(0.0) + lambda))
            .sum();
        let found = effective_dimension(&aggregator, &vae, &data, lambda).unwrap();
        // Central differences have errors near 1e-10 in J; divided by λ they may grow to 1e-6.
        assert!((found - expected).abs() < 1e-5, "{found} {expected}");
        assert!(
            found > 0.5 && found < 8.0,
            "four entities, two free scores each: {found}"
        );
        // More regularization leaves fewer dimensions.
        let less = effective_dimension(&aggregator, &vae, &data, 10.0 * lambda).unwrap();
        assert!(less < found);
        assert!(effective_dimension(&aggregator, &vae, &data, 0.0).is_err());
    }
}
