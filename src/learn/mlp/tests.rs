use super::*;
use proptest::prelude::*;

/// `Σ_rows Σ_outputs target·output`, a loss that is linear in the outputs.
fn linear_loss(net: &Mlp, p: &[f64], rows: usize, x: &[f64], target: &[f64], seed: u64) -> f64 {
    let mut tape = net.tape(rows);
    let mut dropout = Dropout::new(0.25, Stream::new(seed, 0, 0, 0));
    net.forward(p, rows, x, &mut tape, Some(&mut dropout))
        .unwrap();
    tape.outputs().iter().zip(target).map(|(y, t)| y * t).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// Every layer, ReLU and dropout included, against central differences: with step h the
    /// difference quotient of a piecewise linear function is exact up to rounding, about
    /// |loss|·2⁻⁵²/h, unless a ReLU bends within the step.
    #[test]
    fn gradients_of_parameters_and_inputs_match_central_differences(
        seed in any::<u64>(),
        rows in 1usize..4,
        hidden in 1usize..6,
    ) {
        let net = Mlp::new(&[3, hidden, 4, 2]);
        let mut s = Stream::new(seed, 1, 0, 0);
        let mut p = vec![0.0; net.parameter_count()];
        net.initialize(&mut p, &mut s, 1);
        let mut x = vec![0.0; rows * 3];
        s.fill_standard_normal(&mut x);
        let mut target = vec![0.0; rows * 2];
        s.fill_standard_normal(&mut target);

        let mut tape = net.tape(rows);
        let mut dropout = Dropout::new(0.25, Stream::new(seed, 0, 0, 0));
        net.forward(&p, rows, &x, &mut tape, Some(&mut dropout)).unwrap();
        tape.output_gradients().1.copy_from_slice(&target);
        let (mut dp, mut dx) = (vec![0.0; p.len()], vec![0.0; x.len()]);
        net.backward(&p, rows, &x, &mut tape, dropout.scale(), Some(&mut dp), Some(&mut dx)).unwrap();

        let h = 1e-6;
        // Rounding of a loss of magnitude ten, some 20 operations deep, stays below 1e-13; a bend
        // that hides below it changes the quotient by at most 1e-13/(2h) = 5e-8.
        let mut bends = 0;
        let mut check = |analytic: f64, up: f64, middle: f64, down: f64| {
            // A bend shows as different slopes on both sides.
if ((up - middle) - (middle - down)).abs() > 1e-13 {
                bends += 1;
                return true;
            }
            let quotient = (up - down) / (2.0 * h);
            (quotient - analytic).abs() <= 1e-7
        };
        let middle = linear_loss(&net, &p, rows, &x, &target, seed);
        for i in 0..p.len() {
            let mut moved = p.clone();
            moved[i] = p[i] + h;
            let up = linear_loss(&net, &moved, rows, &x, &target, seed);
            moved[i] = p[i] - h;
            let down = linear_loss(&net, &moved, rows, &x, &target, seed);
            prop_assert!(check(dp[i], up, middle, down), "parameter {i}");
        }
        for i in 0..x.len() {
            let mut moved = x.clone();
            moved[i] = x[i] + h;
            let up = linear_loss(&net, &p, rows, &moved, &target, seed);
            moved[i] = x[i] - h;
            let down = linear_loss(&net, &p, rows, &moved, &target, seed);
            prop_assert!(check(dx[i], up, middle, down), "input {i}");
        }
        prop_assert!(bends * 4 <= p.len(), "the check must not skip what it checks");
    }
}

#[test]
fn dropout_keeps_the_share_it_should_and_scales_it() {
    let mut dropout = Dropout::new(0.1, Stream::new(5, 0, 0, 0));
    let mut values = vec![1.0f64; 200_000];
    dropout.relu(&mut values, &mut Vec::new());
    let kept = values.iter().filter(|&&v| v > 0.0).count() as f64;
    // Binomial: six standard deviations have a false-alarm probability of 2e-9.
    let (n, p) = (200_000.0, 1.0 - f64::from(6554u16) / 65536.0);
    assert!((kept - n * p).abs() < 6.0 * (n * p * (1.0 - p)).sqrt());
    assert!(values.iter().all(|&v| v == 0.0 || v == 1.0 / p));
}

#[test]
fn without_dropout_nothing_is_dropped_and_negative_values_are() {
    let mut values = [-1.0, 0.0, 2.0f32];
    relu(&mut values);
    assert_eq!(values, [0.0, 0.0, 2.0]);
    let mut values = [-1.0, 0.0, 2.0f32];
    Dropout::new(0.0, Stream::new(1, 1, 1, 1)).relu(&mut values, &mut Vec::new());
    assert_eq!(values, [0.0, 0.0, 2.0]);
}

#[test]
fn rows_do_not_see_each_other() {
    let net = Mlp::new(&[5, 7, 3]);
    let mut s = Stream::new(9, 0, 0, 0);
    let mut p = vec![0.0f32; net.parameter_count()];
    net.initialize(&mut p, &mut s, 1);
    let x: Vec<f32> = (0..11 * 5).map(|_| s.uniform() as f32).collect();
    let mut together = net.tape(11);
    net.forward(&p, 11, &x, &mut together, None).unwrap();
    let mut alone = net.tape(1);
    for (row, x) in x.chunks(5).enumerate() {
        net.forward(&p, 1, x, &mut alone, None).unwrap();
        assert_eq!(alone.outputs(), &together.outputs()[row * 3..][..3]);
    }
}

#[test]
fn too_many_rows_for_the_tape_are_refused() {
    let net = Mlp::new(&[2, 2]);
    let mut tape = net.tape::<f32>(1);
    let error = net.forward(&[0.0; 6], 2, &[0.0; 4], &mut tape, None);
    assert_eq!(error.unwrap_err().argument, "y");
    let error = net.forward(&[0.0; 5], 1, &[0.0; 2], &mut tape, None);
    assert!(error.is_err());
}
