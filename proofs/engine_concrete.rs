//! The `cargo test` side of the engine: enumeration and random draws.

use std::cell::RefCell;
use std::collections::BTreeMap;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Cases;

/// One seed for all random domains: a harness fails in every run or in none.
const SEED: u64 = 0x5eed;

thread_local! {
    // Tests run on a thread each, so that harness bodies need no argument for their source.
    static RUN: RefCell<Run> = const { RefCell::new(Run::new()) };
}

/// The state of one harness's run.
struct Run {
    /// `None` while enumerating.
    random: Option<ChaCha8Rng>,
    /// The choices of this case: value and size of the domain. When enumerating, those up to
    /// `position` are taken from here; the last one that can be raised is raised for the next case.
    choices: Vec<(u64, u64)>,
    position: usize,
    kept: bool,
    covers: BTreeMap<&'static str, bool>,
}

impl Run {
    const fn new() -> Self {
        Run {
            random: None,
            choices: Vec::new(),
            position: 0,
            kept: true,
            covers: BTreeMap::new(),
        }
    }

    /// A value in `0..size`, with `size = 0` standing for 2⁶⁴.
    fn choose(&mut self, size: u64) -> u64 {
        let position = self.position;
        self.position += 1;
        if let Some(random) = &mut self.random {
            // The remainder is biased by less than 2⁻³² for the sizes in use; no test is
            // statistical.
            let value = random.next_u64();
            let value = if size == 0 { value } else { value % size };
            self.choices.push((value, size));
            return value;
        }
        assert!(
            (1..=1 << 16).contains(&size),
            "a domain of this size cannot be enumerated; draw it at random"
        );
        if position == self.choices.len() {
            self.choices.push((0, size));
        }
        self.choices[position].0
    }

    /// Moves on to the next case of an enumeration; false after the last.
    fn advance(&mut self) -> bool {
        while let Some((value, size)) = self.choices.pop() {
            if value + 1 < size {
                self.choices.push((value + 1, size));
                return true;
            }
        }
        false
    }
}

fn choose(size: u64) -> u64 {
    RUN.with_borrow_mut(|run| run.choose(size))
}

/// Types with a symbolic value.
pub(crate) trait Any {
    /// Any value of the type.
    fn any() -> Self;
}

/// Any value of `T`.
pub(crate) fn any<T: Any>() -> T {
    T::any()
}

/// Any value in `0..n`.
pub(crate) fn below(n: u8) -> u8 {
    choose(n.into()) as u8
}

macro_rules! any_integer {
    ($($t:ty, $size:expr);*) => {$(
        impl Any for $t {
            fn any() -> Self {
                choose($size) as $t
            }
        }
    )*};
}
any_integer!(u8, 1 << 8; i8, 1 << 8; u16, 1 << 16; u32, 1 << 32; u64, 0; usize, 0);

impl Any for bool {
    fn any() -> Self {
        choose(2) == 1
    }
}

impl<T: Any, const N: usize> Any for [T; N] {
    fn any() -> Self {
        std::array::from_fn(|_| T::any())
    }
}

/// Uniform bits are nearly always huge or tiny, never equal, and never add up to one: the draws
/// below reach ties, edges and sums of one as well.
macro_rules! any_float {
    ($t:ident, $bits:ident, $size:expr, $last:ident) => {
        thread_local! {
            /// The last value, and what the values of this case lack of one.
            static $last: RefCell<($t, $t)> = const { RefCell::new((0.0, 1.0)) };
        }

        impl Any for $t {
            fn any() -> Self {
                const EDGES: [$t; 16] = [
                    0.0,
                    -0.0,
                    1.0,
                    -1.0,
                    0.5,
                    1.0 - $t::EPSILON / 2.0,
                    1.0 + $t::EPSILON,
                    $t::MIN_POSITIVE,
                    $t::from_bits(1),
                    -$t::from_bits(1),
                    $t::MAX,
                    $t::MAX / 2.0,
                    $t::MIN,
                    $t::INFINITY,
                    $t::NEG_INFINITY,
                    $t::NAN,
                ];
                if RUN.with_borrow(|run| run.position == 0) {
                    $last.set((0.0, 1.0));
                }
                let (last, rest) = $last.with_borrow(|&x| x);
                let x = match choose(12) {
                    0..=2 => $t::from_bits(choose($size) as $bits),
                    3 => EDGES[choose(16) as usize],
                    4 => choose(17) as $t - 8.0,
                    5 => last,
                    6 => last.next_up(),
                    7..=8 => rest,
                    9 => rest + (choose(17) as $t - 8.0) * ($t::EPSILON / 4.0),
                    _ => choose(1 << 24) as $t / (1u32 << 24) as $t,
                };
                $last.set((x, rest - x));
                x
            }
        }
    };
}
any_float!(f32, u32, 1 << 32, LAST_F32);
any_float!(f64, u64, 0, LAST_F64);

/// Notes whether the case is kept; for `assume!`.
pub(crate) fn keep(condition: bool) -> bool {
    RUN.with_borrow_mut(|run| run.kept &= condition);
    condition
}

macro_rules! assume {
    ($condition:expr) => {
        if !$crate::proofs::engine::keep($condition) {
            return;
        }
    };
}

/// Notes that a case got here, with the condition or without; for `cover!`.
pub(crate) fn reach(condition: bool, what: &'static str) {
    RUN.with_borrow_mut(|run| *run.covers.entry(what).or_insert(false) |= condition);
}

macro_rules! cover {
    ($condition:expr, $what:literal) => {
        $crate::proofs::engine::reach($condition, $what)
    };
}

/// Says which case failed.
struct Witness(u64);

impl Drop for Witness {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let choices = RUN.with_borrow(|run| run.choices.clone());
            println!("witness: case {} with choices {choices:?}", self.0);
        }
    }
}

/// Runs `body` for each case, and fails unless the domain has the stated size, some case is not
/// assumed away, and every `cover!` is reached with its condition.
pub(crate) fn check(cases: Cases, body: impl Fn()) {
    RUN.set(Run::new());
    if let Cases::Random(_) = cases {
        RUN.with_borrow_mut(|run| run.random = Some(ChaCha8Rng::seed_from_u64(SEED)));
    }
    let mut witness = Witness(0);
    let mut kept = 0u64;
    loop {
        RUN.with_borrow_mut(|run| (run.position, run.kept) = (0, true));
        body();
        witness.0 += 1;
        let more = RUN.with_borrow_mut(|run| {
            kept += u64::from(run.kept);
            match cases {
                Cases::All(_) => run.advance(),
                Cases::Random(n) => {
                    run.choices.clear();
                    witness.0 < n
                }
            }
        });
        if !more {
            break;
        }
    }
    let done = witness.0;
    drop(witness);
    let (how, stated) = match cases {
        Cases::All(n) => ("all", n),
        Cases::Random(n) => ("random", n),
    };
    let covers = RUN.with_borrow(|run| run.covers.clone());
    let reached = covers.values().filter(|&&x| x).count();
    // The runner reads this line.
    println!(
        "cases: {how} {done}, kept {kept}, covers {reached} of {}",
        covers.len()
    );
    assert_eq!(done, stated, "the domain has another size than stated");
    assert!(kept > 0, "the assumptions exclude every case");
    for (what, reached) in covers {
        assert!(reached, "never reached: {what}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enumeration_takes_every_pair_once_even_where_a_domain_depends_on_a_choice() {
        let seen = RefCell::new(Vec::new());
        check(Cases::All(1 + 2 + 3), || {
            let n = below(3);
            let k = below(n + 1);
            seen.borrow_mut().push((n, k));
        });
        assert_eq!(
            seen.into_inner(),
            [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)]
        );
    }

    #[test]
    #[should_panic(expected = "another size than stated")]
    fn a_wrong_count_is_noticed() {
        check(Cases::All(255), || {
            let _: u8 = any();
        });
    }

    #[test]
    #[should_panic(expected = "exclude every case")]
    fn a_vacuous_assumption_is_noticed() {
        check(Cases::All(256), || {
            let x: u8 = any();
            assume!(u16::from(x) > 255);
        });
    }

    #[test]
    #[should_panic(expected = "never reached: large")]
    fn an_unreachable_cover_is_noticed() {
        check(Cases::All(256), || {
            let x: u8 = any();
            assume!(x < 100);
            cover!(x > 50, "middling");
            cover!(x > 100, "large");
        });
    }

    #[test]
    #[should_panic(expected = "cannot be enumerated")]
    fn a_domain_too_large_is_refused() {
        check(Cases::All(1), || {
            let _: u32 = any();
        });
    }

    #[test]
    fn random_floats_reach_ties_edges_and_sums_of_one() {
        check(Cases::Random(200_000), || {
            let [a, b]: [f64; 2] = any();
            cover!(a == b && a > 0.0, "tie");
            cover!(a + b == 1.0 && a > 0.0 && b > 0.0, "sum of one");
            cover!(a.is_nan() && b == f64::INFINITY, "edges");
            cover!(a.is_subnormal(), "subnormal");
        });
    }
}
