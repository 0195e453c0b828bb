//! Statistical and algebraic properties, one file for each theorem or lemma.
