//! Stages 1 to 3: Gaussian posteriors, decoders, Monte Carlo factors, confidence weights.
