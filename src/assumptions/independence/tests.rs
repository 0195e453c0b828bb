use super::*;
use crate::bounds::binomial_upper_tail;
use crate::math::rational;
use num_rational::BigRational;
use num_traits::Zero;

const PURPOSE: u64 = text_key("test: evidence for assumption A1");

fn d(p: &[f64]) -> Distribution {
    Distribution::from_weights(p.to_vec()).unwrap()
}

/// Entities of two classes whose items favour the class; with probability `copied` an item repeats
/// the entity's first one.
fn simulated(
    seed: u64,
    entities: usize,
    items: usize,
    copied: f64,
) -> (Vec<Distribution>, Vec<usize>, Vec<usize>) {
    let mut factors: Vec<Distribution> = Vec::new();
    let (mut offsets, mut labels) = (vec![0], Vec::new());
    for e in 0..entities {
        let mut s = Stream::new(seed, PURPOSE, e as u64, 0);
        let label = usize::from(s.uniform() < 0.4);
        let first = factors.len();
        for i in 0..items {
            if i > 0 && s.uniform() < copied {
                let repeated = factors[first].clone();
                factors.push(repeated);
                continue;
            }
            let right = 0.3 + 0.65 * s.uniform();
            factors.push(if label == 0 {
                d(&[right, 1.0 - right])
            } else {
                d(&[1.0 - right, right])
            });
        }
        offsets.push(factors.len());
        labels.push(label);
    }
    (factors, offsets, labels)
}

/// The definition, pair by pair, in exact fractions.
fn literal_correlation(items: &Items<'_>, labels: &[usize]) -> f64 {
    let q = |x: f64| rational(x).unwrap();
    let (mut products, mut pairs) = (BigRational::zero(), 0i64);
    let (mut squares, mut count) = (BigRational::zero(), 0i64);
    for class in 0..items.classes() {
        let of_class = || {
            items
                .groups()
                .zip(labels)
                .filter(|&(_, &l)| l == class)
                .map(|(g, _)| g)
        };
        let n: usize = of_class().map(<[_]>::len).sum();
        if n == 0 {
            continue;
        }
        for y in 0..items.classes() {
            let at = |f: &Distribution| q(f.probabilities()[y]);
            let total: BigRational = of_class().flatten().map(at).sum();
            let mean = total / BigRational::from_integer((n as i64).into());
            for group in of_class() {
                for (i, a) in group.iter().enumerate() {
                    squares += (at(a) - &mean) * (at(a) - &mean);
                    for (j, b) in group.iter().enumerate() {
                        if i != j {
                            products += (at(a) - &mean) * (at(b) - &mean);
                            pairs += i64::from(y == 0);
                        }
                    }
                }
            }
        }
        count += n as i64;
    }
    let over = |a: BigRational, n: i64| a / BigRational::from_integer(n.into());
    let rho = over(products, pairs) / over(squares, count);
    crate::math::Field::approx(&rho)
}

#[test]
fn correlation_is_the_mean_over_pairs_in_exact_fractions() {
    for copied in [0.0, 0.5] {
        let (factors, offsets, labels) = simulated(3, 20, 4, copied);
        let items = Items::new(&factors, &offsets).unwrap();
        let got = independence(
            &items,
            &labels,
            &IndependenceTest {
                permutations: 1,
                ..Default::default()
            },
        )
        .unwrap();
        let want = literal_correlation(&items, &labels);
        // Probabilities and their mean are rounded to 2⁻³², relative to a spread of some 0.1.
        assert!(
            (got.correlation.unwrap() - want).abs() < 1e-7,
            "{got:?} {want}"
        );
        let one_class = vec![0; labels.len()];
        let want = literal_correlation(&items, &one_class);
        assert!((got.unconditional.unwrap() - want).abs() < 1e-7);
    }
}

#[test]
fn correlation_is_one_for_copies_and_least_for_opposites() {
    let (a, b) = (d(&[0.9, 0.1]), d(&[0.2, 0.8]));
    let test = IndependenceTest {
        permutations: 9,
        ..Default::default()
    };
    let copies = [a.clone(), a.clone(), b.clone(), b.clone()];
    let found = independence(&Items::new(&copies, &[0, 2, 4]).unwrap(), &[0, 0], &test).unwrap();
    assert!((found.correlation.unwrap() - 1.0).abs() < 1e-8);
    let opposites = [a.clone(), b.clone(), b, a];
    let found = independence(&Items::new(&opposites, &[0, 2, 4]).unwrap(), &[0, 0], &test).unwrap();
    assert!((found.correlation.unwrap() + 1.0).abs() < 1e-8);
    // One deal in three has two equal pairs and lies further from the mean, two are as observed:
    // ties count, so no deal is below.
    assert_eq!(found.classes[0].p_value, Some(1.0));
    // Forty entities of three equal items: the data count among the deals, so p = 1/(1 + B).
    let (factors, offsets, labels) = simulated(5, 40, 3, 1.0);
    let items = Items::new(&factors, &offsets).unwrap();
    let found = independence(&items, &labels, &test).unwrap();
    assert_eq!(found.classes[0].p_value, Some(0.1));
}

/// Every arrangement of `0..n`, each once.
fn arrangements(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    let shorter = arrangements(n - 1);
    let insert = |order: &Vec<usize>| {
        (0..n)
            .map(|at| {
                let mut longer = order.clone();
                longer.insert(at, n - 1);
                longer
            })
            .collect::<Vec<_>>()
    };
    shorter.iter().flat_map(insert).collect()
}

#[test]
fn p_value_is_that_of_all_deals_enumerated() {
    // 3 entities with 3, 2 and 2 items: all 5,040 arrangements, the statistic pair by pair.
    let x = [0.11, 0.62, 0.23, 0.87, 0.95, 0.54, 0.41];
    let entity = [0, 0, 0, 1, 1, 2, 2];
    let factors: Vec<Distribution> = x.iter().map(|&x| d(&[x, 1.0 - x])).collect();
    let mean = x.iter().sum::<f64>() / 7.0;
    let statistic = |order: &[usize]| {
        let mut sum = 0.0;
        for i in 0..7 {
            for j in 0..7 {
                if i != j && entity[i] == entity[j] {
                    sum += (x[order[i]] - mean) * (x[order[j]] - mean);
                }
            }
        }
        sum
    };
    let all = arrangements(7);
    let values: Vec<f64> = all.iter().map(|o| statistic(o)).collect();
    let centre = values.iter().sum::<f64>() / values.len() as f64;
    let observed = (statistic(&[0, 1, 2, 3, 4, 5, 6]) - centre).abs();
    // The literal sums are rounded; arrangements within an entity must count as ties.
    let reached = values
        .iter()
        .filter(|v| (*v - centre).abs() >= observed - 1e-12)
        .count();
    let exact = reached as f64 / all.len() as f64;
    let permutations = 20_000;
    let test = IndependenceTest {
        permutations,
        ..Default::default()
    };
    let found = independence(
        &Items::new(&factors, &[0, 3, 5, 7]).unwrap(),
        &[0, 0, 0],
        &test,
    )
    .unwrap();
    let got = found.classes[0].p_value.unwrap();
    // Six standard deviations of a binomial share: below 1e-8 for another seed.
    let tolerance = 6.0 * (exact * (1.0 - exact) / permutations as f64).sqrt();
    assert!((got - exact).abs() < tolerance, "{got} {exact}");
    // The same by NumPy 2.4 over itertools.permutations.
    assert!((exact - 0.095_238_095_238_095_2).abs() < 1e-12, "{exact}");
    assert_eq!(found.classes[1].p_value, None);
}

/// How many of `runs` data sets are flagged at level 0.05.
fn flagged(runs: u64, copied: f64, ignore_classes: bool) -> u64 {
    (0..runs)
        .filter(|&seed| {
            let (factors, offsets, mut labels) = simulated(seed, 40, 3, copied);
            if ignore_classes {
                labels.fill(0);
            }
            let test = IndependenceTest {
                permutations: 99,
                level: 0.05,
                seed,
            };
            let items = Items::new(&factors, &offsets).unwrap();
            independence(&items, &labels, &test).unwrap().contradicted()
        })
        .count() as u64
}

#[test]
fn independent_evidence_is_flagged_no_more_often_than_the_level_and_copies_nearly_always() {
    const RUNS: u64 = 400;
    const FALSE_ALARM: f64 = 1e-9;
    let quiet = flagged(RUNS, 0.0, false);
    // P(flag) ≤ 0.05 exactly, so as many as this or more have a chance above 1e-9 …
    assert!(
        binomial_upper_tail(quiet, RUNS, 0.05).unwrap().high() > FALSE_ALARM,
        "{quiet}"
    );
    // … and with two tested classes Holm's level is nearly used up: a test that never flags is
    // caught (P(no more than this) at a true rate of 0.02).
    assert!(quiet >= 3, "{quiet}");
    // Power: four items in ten copies of the first (6 in 10 of the others) are found in 99 of 100
    // data sets of 40 entities, as NumPy's simulation of the same test has it too.
    let loud = flagged(RUNS, 0.6, false);
    assert!(loud >= RUNS * 19 / 20, "{loud}");
    // Negative control: dealing items across classes takes what they share with their class for
    // dependence, and flags independent evidence: at a rate of 0.05, half of 50 has a chance
    // below 1e-19.
    let unclustered = flagged(50, 0.0, true);
    assert!(unclustered >= 25, "{unclustered}");
}

/// Two sources, one that names the class in 95 of 100 cases and one in 60, for entities of two classes; the
/// second copies whether the first was right with probability `copied`.
fn unlike(seed: u64, entities: usize, copied: f64) -> (Vec<Distribution>, Vec<usize>, Vec<usize>) {
    let mut stream = Stream::new(seed, 3, 0, 0);
    let (mut factors, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..entities {
        let label = stream.below(2) as usize;
        let right = stream.uniform() < 0.95;
        let second = match stream.uniform() < copied {
            true => right,
            false => stream.uniform() < 0.6,
        };
        for (right, sure) in [(right, 0.95), (second, 0.6)] {
            let named = if right { label } else { 1 - label };
            let p = if named == 0 { sure } else { 1.0 - sure };
            factors.push(d(&[p, 1.0 - p]));
        }
        labels.push(label);
    }
    let offsets = (0..=entities).map(|e| 2 * e).collect();
    (factors, offsets, labels)
}

#[test]
fn sources_that_merely_differ_are_no_evidence_against_independence() {
    const RUNS: u64 = 200;
    let flagged = |copied: f64, by_source: bool| {
        let contradicted = |seed: &u64| {
            let (factors, offsets, labels) = unlike(*seed, 300, copied);
            let items = Items::new(&factors, &offsets).unwrap();
            let test = IndependenceTest {
                permutations: 99,
                level: 0.05,
                seed: *seed,
            };
            let sources: Vec<usize> = (0..600)
                .map(|i| if by_source { i % 2 } else { 0 })
                .collect();
            let found = independence_by_source(&items, &sources, &labels, &test).unwrap();
            found.contradicted()
        };
        (0..RUNS).filter(contradicted).count() as u64
    };
    let quiet = flagged(0.0, true);
    assert!(
        binomial_upper_tail(quiet, RUNS, 0.05).unwrap().high() > 1e-9,
        "{quiet}"
    );
    // Power: a second source that mostly copies the first is found nearly always.
    assert!(flagged(0.8, true) > RUNS * 9 / 10);
    // Negative control: taken for one source, they are "dependent" in every data set.
    assert!(flagged(0.0, false) > RUNS * 9 / 10);
}

/// All deals within two sources, enumerated, against the random ones.
#[test]
fn deals_within_sources_are_those_of_the_definition() {
    // No two deals have the same statistic.
    let x = [[0.91, 0.22], [0.73, 0.345], [0.42, 0.631], [0.857, 0.11]];
    let factors: Vec<Distribution> = x.iter().flatten().map(|&p| d(&[p, 1.0 - p])).collect();
    let items = Items::new(&factors, &[0, 2, 4, 6, 8]).unwrap();
    let test = IndependenceTest {
        permutations: 20_000,
        ..Default::default()
    };
    let sources = [0, 1, 0, 1, 0, 1, 0, 1];
    let found = independence_by_source(&items, &sources, &[0; 4], &test).unwrap();
    // Σ over entities of the product of what each source's item is above its source's mean; dealing the
    // second source's items is enough, as only who stands beside whom counts.
    let mean = |s: usize| x.iter().map(|e| e[s]).sum::<f64>() / 4.0;
    let (a, b) = (mean(0), mean(1));
    let statistic =
        |order: &[usize]| -> f64 { (0..4).map(|e| (x[e][0] - a) * (x[order[e]][1] - b)).sum() };
    let all = arrangements(4);
    let observed = statistic(&[0, 1, 2, 3]).abs();
    let reached = all
        .iter()
        .filter(|o| statistic(o).abs() >= observed - 1e-12)
        .count();
    let exact = reached as f64 / all.len() as f64;
    let got = found.classes[0].p_value.unwrap();
    let tolerance = 6.0 * (exact * (1.0 - exact) / 20_000.0).sqrt();
    assert!((got - exact).abs() <= tolerance, "{got} {exact}");
    let short = independence_by_source(&items, &[0; 3], &[0; 4], &test);
    assert!(matches!(
        short,
        Err(AssumptionError::Lengths {
            name: "sources",
            ..
        })
    ));
}

#[test]
fn holm_is_the_textbook_adjustment() {
    // By hand: 4·0.005, 3·0.01, 2·0.03, and 1·0.04 raised to the one before.
    assert_eq!(holm(&[0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02]);
    assert_eq!(holm(&[0.6, 0.7]), [1.0, 1.0]);
}

#[test]
fn the_same_p_values_for_any_number_of_threads() {
    let (factors, offsets, labels) = simulated(9, 30, 3, 0.2);
    let items = Items::new(&factors, &offsets).unwrap();
    let test = IndependenceTest {
        permutations: 199,
        ..Default::default()
    };
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| independence(&items, &labels, &test).unwrap())
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn edges_and_culprits() {
    let p = d(&[0.7, 0.3]);
    let test = IndependenceTest::default();
    // One item each: no pairs. All alike: no spread. One entity: nothing to deal to.
    for (n, offsets) in [(2, &[0, 1, 2][..]), (4, &[0, 2, 4]), (2, &[0, 2])] {
        let factors = vec![p.clone(); n];
        let items = Items::new(&factors, offsets).unwrap();
        let labels = vec![1; items.entities()];
        let found = independence(&items, &labels, &test).unwrap();
        assert_eq!((found.correlation, found.smallest_p()), (None, None));
        assert!(!found.contradicted() && found.sentence().contains("say nothing"));
    }
    let factors = [p.clone(), p];
    let items = Items::new(&factors, &[0, 2]).unwrap();
    for wrong in [
        IndependenceTest {
            permutations: 0,
            ..test
        },
        IndependenceTest {
            level: f64::NAN,
            ..test
        },
        IndependenceTest { level: 1.0, ..test },
    ] {
        assert!(matches!(
            independence(&items, &[0], &wrong),
            Err(AssumptionError::Parameter(_))
        ));
    }
    assert!(independence(&items, &[2], &test).is_err());
}
