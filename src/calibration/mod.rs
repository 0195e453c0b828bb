//! Calibration error, reliability, proper scores, as mergeable accumulators.
