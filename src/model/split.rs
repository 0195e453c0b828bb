//! Which entities a model learns from, stops by and is judged by.

use std::ops::Range;

use crate::latent::random::{Stream, text_key};

/// Purpose of the stream that shuffles entities.
const SPLIT: u64 = text_key("synthetic: split by entity");

/// Entities for training, validation and test: 70, 15 and 15 in a hundred, in random order.
///
/// Whole entities go to one part: items of one entity know its class together, and would tell the
/// answer if they were spread over the parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    order: Vec<usize>,
    training: usize,
    validation: usize,
}

impl Split {
    /// Splits entities `0..count`.
    pub fn new(count: usize, seed: u64) -> Self {
        let mut order: Vec<usize> = (0..count).collect();
        let mut stream = Stream::new(seed, SPLIT, 0, 0);
        for last in (1..count).rev() {
            order.swap(last, stream.below(last as u64 + 1) as usize);
        }
        let held_out = count * 15 / 100;
        Split {
            order,
            training: count - 2 * held_out,
            validation: held_out,
        }
    }

    /// A split that was made elsewhere.
    pub fn given(training: &[usize], validation: &[usize], test: &[usize]) -> Self {
        Split {
            order: [training, validation, test].concat(),
            training: training.len(),
            validation: validation.len(),
        }
    }

    fn part(&self, range: Range<usize>) -> &[usize] {
        self.order.get(range).unwrap_or(&[])
    }

    /// To learn from.
    pub fn training(&self) -> &[usize] {
        self.part(0..self.training)
    }

    /// To stop by, and to choose by.
    pub fn validation(&self) -> &[usize] {
        self.part(self.training..self.training + self.validation)
    }

    /// To judge by, untouched until then.
    pub fn test(&self) -> &[usize] {
        self.part(self.training + self.validation..self.order.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_split_are_disjoint_and_complete() {
        let s = Split::new(900, 1);
        assert_eq!(
            (s.training().len(), s.validation().len(), s.test().len()),
            (630, 135, 135)
        );
        let mut all: Vec<usize> = [s.training(), s.validation(), s.test()].concat();
        assert_ne!(all, (0..900).collect::<Vec<_>>());
        all.sort_unstable();
        assert_eq!(all, (0..900).collect::<Vec<_>>());
        assert_ne!(s, Split::new(900, 2));
        for n in 0..10 {
            let s = Split::new(n, 1);
            assert_eq!(
                s.training().len() + s.validation().len() + s.test().len(),
                n
            );
        }
    }
}
