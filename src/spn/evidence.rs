//! What is known about the variables: nothing, a state, or a likelihood for each state.

use super::builder::Weight;
use super::network::Network;

/// Why a piece of evidence was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum EvidenceError {
    /// There is no such variable.
    #[error("there is no variable {variable}; the network has {variables}, counted from 0")]
    UnknownVariable { variable: usize, variables: usize },
    /// The variable has no such state.
    #[error("variable {variable} has no state {state}; it has {states}, counted from 0")]
    UnknownState {
        variable: usize,
        state: usize,
        states: usize,
    },
    /// More or fewer likelihoods than states.
    #[error(
        "{likelihoods} likelihoods for variable {variable}, which has {states} states; give one \
         per state"
    )]
    Length {
        variable: usize,
        states: usize,
        likelihoods: usize,
    },
    /// A likelihood is negative, infinite or not a number.
    #[error(
        "variable {variable}: the likelihood of state {state} is {value}; likelihoods are finite \
         and not negative"
    )]
    Likelihood {
        variable: usize,
        state: usize,
        value: f64,
    },
    /// The evidence was made for a network with other variables.
    #[error("the evidence was made for a network with other variables; make it from this one")]
    OtherNetwork,
}

/// What is known about one variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Known<'a, S> {
    /// Nothing: the variable is summed out.
    Nothing,
    /// Its state (hard evidence).
    State(usize),
    /// A likelihood for each state (soft evidence).
    Likelihood(&'a [S]),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Slot {
    Nothing,
    State(u32),
    Likelihood,
}

/// Evidence about the variables of a network.
///
/// Soft evidence `λ` on variable `v` multiplies the value of every assignment by `λ[x_v]`.
/// Its scale does not matter for conditional probabilities; a zero rules a state out. Hard
/// evidence is a likelihood of one for the observed state and of zero for the others.
///
/// ```
/// use lpf::{SpnBuilder, SpnEvidence};
///
/// let mut builder = SpnBuilder::new(&[2])?;
/// let root = builder.leaf(0, &[0.25, 0.75])?;
/// let network = builder.build(root)?;
/// let mut evidence = SpnEvidence::none(&network);
/// evidence.weigh(0, &[1.0, 0.5])?;
/// assert_eq!(network.evaluate(&evidence)?, 0.25 + 0.75 * 0.5);
/// # Ok::<(), lpf::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence<S = f64> {
    /// Where the likelihoods of a variable start, and one more.
    offsets: Vec<usize>,
    slots: Vec<Slot>,
    likelihoods: Vec<S>,
}

impl<S: Weight> Evidence<S> {
    /// No evidence about any variable of `network`.
    pub fn none<T>(network: &Network<T>) -> Self {
        let mut offsets = Vec::with_capacity(network.variables() + 1);
        offsets.push(0);
        let mut end = 0;
        for &states in network.cardinalities() {
            end += states;
            offsets.push(end);
        }
        Evidence {
            offsets,
            slots: vec![Slot::Nothing; network.variables()],
            likelihoods: vec![S::one(); end],
        }
    }

    /// Sets `variable` to be seen in `state`; earlier evidence about it is replaced.
    ///
    /// # Errors
    /// [`EvidenceError::UnknownVariable`], [`EvidenceError::UnknownState`].
    pub fn observe(&mut self, variable: usize, state: usize) -> Result<&mut Self, EvidenceError> {
        self.check_state(variable, state)?;
        self.slots[variable] = Slot::State(state as u32);
        Ok(self)
    }

    /// Sets the likelihood of each state of `variable`; earlier evidence about it is replaced.
    ///
    /// # Errors
    /// [`EvidenceError::UnknownVariable`], [`EvidenceError::Length`],
    /// [`EvidenceError::Likelihood`].
    pub fn weigh(
        &mut self,
        variable: usize,
        likelihoods: &[S],
    ) -> Result<&mut Self, EvidenceError> {
        let states = self.states(variable)?;
        if likelihoods.len() != states {
            return Err(EvidenceError::Length {
                variable,
                states,
                likelihoods: likelihoods.len(),
            });
        }
        for (state, likelihood) in likelihoods.iter().enumerate() {
            if !likelihood.is_weight() {
                return Err(EvidenceError::Likelihood {
                    variable,
                    state,
                    value: likelihood.shown(),
                });
            }
        }
        self.likelihoods[self.offsets[variable]..self.offsets[variable + 1]]
            .clone_from_slice(likelihoods);
        self.slots[variable] = Slot::Likelihood;
        Ok(self)
    }

    /// Rules out all states of `variable` but one, keeping the likelihood of that one.
    ///
    /// # Errors
    /// [`EvidenceError::UnknownVariable`], [`EvidenceError::UnknownState`].
    pub fn restrict(&mut self, variable: usize, state: usize) -> Result<&mut Self, EvidenceError> {
        let known = match self.slots.get(variable) {
            None | Some(Slot::Nothing) => return self.observe(variable, state),
            Some(&slot) => slot,
        };
        self.check_state(variable, state)?;
        let likelihoods = &mut self.likelihoods[self.offsets[variable]..self.offsets[variable + 1]];
        for (x, likelihood) in likelihoods.iter_mut().enumerate() {
            let before = match known {
                Slot::State(seen) if seen as usize == x => S::one(),
                Slot::State(_) => S::zero(),
                _ => likelihood.clone(),
            };
            *likelihood = if x == state { before } else { S::zero() };
        }
        self.slots[variable] = Slot::Likelihood;
        Ok(self)
    }

    fn check_state(&self, variable: usize, state: usize) -> Result<(), EvidenceError> {
        let states = self.states(variable)?;
        if state < states {
            return Ok(());
        }
        Err(EvidenceError::UnknownState {
            variable,
            state,
            states,
        })
    }

    fn states(&self, variable: usize) -> Result<usize, EvidenceError> {
        if variable >= self.slots.len() {
            return Err(EvidenceError::UnknownVariable {
                variable,
                variables: self.slots.len(),
            });
        }
        Ok(self.offsets[variable + 1] - self.offsets[variable])
    }
}

impl<S: Clone> Evidence<S> {
    /// Takes over what `other` knows about `variable`; both are about the same network.
    pub(super) fn copy(&mut self, variable: usize, other: &Evidence<S>) {
        let states = self.offsets[variable]..self.offsets[variable + 1];
        self.slots[variable] = other.slots[variable];
        self.likelihoods[states.clone()].clone_from_slice(&other.likelihoods[states]);
    }
}

impl<S> Evidence<S> {
    /// What is known about `variable`; nothing where there is no such variable.
    pub fn about(&self, variable: usize) -> Known<'_, S> {
        match self.slots.get(variable) {
            None | Some(Slot::Nothing) => Known::Nothing,
            Some(&Slot::State(state)) => Known::State(state as usize),
            Some(Slot::Likelihood) => Known::Likelihood(
                &self.likelihoods[self.offsets[variable]..self.offsets[variable + 1]],
            ),
        }
    }

    /// That the evidence is about the variables of `network`.
    pub(super) fn check_for<T>(&self, network: &Network<T>) -> Result<(), EvidenceError> {
        let fits = self.slots.len() == network.variables()
            && network
                .cardinalities()
                .iter()
                .zip(self.offsets.windows(2))
                .all(|(&states, w)| w[1] - w[0] == states);
        if fits {
            Ok(())
        } else {
            Err(EvidenceError::OtherNetwork)
        }
    }
}
