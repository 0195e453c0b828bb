//! Numbers in order with their counts, in bounded memory whatever their number.
//!
//! As long as there are no more than [`MOST`] different numbers, each is kept by itself and nothing is lost.
//! Of more, numbers with the same leading bits share a cell, with as many bits as leave no more than
//! [`MOST`] cells. How many that are depends on the set of numbers alone: fewer numbers never need fewer
//! bits. So neither the order of the numbers nor where they were counted changes anything.

/// Cells at most: 10 MiB.
pub(super) const MOST: usize = 1 << 18;

/// The numbers of one cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cell {
    /// Leading bits: rising with the numbers.
    key: u64,
    /// The smallest number.
    pub low: f64,
    /// The largest.
    pub high: f64,
    /// How many of them count as hits.
    pub hits: u64,
    /// How many there are.
    pub count: u64,
}

/// Counted numbers.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    most: usize,
    /// Bits that are not looked at.
    cut: u32,
    /// By rising numbers.
    cells: Vec<Cell>,
    /// Not yet in their place.
    waiting: Vec<Cell>,
}

/// Bits whose order is that of the numbers.
fn key(x: f64) -> u64 {
    let bits = x.to_bits();
    match bits >> 63 {
        0 => bits | 1 << 63,
        _ => !bits,
    }
}

impl Cells {
    /// None yet, and never more than `most`, which is two or more: then one bit is always left.
    pub(super) fn of_most(most: usize) -> Self {
        Cells {
            most: most.max(2),
            cut: 0,
            cells: Vec::new(),
            waiting: Vec::new(),
        }
    }

    /// Counts a number, which is not NaN.
    pub(super) fn add(&mut self, x: f64, hit: bool) {
        // Minus zero plus zero is zero.
        let x = x + 0.0;
        self.waiting.push(Cell {
            key: key(x) >> self.cut,
            low: x,
            high: x,
            hits: hit.into(),
            count: 1,
        });
        if self.waiting.len() >= self.most {
            self.settle();
        }
    }

    /// Puts what waits in its place.
    fn settle(&mut self) {
        self.cells.append(&mut self.waiting);
        self.cells.sort_unstable_by_key(|cell| cell.key);
        self.unite();
        while self.cells.len() > self.most {
            self.cut += 1;
            self.cells.iter_mut().for_each(|cell| cell.key >>= 1);
            self.unite();
        }
    }

    /// Makes one cell of neighbours with the same bits.
    fn unite(&mut self) {
        self.cells.dedup_by(|next, cell| {
            let same = next.key == cell.key;
            if same {
                cell.low = cell.low.min(next.low);
                cell.high = cell.high.max(next.high);
                cell.hits += next.hits;
                cell.count += next.count;
            }
            same
        });
    }

    /// All cells, by rising numbers.
    pub(super) fn finish(mut self) -> Vec<Cell> {
        self.settle();
        self.cells
    }
}

/// The most numbers of a cell in which not all are equal; zero where nothing was lost.
pub(super) fn most_united(cells: &[Cell]) -> u64 {
    let mixed = cells.iter().filter(|cell| cell.low < cell.high);
    mixed.map(|cell| cell.count).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cells(most: usize, numbers: &[(f64, bool)]) -> Cells {
        let mut cells = Cells::of_most(most);
        for &(x, hit) in numbers {
            cells.add(x, hit);
        }
        cells
    }

    proptest! {
        #[test]
        fn order_changes_nothing_and_nothing_is_lost_but_the_order_within_a_cell(
            mut numbers in prop::collection::vec(
                (prop_oneof![0.0f64..1.0, Just(0.5), Just(-0.0), Just(f64::INFINITY), -1e-15f64..1e-15],
                 any::<bool>()), 1..200),
            turn in any::<prop::sample::Index>(), most in 2usize..40,
        ) {
            let found = cells(most, &numbers).finish();
            prop_assert!(found.len() <= most);
            let turn = turn.index(numbers.len());
            numbers.rotate_left(turn);
            numbers.reverse();
            prop_assert_eq!(&cells(most, &numbers).finish(), &found);
            // Rising, apart, and each with what lies in it.
            prop_assert!(found.windows(2).all(|pair| pair[0].high < pair[1].low));
            for cell in &found {
                let inside = numbers.iter().filter(|(x, _)| (cell.low..=cell.high).contains(x));
                let (mut hits, mut count) = (0, 0);
                for (_, hit) in inside {
                    (hits, count) = (hits + u64::from(*hit), count + 1);
                }
                prop_assert_eq!((cell.hits, cell.count), (hits, count));
            }
            // As fine as the memory allows: with one bit more there would be too many.
            let kept = { let mut kept = cells(most, &numbers); kept.settle(); kept };
            if let Some(finer) = kept.cut.checked_sub(1) {
                let mut keys: Vec<u64> = numbers.iter().map(|(x, _)| key(*x + 0.0) >> finer).collect();
                keys.sort_unstable();
                keys.dedup();
                prop_assert!(keys.len() > most);
            }
        }
    }

    #[test]
    fn only_cells_of_different_numbers_lose_something() {
        let exact = cells(2, &[(0.25, true), (0.5, false), (0.25, false)]).finish();
        assert_eq!((exact.len(), most_united(&exact)), (2, 0));
        // 0.5 and 0.75 share their exponent.
        let united = cells(2, &[(0.25, true), (0.5, false), (0.75, false)]).finish();
        assert_eq!((united.len(), most_united(&united)), (2, 2));
    }
}
