//! Sum-product networks.

use std::collections::BTreeMap;
use std::sync::Mutex;

use lpf::latent::random::Stream;
use lpf::spn::{NodeId, Workspace};
use lpf::{Spn, SpnBuilder, SpnEvidence};
use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray2};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;

use crate::errors::{Raised, plain};
use crate::work::run;

/// What is known of variables: a state, or a likelihood of each state.
#[derive(FromPyObject)]
pub(crate) enum Known {
    State(usize),
    Likelihood(Vec<f64>),
}

type Evidence = BTreeMap<usize, Known>;

/// A network that is being built.
#[pyclass(frozen, module = "lpf._lpf")]
pub(crate) struct Builder(Mutex<Inner>);

struct Inner {
    builder: SpnBuilder,
    nodes: Vec<NodeId>,
}

impl Builder {
    fn with<T>(&self, py: Python<'_>, work: impl FnOnce(&mut Inner) -> PyResult<T>) -> PyResult<T> {
        match self.0.lock() {
            Ok(mut inner) => work(&mut inner),
            Err(_) => Err(plain(
                py,
                "NetworkError",
                "the network is of no further use",
            )),
        }
    }
}

impl Inner {
    fn node(&self, py: Python<'_>, index: usize) -> PyResult<NodeId> {
        let found = self.nodes.get(index).copied();
        found.ok_or_else(|| plain(py, "NetworkError", format!("there is no node {index}")))
    }

    fn add(&mut self, node: NodeId) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }
}

#[pymethods]
impl Builder {
    #[new]
    fn new(py: Python<'_>, cardinalities: Vec<usize>) -> PyResult<Self> {
        let builder = SpnBuilder::new(&cardinalities).raised(py)?;
        let nodes = Vec::new();
        Ok(Builder(Mutex::new(Inner { builder, nodes })))
    }

    fn leaf(&self, py: Python<'_>, variable: usize, values: Vec<f64>) -> PyResult<usize> {
        self.with(py, |inner| {
            let node = inner.builder.leaf(variable, &values).raised(py)?;
            Ok(inner.add(node))
        })
    }

    fn indicator(&self, py: Python<'_>, variable: usize, state: usize) -> PyResult<usize> {
        self.with(py, |inner| {
            let node = inner.builder.indicator(variable, state).raised(py)?;
            Ok(inner.add(node))
        })
    }

    fn sum(&self, py: Python<'_>, children: Vec<(usize, f64)>) -> PyResult<usize> {
        self.with(py, |inner| {
            let children = children.iter().map(|(i, w)| Ok((inner.node(py, *i)?, *w)));
            let children = children.collect::<PyResult<Vec<_>>>()?;
            let node = inner.builder.sum(&children).raised(py)?;
            Ok(inner.add(node))
        })
    }

    fn product(&self, py: Python<'_>, children: Vec<usize>) -> PyResult<usize> {
        self.with(py, |inner| {
            let children = children.iter().map(|i| inner.node(py, *i));
            let children = children.collect::<PyResult<Vec<_>>>()?;
            let node = inner.builder.product(&children).raised(py)?;
            Ok(inner.add(node))
        })
    }

    fn build(&self, py: Python<'_>, root: usize) -> PyResult<Network> {
        self.with(py, |inner| {
            let root = inner.node(py, root)?;
            let network = inner.builder.clone().build(root).raised(py)?;
            Ok(Network(Spn::new(network)))
        })
    }
}

/// A network that answers questions.
#[pyclass(frozen, module = "lpf._lpf")]
pub(crate) struct Network(Spn);

impl Network {
    fn evidence(&self, py: Python<'_>, known: &Evidence) -> PyResult<SpnEvidence> {
        let mut evidence = SpnEvidence::none(self.0.network());
        for (&variable, known) in known {
            let said = match known {
                Known::State(state) => evidence.observe(variable, *state),
                Known::Likelihood(likelihood) => evidence.weigh(variable, likelihood),
            };
            said.raised(py)?;
        }
        Ok(evidence)
    }
}

#[pymethods]
impl Network {
    #[getter]
    fn cardinalities(&self) -> Vec<usize> {
        self.0.network().cardinalities().to_vec()
    }

    #[getter]
    fn nodes(&self) -> usize {
        self.0.network().nodes()
    }

    fn log_probability(&self, py: Python<'_>, evidence: Evidence) -> PyResult<f64> {
        let evidence = self.evidence(py, &evidence)?;
        let found = run(py, Some(1), |_| {
            self.0.log_probability(&evidence, &mut Workspace::new())
        })?;
        found.raised(py)
    }

    fn marginals(&self, py: Python<'_>, evidence: Evidence) -> PyResult<Vec<Vec<f64>>> {
        let evidence = self.evidence(py, &evidence)?;
        let variables = self.0.network().variables();
        let found = run(py, Some(1), |_| {
            let mut workspace = Workspace::new();
            let marginals = self.0.marginals(&evidence, &mut workspace)?;
            let each = (0..variables).map(|v| marginals.probabilities(v).to_vec());
            Ok::<_, lpf::Error>(each.collect())
        })?;
        found.raised(py)
    }

    /// The assignment, its logarithm, a bound on that of any, and whether it is a best one.
    fn most_probable(
        &self,
        py: Python<'_>,
        evidence: Evidence,
        passes: usize,
    ) -> PyResult<(Vec<usize>, f64, f64, bool)> {
        let evidence = self.evidence(py, &evidence)?;
        let found = run(py, Some(1), |_| {
            self.0
                .most_probable(&evidence, passes, &mut Workspace::new())
        })?;
        let best = found.raised(py)?;
        Ok((best.assignment, best.log_value, best.log_bound, best.exact))
    }

    fn sample<'py>(
        &self,
        py: Python<'py>,
        evidence: Evidence,
        n: usize,
        seed: u64,
    ) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let evidence = self.evidence(py, &evidence)?;
        let variables = self.0.network().variables();
        // Asked for before any is drawn: too many are an error, not the end of the process.
        let mut all: Vec<i64> = Vec::new();
        let reserved = n.checked_mul(variables).map(|n| all.try_reserve_exact(n));
        if !matches!(reserved, Some(Ok(()))) {
            let what = format!("{n} assignments of {variables} variables do not fit into memory");
            return Err(PyMemoryError::new_err(what));
        }
        let drawn = run(py, Some(1), |stop| {
            let mut workspace = Workspace::new();
            let mut sampler = self.0.sampler(&evidence, &mut workspace)?;
            let mut rng = Stream::new(seed, 0, 0, 0);
            let mut one = Vec::new();
            for _ in 0..n {
                stop.look();
                sampler.draw(&mut rng, &mut one);
                all.extend(one.iter().map(|&state| state as i64));
            }
            Ok::<_, lpf::Error>(all)
        })?;
        let drawn = Array2::from_shape_vec((n, variables), drawn.raised(py)?);
        let drawn = drawn.map_err(|error| plain(py, "NetworkError", error))?;
        Ok(drawn.into_pyarray(py))
    }
}
