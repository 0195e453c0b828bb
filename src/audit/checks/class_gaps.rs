//! The ranges of every class's bins, which more than one check needs.

use std::cell::RefCell;
use std::rc::Rc;

use crate::audit::intervals::{BinGap, gaps_of};
use crate::calibration::Reliability;

type Gaps = Rc<Vec<Vec<BinGap>>>;

/// The bins of every class with their ranges, computed once for each level: with many classes they
/// cost more than the rest of an audit, and checks without a limit share one level.
pub(super) struct ClassGaps<'a> {
    classes: Vec<&'a Reliability>,
    known: RefCell<Vec<(f64, Gaps)>>,
}

impl<'a> ClassGaps<'a> {
    pub(super) fn new(classes: &'a [Reliability]) -> Self {
        ClassGaps {
            classes: classes.iter().collect(),
            known: RefCell::default(),
        }
    }

    /// The bins of each class, with ranges that all hold at once with probability `1 − δ`.
    pub(super) fn at(&self, delta: f64) -> Gaps {
        let mut known = self.known.borrow_mut();
        if let Some((_, gaps)) = known.iter().find(|(level, _)| *level == delta) {
            return Rc::clone(gaps);
        }
        let gaps = Rc::new(gaps_of(&self.classes, delta));
        known.push((delta, Rc::clone(&gaps)));
        gaps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_computed_once_and_is_that_of_the_bins_themselves() {
        let mut class = Reliability::new(10).unwrap();
        for i in 0..100u32 {
            class.add(f64::from(i) / 100.0, i % 3 == 0).unwrap();
        }
        let classes = [class.clone(), class];
        let gaps = ClassGaps::new(&classes);
        let first = gaps.at(0.05);
        assert!(Rc::ptr_eq(&first, &gaps.at(0.05)));
        let other = gaps.at(0.01);
        assert!(other[0][0].low < first[0][0].low || other[0][0].high > first[0][0].high);
        assert!(Rc::ptr_eq(&first, &gaps.at(0.05)) && Rc::ptr_eq(&other, &gaps.at(0.01)));
        assert_eq!(*first, gaps_of(&[&classes[0], &classes[1]], 0.05));
    }
}
