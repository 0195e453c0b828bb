//! Gradients against differences of the loss itself, for tests.

use proptest::prelude::*;

/// Compares the gradients that `loss` gives beside its value with central differences, in double
/// precision.
///
/// # Errors
/// The first parameter whose gradient differs, or that too few could be compared.
pub(super) fn matches_central_differences(
    parameters: &[f64],
    mut loss: impl FnMut(&[f64]) -> (f64, Vec<f64>),
) -> Result<(), TestCaseError> {
    let (middle, gradients) = loss(parameters);
    let h = 1e-6;
    let mut bends = 0;
    for (i, gradient) in gradients.iter().enumerate() {
        let mut moved = parameters.to_vec();
        moved[i] += h;
        let up = loss(&moved).0;
        moved[i] -= 2.0 * h;
        let down = loss(&moved).0;
        // Smooth, the second difference is h²·f″, 1e-12 times some units. Beyond 1e-11 it is
        // the bend of a ReLU; one that hides below moves the quotient by 1e-11/(2h) = 5e-6.
        if ((up - middle) - (middle - down)).abs() > 1e-11 {
            bends += 1;
            continue;
        }
        let quotient = (up - down) / (2.0 * h);
        prop_assert!(
            (quotient - gradient).abs() <= 1e-5,
            "{i}: {quotient} {gradient}"
        );
    }
    prop_assert!(bends * 4 <= gradients.len());
    Ok(())
}
