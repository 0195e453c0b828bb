//! Pinned tables: what the paper prints, and what our own runs give.
