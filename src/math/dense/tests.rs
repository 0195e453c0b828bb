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

/// Sizes around every edge of the blocking: rows 8, 4, 2, 1; columns around 8, 16, 32, 64 and up to 7 vectors of 16;
/// terms around [`DEPTH`].
fn shapes() -> Vec<LayerShape> {
    let mut shapes = Vec::new();
    for rows in [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 23] {
        for inputs in [0, 1, 2, 5, 64] {
            for outputs in [0, 1, 3, 7, 8, 9, 15, 16, 17, 31, 33, 48, 65, 80, 115] {
                shapes.push(LayerShape {
                    rows,
                    inputs,
                    outputs,
                });
            }
        }
    }
    for inputs in [DEPTH - 1, DEPTH, DEPTH + 1, 2 * DEPTH + 3] {
        for (rows, outputs) in [(1, 3), (5, 33), (13, 40)] {
            shapes.push(LayerShape {
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

fn by_definition(s: LayerShape, x: &[f32], w: &[f32], b: &[f32], dy: &[f32], dw: &[f32]) -> Layer {
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
    assert_eq!(shapes.len(), 12 * 5 * 15 + 4 * 3);
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

        let (mut columns, mut fast) = (vec![f32::NAN; x.len()], vec![f32::NAN; y.len()]);
        transpose(&x, s.inputs, &mut columns, s.rows);
        forward_columns(s, &columns, &w, &b, &mut fast).unwrap();
        let mut rows = vec![f32::NAN; y.len()];
        transpose(&fast, s.rows, &mut rows, s.outputs);
        assert_eq!(bits(&rows), bits(&y), "forward_columns {s:?}");

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
    let s = LayerShape {
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
    let s = LayerShape {
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
    let huge = LayerShape {
        rows: usize::MAX,
        inputs: 2,
        outputs: 2,
    };
    assert!(forward(huge, &[0.0; 5], &[0.0; 4], &[0.0; 2], &mut y).is_err());
}
