//! Stage 4: from weighted factors to one distribution.
