//! The optimizer.

use pulp::Arch;

use super::Number;

/// Settings of the optimizer Adam (Kingma and Ba 2015).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct AdamSettings {
    /// Step size.
    pub rate: f64,
    /// How fast the mean of the gradients forgets.
    pub beta1: f64,
    /// How fast the mean of their squares forgets.
    pub beta2: f64,
    /// Added to the root of the mean square, so that a parameter without gradient stays put.
    pub epsilon: f64,
    /// Strength of L2: `l2·w` is added to the gradient of each parameter `w`.
    pub l2: f64,
}

impl Default for AdamSettings {
    /// Kingma and Ba (2015), section 2, without L2.
    fn default() -> Self {
        AdamSettings {
            rate: 1e-3,
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
            l2: 0.0,
        }
    }
}

/// Adam: `w −= rate · m̂/(√v̂ + ε)` with bias-corrected running means `m̂` of the gradient and `v̂`
/// of its square (Kingma and Ba 2015, algorithm 1).
#[derive(Clone, Debug)]
pub(crate) struct Adam<T> {
    settings: AdamSettings,
    mean: Vec<T>,
    square: Vec<T>,
    /// `beta1^t` and `beta2^t` after `t` steps.
    powers: (f64, f64),
}

impl<T: Number> Adam<T> {
    /// An optimizer for `parameters` parameters, before its first step.
    pub(crate) fn new(settings: AdamSettings, parameters: usize) -> Self {
        Adam {
            settings,
            mean: vec![T::zero(); parameters],
            square: vec![T::zero(); parameters],
            powers: (1.0, 1.0),
        }
    }

    /// One step. Every parameter is treated alike, so the order does not matter.
    pub(crate) fn step(&mut self, parameters: &mut [T], gradients: &[T]) {
        let s = self.settings;
        self.powers.0 *= s.beta1;
        self.powers.1 *= s.beta2;
        let number = T::from_f64;
        let (beta1, rest1) = (number(s.beta1), number(1.0 - s.beta1));
        let (beta2, rest2) = (number(s.beta2), number(1.0 - s.beta2));
        let (l2, epsilon) = (number(s.l2), number(s.epsilon));
        let step = number(s.rate / (1.0 - self.powers.0));
        let root_scale = number(1.0 / libm::sqrt(1.0 - self.powers.1));
        let (means, squares) = (&mut self.mean, &mut self.square);
        // Wide vectors change nothing but the speed: each parameter is computed by itself.
        Arch::new().dispatch(
            #[inline(always)]
            || {
                let state = means.iter_mut().zip(squares.iter_mut());
                for ((w, &g), (m, v)) in parameters.iter_mut().zip(gradients).zip(state) {
                    let g = g + l2 * *w;
                    *m = beta1 * *m + rest1 * g;
                    *v = beta2 * *v + rest2 * (g * g);
                    let root = v.sqrt() * root_scale + epsilon;
                    *w += -(step * (*m / root));
                }
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Algorithm 1 of the paper, word for word, for one parameter.
    fn literal(settings: AdamSettings, start: f64, gradients: &[f64]) -> f64 {
        let (mut w, mut m, mut v) = (start, 0.0, 0.0);
        for (t, g) in gradients.iter().enumerate() {
            let g = g + settings.l2 * w;
            m = settings.beta1 * m + (1.0 - settings.beta1) * g;
            v = settings.beta2 * v + (1.0 - settings.beta2) * g * g;
            let t = t as i32 + 1;
            let m_hat = m / (1.0 - settings.beta1.powi(t));
            let v_hat = v / (1.0 - settings.beta2.powi(t));
            w -= settings.rate * m_hat / (v_hat.sqrt() + settings.epsilon);
        }
        w
    }

    #[test]
    fn steps_follow_the_published_algorithm() {
        let settings = AdamSettings {
            l2: 0.1,
            ..AdamSettings::default()
        };
        let gradients = [0.3, -0.2, 5.0, 0.0, 1e-4];
        let mut adam = Adam::new(settings, 1);
        let mut w = [0.7f64];
        for g in gradients {
            adam.step(&mut w, &[g]);
        }
        let expected = literal(settings, 0.7, &gradients);
        // Each step of size 1e-3 is computed by some ten roundings.
        assert!((w[0] - expected).abs() < 5.0 * 1e-3 * 10.0 * f64::EPSILON + f64::EPSILON);
        // Negative control: without the correction of the bias the first step is tenfold off.
        let uncorrected = 0.7 - 1e-3 * 0.1 * 0.37 / (0.001f64 * 0.37 * 0.37).sqrt();
        let mut w = [0.7f64];
        Adam::new(settings, 1).step(&mut w, &[0.3]);
        assert!((w[0] - uncorrected).abs() > 1e-3);
    }

    #[test]
    fn a_parameter_without_gradient_stays_where_it_is() {
        let mut adam = Adam::new(AdamSettings::default(), 2);
        let mut w = [1.0f32, 2.0];
        adam.step(&mut w, &[0.0, 1.0]);
        assert_eq!(w[0], 1.0);
        assert!(w[1] < 2.0);
    }
}
