//! How much of anything that comes from outside is taken in.
//!
//! A size is checked before memory is made for it or work is done on it. With the defaults no input,
//! however hostile, makes a command take a gibibyte.

/// One limit: its name, its default, and what it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LimitKind {
    /// What it is called in messages and on the command line.
    pub name: &'static str,
    /// Its value unless another is set.
    pub default: u64,
    /// What it counts, after a number: `items in one record`.
    pub counts: &'static str,
}

/// Something is larger than a limit allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("more than {most} {}, the limit {}", kind.counts, kind.name)]
#[non_exhaustive]
pub struct LimitError {
    /// Which limit.
    pub kind: LimitKind,
    /// Its value.
    pub most: u64,
}

/// No limit has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no limit is called {0:?}; the limits are {names}", names = Limits::names())]
pub struct UnknownLimit(String);

macro_rules! limits {
    ($($field:ident $name:literal $default:expr, $counts:literal;)*) => {
        /// The most that is taken in of everything that comes from outside.
        ///
        /// ```
        /// use lpf::log::Limits;
        ///
        /// let mut limits = Limits::default();
        /// limits.set("items", 5)?;
        /// assert_eq!(limits.items, 5);
        /// # Ok::<(), lpf::log::UnknownLimit>(())
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Limits {
            $(#[doc = concat!("The most ", $counts, ".")] pub $field: u64,)*
        }

        impl Default for Limits {
            fn default() -> Self {
                Limits { $($field: $default,)* }
            }
        }

        impl Limits {
            /// All limits, in the order in which they are documented.
            pub const ALL: &'static [LimitKind] = &[
                $(LimitKind { name: $name, default: $default, counts: $counts },)*
            ];

            /// All limits with their values.
            pub fn values_of_all(&self) -> impl Iterator<Item = (&'static LimitKind, u64)> {
                let values = [$(self.$field,)*];
                Limits::ALL.iter().zip(values)
            }

            /// Sets a limit by its name.
            ///
            /// # Errors
            /// [`UnknownLimit`].
            pub fn set(&mut self, name: &str, value: u64) -> Result<(), UnknownLimit> {
                match name {
                    $($name => self.$field = value,)*
                    _ => return Err(UnknownLimit(name.chars().take(40).collect())),
                }
                Ok(())
            }

            $(#[doc = concat!("That `found` is within the limit `", $name, "`.")]
            ///
            /// # Errors
            /// [`LimitError`] where it is not.
            pub(crate) fn $field(&self, found: u64) -> Result<(), LimitError> {
                if found <= self.$field {
                    return Ok(());
                }
                let kind = LimitKind { name: $name, default: $default, counts: $counts };
                Err(LimitError { kind, most: self.$field })
            })*
        }
    };
}

limits! {
    line_bytes "line-bytes" 64 << 20, "bytes in one line";
    name_bytes "name-bytes" 64 << 10, "bytes in a name or label";
    items "items" 1 << 20, "items in one record";
    values "values" 4 << 20, "numbers, names and items in one record";
    classes "classes" 1 << 16, "classes";
    dimension "dimension" 1 << 16, "numbers in an embedding or a mean";
    covariance "covariance" 1024, "rows of a covariance, whose factorization takes their cube";
    samples "samples" 1 << 20, "samples for an item";
    learned_items "learned-items" 2048, "items for the learned aggregation, which compares all pairs";
    hidden "hidden" 4096, "hidden units";
    threads "threads" 1024, "threads";
    entities "entities" 1 << 24, "synthetic entities in memory";
    model_bytes "model-bytes" 256 << 20, "bytes in a model file";
    header_bytes "header-bytes" 1 << 20, "bytes in the header of a model file";
    map_bytes "map-bytes" 16 << 20, "bytes in a calibration map";
    fit_numbers "fit-numbers" 4 << 20, "numbers of the rows that a calibration map is fitted on, eight a row beside its probabilities; more rows are sampled";
    state_bytes "state-bytes" 64 << 20, "bytes in the state of an audit";
    slices "slices" 1000, "slices of an audit: values of the fields that it is sliced by, and of their pairs";
    unpacked_bytes "unpacked-bytes" 1 << 38, "bytes of a compressed log, once unpacked";
    footer_bytes "footer-bytes" 16 << 20, "bytes in the description of a Parquet or Arrow file";
    columns "columns" 1 << 17, "columns of a file, counted in every row group and at every level of nesting";
    depth "depth" 64, "levels of nesting in the schema of a Parquet or Arrow file";
    group_bytes "group-bytes" 256 << 20, "bytes in memory at once for a row group of a Parquet file or a batch of an Arrow file; write smaller pages or batches";
}

impl Limits {
    /// That the header of a safetensors file, whose length the file begins with, is within the
    /// limit; a file too short to say is left to its reader.
    ///
    /// # Errors
    /// [`LimitError`] where it is not.
    pub(crate) fn header_of(&self, bytes: &[u8]) -> Result<(), LimitError> {
        match bytes.split_first_chunk() {
            Some((length, _)) => self.header_bytes(u64::from_le_bytes(*length)),
            None => Ok(()),
        }
    }

    /// The names of all limits.
    fn names() -> String {
        let names: Vec<&str> = Limits::ALL.iter().map(|kind| kind.name).collect();
        names.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_is_set_by_its_name_and_names_itself() {
        for kind in Limits::ALL {
            let mut limits = Limits::default();
            limits.set(kind.name, kind.default + 1).unwrap();
            assert_ne!(limits, Limits::default(), "{}", kind.name);
        }
        let limits = Limits::default();
        assert_eq!(limits.items(1 << 20), Ok(()));
        let error = limits.items((1 << 20) + 1).unwrap_err();
        assert_eq!(
            error.to_string(),
            "more than 1048576 items in one record, the limit items"
        );
        let unknown = Limits::default().set("itmes", 1).unwrap_err();
        assert!(
            unknown
                .to_string()
                .starts_with("no limit is called \"itmes\"; the limits are line-bytes, ")
        );
    }
}
