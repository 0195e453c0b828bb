//! Values, conditionals and marginals in doubles against brute force in rationals.

use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive, Zero};
use rand::RngExt;

use super::oracle::{exact, exact_evidence, table, total};
use super::random::{Numbers, evidence, generator, network};
use crate::math::rational;
use crate::simplex::Distribution;
use crate::spn::{Builder, Compiled, Evidence, QueryError, Workspace};

/// Networks for the conditionals.
const NETWORKS: usize = 1000;

/// Whether `got` is within `relative` of `want`; zero must be zero.
fn close(got: &BigRational, want: &BigRational, relative: f64) -> bool {
    (got - want).abs() <= want * rational(relative).unwrap()
}

#[test]
fn values_and_marginals_equal_brute_force_within_the_derived_error() {
    let mut workspace = Workspace::new();
    let (mut possible, mut zeros) = (0, 0);
    // Rationals of a thousand bits are slow: fewer and smaller ones.
    for (numbers, networks, variables) in [(Numbers::Eighths, 1500, 4), (Numbers::Extreme, 60, 2)] {
        let mut rng = generator(10);
        for _ in 0..networks {
            let network = network(&mut rng, variables, numbers);
            let evidence = evidence(&mut rng, &network, numbers);
            let table = table(&exact(&network), &exact_evidence(&evidence, &network));
            let total = total(&table);
            let compiled = Compiled::new(network);
            let error = compiled.relative_error();
            let value = compiled.upward(&evidence, &mut workspace);
            assert!(
                close(&value.exact(), &total, error),
                "{:?}",
                compiled.network()
            );

            let marginals = match compiled.marginals(&evidence, &mut workspace) {
                Ok(marginals) => marginals,
                Err(QueryError::Impossible { .. }) => {
                    assert!(total.is_zero());
                    continue;
                }
                Err(other) => panic!("{other}"),
            };
            assert!(!total.is_zero());
            possible += 1;
            for (variable, &states) in compiled.network().cardinalities().iter().enumerate() {
                let probabilities = marginals.probabilities(variable);
                assert_eq!(probabilities.len(), states);
                assert!(Distribution::new(probabilities.to_vec()).is_ok());
                for (state, &got) in probabilities.iter().enumerate() {
                    let joint: BigRational = table
                        .iter()
                        .filter(|(a, _)| a[variable] == state)
                        .map(|(_, value)| value)
                        .sum();
                    let want = joint / &total;
                    zeros += usize::from(want.is_zero());
                    // Rounded once more: half a unit in the last place, subnormals included.
                    let rounding = 2f64.powi(-53);
                    let smallest = rational(f64::from_bits(1)).unwrap();
                    let allowed =
                        &want * rational(compiled.marginal_error() + rounding).unwrap() + smallest;
                    let off = (rational(got).unwrap() - &want).abs();
                    assert!(off <= allowed, "{got} for {want}");
                    let impossible = marginals.log_probability(variable, state) == -f64::INFINITY;
                    assert_eq!(impossible, want.is_zero());
                }
            }
        }
    }
    assert!(possible > 1000, "{possible} possible");
    assert!(zeros > 1000, "{zeros} zeros");
}

#[test]
fn conditionals_equal_brute_force() {
    let mut rng = generator(11);
    let mut workspace = Workspace::new();
    let mut checked = 0;
    for _ in 0..NETWORKS {
        let network = network(&mut rng, 4, Numbers::Eighths);
        let given = evidence(&mut rng, &network, Numbers::Eighths);
        let table = table(&exact(&network), &exact_evidence(&given, &network));
        let below = total(&table);
        let query: Vec<(usize, usize)> = network
            .cardinalities()
            .iter()
            .enumerate()
            .filter(|_| rng.random_range(0..2) == 0)
            .map(|(variable, &states)| (variable, states - 1))
            .collect();
        let above: BigRational = table
            .iter()
            .filter(|(a, _)| query.iter().all(|&(v, x)| a[v] == x))
            .map(|(_, value)| value)
            .sum();
        let compiled = Compiled::new(network);
        let got = compiled.log_conditional(&query, &given, &mut workspace);
        if below.is_zero() {
            assert!(matches!(got, Err(QueryError::Impossible { .. })));
            continue;
        }
        checked += 1;
        let want = (above / below).to_f64().unwrap();
        // ln of the correctly rounded quotient: half a unit in the last place of the quotient,
        // the two values' errors, and 3 units in the last place of the logarithm.
        let want_log = crate::math::ln(want);
        let got = got.unwrap();
        if want == 0.0 {
            assert_eq!(got, f64::NEG_INFINITY);
        } else {
            let allowed = 2f64.powi(-53)
                + 2.0 * compiled.relative_error()
                + 3.0 * f64::EPSILON * want_log.abs();
            assert!((got - want_log).abs() <= allowed, "{got} for {want_log}");
        }
    }
    assert!(checked > NETWORKS / 3);
}

#[test]
fn the_logarithm_of_a_probability_is_that_of_the_value_over_z() {
    let mut builder = Builder::new(&[2]).unwrap();
    let leaf = builder.leaf(0, &[3.0, 1.0]).unwrap();
    let compiled = Compiled::new(builder.build(leaf).unwrap());
    let mut workspace = Workspace::new();
    let mut evidence = Evidence::none(compiled.network());
    evidence.observe(0, 1).unwrap();
    // ln 1, ln ¼, ln 4 (mpmath: 1.3862943611198906188).
    assert_eq!(compiled.log_value(&evidence, &mut workspace), Ok(0.0));
    let ln_4 = 1.386_294_361_119_890_6;
    assert_eq!(
        compiled.log_probability(&evidence, &mut workspace),
        Ok(-ln_4)
    );
    let nothing = Evidence::none(compiled.network());
    assert_eq!(compiled.log_value(&nothing, &mut workspace), Ok(ln_4));
}

/// 10⁶ factors of `p` below each of two branches: far outside the range of doubles.
#[test]
fn a_million_variables_do_not_underflow() {
    const K: usize = 1_000_000;
    let mut builder = Builder::new(&[[2].repeat(K), vec![2]].concat()).unwrap();
    let mut branch = |state: usize, p: f64| {
        let mut children = vec![builder.indicator(K, state).unwrap()];
        children.extend((0..K).map(|v| builder.leaf(v, &[p, 1.0 - p]).unwrap()));
        builder.product(&children).unwrap()
    };
    let branches = [(branch(0, 0.25), 0.5), (branch(1, 0.125), 0.5)];
    let root = builder.sum(&branches).unwrap();
    let compiled = Compiled::new(builder.build(root).unwrap());
    let mut evidence = Evidence::none(compiled.network());
    for v in 0..K {
        evidence.observe(v, 0).unwrap();
    }
    let mut workspace = Workspace::new();
    // ½·2^-2000000 + ½·2^-3000000: −2000001·ln 2 (mpmath: -1386295.0542670712) and far less.
    let got = compiled.log_value(&evidence, &mut workspace).unwrap();
    assert_eq!(got, -1_386_295.054_267_071_2);
    let marginals = compiled.marginals(&evidence, &mut workspace).unwrap();
    assert_eq!(marginals.probabilities(K), [1.0, 0.0]);
    // −10⁶·ln 2 (mpmath: -693147.18055994531): too small for a double, but not impossible.
    assert_eq!(marginals.log_probability(K, 1), -693_147.180_559_945_3);
}

#[test]
fn evidence_that_does_not_fit_is_refused() {
    use crate::spn::EvidenceError::*;
    let build = |cardinalities: &[usize]| {
        let mut builder = Builder::<f64>::new(cardinalities).unwrap();
        let leaves: Vec<_> = (0..cardinalities.len())
            .map(|v| builder.leaf(v, &vec![1.0; cardinalities[v]]).unwrap())
            .collect();
        let root = builder.product(&leaves).unwrap();
        builder.build(root).unwrap()
    };
    let network = build(&[2, 3]);
    let mut evidence = Evidence::<f64>::none(&network);
    assert!(matches!(
        evidence.observe(2, 0),
        Err(UnknownVariable {
            variable: 2,
            variables: 2
        })
    ));
    assert!(matches!(
        evidence.observe(1, 3),
        Err(UnknownState {
            variable: 1,
            state: 3,
            states: 3
        })
    ));
    assert!(matches!(evidence.restrict(0, 2), Err(UnknownState { .. })));
    assert!(matches!(
        evidence.weigh(1, &[1.0]),
        Err(Length { likelihoods: 1, .. })
    ));
    assert!(matches!(
        evidence.weigh(0, &[1.0, -1.0]),
        Err(Likelihood { state: 1, .. })
    ));
    assert!(matches!(
        evidence.weigh(0, &[f64::NAN, 1.0]),
        Err(Likelihood { state: 0, .. })
    ));
    let other = Compiled::new(build(&[3, 2]));
    let mut workspace = Workspace::new();
    assert_eq!(
        other.log_value(&evidence, &mut workspace),
        Err(OtherNetwork)
    );
    assert_eq!(build(&[2]).evaluate(&evidence), Err(OtherNetwork));
}
