//! The paper's experiments, run on the embedded synthetic data.
