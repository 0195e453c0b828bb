//! The description of a file, bounded before the `parquet` crate reads it.
//!
//! The crate walks the schema by recursion and makes room for every list that is announced. Here the
//! lists are counted and the depth of the schema is measured without recursion.

use super::TableError;
use super::thrift::{LIST, MAX_DEPTH, STRUCT, Stop, Thrift};
use crate::log::limits::{LimitError, Limits};

/// That a description is one that can be read in little memory and on a small stack.
///
/// # Errors
/// [`TableError::Limit`], or [`TableError::NotParquet`] where it makes no sense.
pub(super) fn check(bytes: &[u8], limits: &Limits) -> Result<(), TableError> {
    let mut footer = Footer {
        thrift: Thrift {
            bytes,
            at: 0,
            most: bytes.len() as u64,
        },
        limits,
        columns: 0,
    };
    footer.walk().map_err(|end| match end {
        End::Limit(error) => TableError::Limit(error),
        End::Unreadable => TableError::NotParquet("its description cannot be read".to_string()),
    })
}

/// Why the walk ends early.
enum End {
    Limit(LimitError),
    Unreadable,
}

impl From<LimitError> for End {
    fn from(error: LimitError) -> Self {
        End::Limit(error)
    }
}

impl From<Stop> for End {
    fn from(_: Stop) -> Self {
        End::Unreadable
    }
}

struct Footer<'a> {
    thrift: Thrift<'a>,
    limits: &'a Limits,
    /// Columns so far, each counted as deep as it lies.
    columns: u64,
}

impl Footer<'_> {
    fn count(&mut self, more: u64) -> Result<(), LimitError> {
        self.columns = self.columns.saturating_add(more);
        self.limits.columns(self.columns)
    }

    fn walk(&mut self) -> Result<(), End> {
        let mut id = 0;
        while let Some(kind) = self.thrift.field(&mut id)? {
            // Numbers of the format's own definition (parquet.thrift).
            match (id, kind) {
                (2, LIST) => self.schema()?,
                (4, LIST) => self.groups()?,
                (_, kind) => self.thrift.skip(kind, MAX_DEPTH)?,
            }
        }
        Ok(())
    }

    /// The elements of the schema, each followed by its children.
    fn schema(&mut self) -> Result<(), End> {
        let (kind, count) = self.thrift.list()?;
        // Children that are still to come, one number for each level.
        let mut open: Vec<i64> = Vec::new();
        for _ in 0..count {
            if kind != STRUCT {
                return Err(Stop::Wrong.into());
            }
            while open.last() == Some(&0) {
                open.pop();
            }
            if let Some(left) = open.last_mut() {
                *left -= 1;
            }
            let children = self.children()?;
            self.count(open.len() as u64 + 1)?;
            if children > 0 {
                open.push(children);
                self.limits.depth(open.len() as u64)?;
            }
        }
        Ok(())
    }

    /// How many children an element says it has.
    fn children(&mut self) -> Result<i64, Stop> {
        let (mut id, mut children) = (0, 0);
        while let Some(kind) = self.thrift.field(&mut id)? {
            match (id, kind) {
                (5, 4..=6) => children = self.thrift.integer()?,
                (_, kind) => self.thrift.skip(kind, MAX_DEPTH)?,
            }
        }
        Ok(children)
    }

    fn groups(&mut self) -> Result<(), End> {
        let (kind, count) = self.thrift.list()?;
        for _ in 0..count {
            if kind != STRUCT {
                return Err(Stop::Wrong.into());
            }
            self.count(1)?;
            let mut id = 0;
            while let Some(kind) = self.thrift.field(&mut id)? {
                if (id, kind) != (1, LIST) {
                    self.thrift.skip(kind, MAX_DEPTH)?;
                    continue;
                }
                let (kind, columns) = self.thrift.list()?;
                self.count(columns)?;
                for _ in 0..columns {
                    self.thrift.skip(kind, MAX_DEPTH)?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A schema whose elements have these numbers of children, and nothing else.
    fn schema(children: &[u8]) -> Vec<u8> {
        // Field 2, a list of more than 14 structs, their number in two bytes.
        let count = children.len();
        let mut bytes = vec![0x29, 0xfc, (count & 0x7f) as u8 | 0x80, (count >> 7) as u8];
        for &n in children {
            // Field 5, a whole number: 0, 1, 2, … are written as 0, 2, 4, …
            bytes.extend([0x55, 2 * n, 0]);
        }
        bytes.push(0);
        bytes
    }

    fn found(bytes: &[u8], limits: &Limits) -> String {
        check(bytes, limits).map_or_else(|e| e.to_string(), |()| "fine".to_string())
    }

    #[test]
    fn depth_and_columns_are_counted_as_they_nest() {
        let limits = Limits::default();
        assert_eq!(found(&schema(&[2, 0, 0]), &limits), "fine");
        // A chain as deep as is allowed, and one deeper.
        let most = limits.depth as usize;
        assert_eq!(
            found(&schema(&[vec![1; most], vec![0]].concat()), &limits),
            "fine"
        );
        let deep = found(&schema(&vec![1; 3000]), &limits);
        assert!(deep.starts_with("more than 64 levels of nesting"), "{deep}");
        // Side by side is not deep: a root with 60 children of one child each.
        let flat: Vec<u8> = [vec![60], [1, 0].repeat(60)].concat();
        assert_eq!(found(&schema(&flat), &limits), "fine");
        let few = Limits {
            columns: 4,
            ..limits
        };
        // 1 + 2 + 2 = 5.
        assert!(found(&schema(&[2, 0, 0]), &few).starts_with("more than 4 columns"));
        assert_eq!(found(&schema(&[1, 0]), &few), "fine");
        // Field 4: two groups, the first with a list of three columns.
        let groups = [0x49, 0x2c, 0x19, 0x3c, 0, 0, 0, 0, 0, 0];
        assert_eq!(
            found(
                &groups,
                &Limits {
                    columns: 5,
                    ..limits
                }
            ),
            "fine"
        );
        assert!(found(&groups, &few).starts_with("more than 4"));
    }

    #[test]
    fn what_makes_no_sense_ends() {
        let limits = Limits::default();
        // A list of 2^34 structs, of numbers, a field without its value, nothing at all.
        let endless = [0x29, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x3f, 0];
        for bytes in [&endless[..], &[0x29, 0xf5, 0x80], &[0x29], &[]] {
            assert!(
                found(bytes, &limits).contains("cannot be read"),
                "{bytes:?}"
            );
        }
    }
}
