//! Sum-product networks over categorical variables.
