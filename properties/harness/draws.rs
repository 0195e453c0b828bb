//! Where a property's randomness comes from: streams and generated cases, all from one seed.

use lpf::latent::random::{Stream, key, text_key};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{
    Config, FileFailurePersistence, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner,
};

use super::check::Check;

/// The seed of a run, and the property that draws.
#[derive(Clone, Copy, Debug)]
pub struct Draws {
    pub seed: u64,
    pub property: &'static str,
}

/// What a generated case is to answer.
pub type Verdict = Result<(), String>;

impl Draws {
    /// The stream of one trial of one part of the property. No two trials share one.
    pub fn stream(&self, part: &str, trial: u64) -> Stream {
        Stream::new(self.seed, text_key(self.property), text_key(part), trial)
    }

    /// Generated cases of a claim without exceptions. A failing case is made smaller, and its
    /// seed is written to `properties/regressions/`, to be committed and run first from then on.
    pub fn for_all<S: Strategy>(
        &self,
        part: &str,
        cases: u32,
        strategy: &S,
        claim: impl Fn(S::Value) -> Verdict,
    ) -> Check {
        let path = format!("properties/regressions/{}.{part}.txt", self.property);
        let file = FileFailurePersistence::Direct(Box::leak(path.into_boxed_str()));
        let config = Config {
            failure_persistence: Some(Box::new(file)),
            ..Config::with_cases(cases)
        };
        let cases = u64::from(config.cases);
        let mut runner = self.runner(part, config);
        match runner.run(strategy, |value| claim(value).map_err(TestCaseError::fail)) {
            Ok(()) => Check::exact(cases, 0),
            Err(TestError::Fail(why, value)) => {
                let mut check = Check::exact(cases, 1);
                check.detail = format!("{part}: {why}; smallest case found: {value:?}");
                check
            }
            Err(TestError::Abort(why)) => {
                let mut check = Check::exact(cases, cases);
                check.detail = format!("{part}: no cases: {why}");
                check
            }
        }
    }

    /// The same kind of cases for a claim that is known to be wrong. All of them are tried, so that
    /// the record shows how often the test sees the fault, not only that it does.
    pub fn control<S: Strategy>(
        &self,
        part: &str,
        cases: u32,
        strategy: &S,
        claim: impl Fn(S::Value) -> Verdict,
    ) -> Check {
        let mut runner = self.runner(part, Config::with_cases(cases));
        Check::cases((0..cases).map(|_| match strategy.new_tree(&mut runner) {
            Ok(tree) => claim(tree.current()),
            // A case that could not be made shows nothing.
            Err(_) => Ok(()),
        }))
    }

    fn runner(&self, part: &str, config: Config) -> TestRunner {
        let key = key(self.seed, text_key(self.property), text_key(part), u64::MAX);
        TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &key))
    }
}

/// `Ok` where `holds`, else what `what` says.
pub fn ensure(holds: bool, what: impl FnOnce() -> String) -> Verdict {
    if holds { Ok(()) } else { Err(what()) }
}
