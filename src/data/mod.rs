//! Records, synthetic domains and model files.
