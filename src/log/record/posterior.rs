//! The Gaussian that an item of evidence was logged with.

use nalgebra::DMatrix;

use super::{Evidence, Place, RecordError};
use crate::latent::{GaussianPosterior, PosteriorError};

impl Evidence<'_> {
    /// The posterior that `mu` and `sigma` or `cov` describe; `None` where the item has none of
    /// them. `index` is the item's position, for the error.
    ///
    /// # Errors
    /// A part without the others, a part too many, another number of entries than `mu` has, or
    /// numbers that are no Gaussian: the field, and the entry where one is to blame.
    pub fn posterior(&self, index: usize) -> Result<Option<GaussianPosterior>, RecordError> {
        let place = |name| Place::item_field(index, name);
        let wrong = |name, what: &str| RecordError::shape(place(name), what);
        let Some(mu) = &self.mu else {
            return match (&self.sigma, &self.cov) {
                (Some(_), _) => Err(wrong("sigma", "given without mu")),
                (_, Some(_)) => Err(wrong("cov", "given without mu")),
                (None, None) => Ok(None),
            };
        };
        if self.embedding.is_some() {
            let what = "given beside an embedding; one of the two says what the item is";
            return Err(wrong("mu", what));
        }
        let d = mu.len();
        let (name, made) = match (&self.sigma, &self.cov) {
            (None, None) => return Err(wrong("mu", "given without sigma or cov")),
            (Some(_), Some(_)) => return Err(wrong("cov", "given beside sigma")),
            (Some(sigma), None) => (
                "sigma",
                GaussianPosterior::diagonal(mu.clone(), sigma.clone()),
            ),
            (None, Some(rows)) => {
                if rows.len() != d || rows.iter().any(|row| row.len() != d) {
                    let what = format!("not {d} rows of {d} numbers, as mu has {d}");
                    return Err(wrong("cov", &what));
                }
                let covariance = DMatrix::from_row_slice(d, d, &rows.concat());
                ("cov", GaussianPosterior::full(mu.clone(), covariance))
            }
        };
        made.map(Some).map_err(|error| {
            let at = match &error {
                PosteriorError::Empty => place("mu"),
                PosteriorError::Mean { index, .. } => place("mu").at(*index),
                PosteriorError::Sigma { index, .. } => place(name).at(*index),
                PosteriorError::Covariance { row, .. }
                | PosteriorError::NotSymmetric { row, .. } => place(name).at(*row),
                _ => place(name),
            };
            RecordError::shape(at, error.to_string())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(mu: &[f64], sigma: Option<&[f64]>, cov: Option<&[&[f64]]>) -> Evidence<'static> {
        Evidence {
            mu: Some(mu.to_vec()),
            sigma: sigma.map(<[f64]>::to_vec),
            cov: cov.map(|rows| rows.iter().map(|row| row.to_vec()).collect()),
            ..Evidence::default()
        }
    }

    #[test]
    fn a_posterior_is_what_its_numbers_say() {
        let diagonal = item(&[1.0, 2.0], Some(&[0.5, 3.0]), None);
        let found = diagonal.posterior(0).unwrap().unwrap();
        assert_eq!(found.mean(), [1.0, 2.0]);
        assert!(found.sigmas().eq([0.5, 3.0]));
        let full = item(&[1.0, 2.0], None, Some(&[&[4.0, 1.0], &[1.0, 9.0]]));
        assert!(full.posterior(0).unwrap().unwrap().sigmas().eq([2.0, 3.0]));
        assert_eq!(Evidence::default().posterior(0), Ok(None));
        let embedded = Evidence {
            embedding: Some(vec![1.0]),
            ..Evidence::default()
        };
        assert_eq!(embedded.posterior(0), Ok(None));
    }

    #[test]
    fn what_is_no_gaussian_is_named() {
        let without = |mut item: Evidence<'static>| {
            item.mu = None;
            item
        };
        let two = &[1.0, 1.0][..];
        let eye: &[&[f64]] = &[&[1.0, 0.0], &[0.0, 1.0]];
        let embedded = Evidence {
            embedding: Some(vec![1.0]),
            ..item(two, Some(two), None)
        };
        let cases = [
            (without(item(two, Some(two), None)), "sigma: given without"),
            (without(item(two, None, Some(eye))), "cov: given without"),
            (item(two, None, None), "mu: given without sigma"),
            (item(two, Some(two), Some(eye)), "cov: given beside sigma"),
            (embedded, "mu: given beside an embedding"),
            (item(&[], Some(&[]), None), "mu: the latent space"),
            (item(&[], None, Some(&[])), "mu: the latent space"),
            (item(&[0.0, f64::NAN], Some(two), None), "mu[1]: entry 1"),
            (
                item(two, Some(&[1.0]), None),
                "sigma: the mean has 2 entries",
            ),
            (
                item(two, Some(&[1.0, 0.0]), None),
                "sigma[1]: standard deviation 1 is 0",
            ),
            (
                item(two, Some(&[f64::NAN, 1.0]), None),
                "sigma[0]: standard deviation 0 is NaN",
            ),
            (item(two, None, Some(&[two])), "cov: not 2 rows of 2"),
            (
                item(two, None, Some(&[two, &[1.0]])),
                "cov: not 2 rows of 2",
            ),
            (
                item(two, None, Some(&[two, &[1.0, f64::INFINITY]])),
                "cov[1]: entry (1, 1)",
            ),
            (
                item(two, None, Some(&[&[2.0, 1.0], &[0.5, 2.0]])),
                "cov[1]: the covariance is not symmetric",
            ),
            (
                item(two, None, Some(&[&[1.0, 2.0], &[2.0, 1.0]])),
                "cov: the covariance is not positive definite",
            ),
        ];
        for (item, want) in cases {
            let error = item.posterior(7).unwrap_err().to_string();
            let want = format!("evidence[7].{want}");
            assert!(error.starts_with(&want), "{error}\n{want}");
        }
    }
}
