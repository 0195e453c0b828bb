//! Epistemic and aleatoric uncertainty (theorem 7).
