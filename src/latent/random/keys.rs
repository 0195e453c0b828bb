//! Names of streams: the key of the generator, and 64-bit names of texts and numbers.

use std::collections::HashMap;
/// The 256-bit key of a stream: its four numbers side by side, each with its low byte first.
///
/// Injective: the four numbers can be read back off the key, so distinct names have distinct keys.
pub fn key(seed: u64, purpose: u64, entity: u64, evidence: u64) -> [u8; 32] {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(&purpose.to_le_bytes());
    key[16..24].copy_from_slice(&entity.to_le_bytes());
    key[24..].copy_from_slice(&evidence.to_le_bytes());
    key
}

/// Start value of the 64-bit FNV-1a hash.
const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;
/// Multiplier of the 64-bit FNV-1a hash.
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

/// One FNV-1a step for each byte: exclusive or, then multiply.
const fn fnv(mut hash: u64, bytes: &[u8]) -> u64 {
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u64).wrapping_mul(FNV_PRIME);
        i += 1;
    }
    hash
}

/// A 64-bit name of a text: FNV-1a of its UTF-8 bytes.
///
/// The same on every machine and in every version, and usable in constants. Different texts may
/// collide, with probability 2⁻⁶⁴ a pair unless they were built to.
#[must_use]
pub const fn text_key(text: &str) -> u64 {
    fnv(FNV_START, text.as_bytes())
}

/// A 64-bit name of numeric content: FNV-1a of the bits of all numbers, slice by slice, each slice
/// preceded by its length so that numbers cannot move between slices unseen. Collides as
/// [`text_key`] does.
///
/// Bits count, not values: `0.0` and `−0.0` have different names.
#[must_use]
pub fn content_key(slices: &[&[f64]]) -> u64 {
    slices.iter().fold(FNV_START, |hash, slice| {
        let hash = fnv(hash, &(slice.len() as u64).to_le_bytes());
        let bits = slice.iter().map(|x| x.to_bits().to_le_bytes());
        bits.fold(hash, |hash, bytes| fnv(hash, &bytes))
    })
}

/// How one item of evidence is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item<'a> {
    /// By its identifier, unique within the entity.
    Id(&'a str),
    /// By its content, the value of [`content_key`].
    Content(u64),
}

/// Two items of one entity have the same identifier and would share their random draws.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("items {first} and {second} are both called {id:?}; give each its own identifier, or none")]
pub struct DuplicateId {
    /// The identifier.
    pub id: String,
    /// Position of its first use.
    pub first: usize,
    /// Position of its second use.
    pub second: usize,
}

/// The names of the streams of an entity's items, the same for each item wherever it stands.
///
/// An item with an identifier is named by it. One without is named by its content and by its
/// occurrence number among items of equal content, so that copies get draws of their own; which of
/// the copies gets which does not matter, as they are equal.
///
/// # Errors
/// [`DuplicateId`], as the two items could only be told apart by their order.
pub fn evidence_keys(items: &[Item<'_>]) -> Result<Vec<u64>, DuplicateId> {
    let mut ids: HashMap<&str, usize> = HashMap::new();
    let mut occurrences: HashMap<u64, u64> = HashMap::new();
    let mut keys = Vec::with_capacity(items.len());
    for (second, item) in items.iter().enumerate() {
        keys.push(match *item {
            Item::Id(id) => {
                if let Some(first) = ids.insert(id, second) {
                    let id = id.to_owned();
                    return Err(DuplicateId { id, first, second });
                }
                text_key(id)
            }
            Item::Content(content) => {
                let occurrence = occurrences.entry(content).or_insert(0);
                *occurrence += 1;
                // A byte that no UTF-8 text contains keeps these names apart from identifiers.
                let hash = fnv(fnv(FNV_START, &[0xff]), &content.to_le_bytes());
                fnv(hash, &occurrence.to_le_bytes())
            }
        });
    }
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn the_name_can_be_read_back_off_the_key(name in any::<[u64; 4]>()) {
            let key = key(name[0], name[1], name[2], name[3]);
            for (part, want) in key.chunks_exact(8).zip(name) {
                prop_assert_eq!(u64::from_le_bytes(part.try_into().unwrap()), want);
            }
        }

        #[test]
        fn shuffled_items_keep_their_names(
            contents in prop::collection::vec(0u64..4, 0..12),
            rotate in 0usize..12,
        ) {
            let mut items: Vec<Item> = contents.iter().map(|&c| Item::Content(c)).collect();
            items.extend([Item::Id("a"), Item::Id("b")]);
            let mut rotated = items.clone();
            rotated.rotate_left(rotate % items.len());
            let pairs = |items: &[Item]| -> BTreeSet<(String, u64)> {
                let names = items.iter().map(|i| format!("{i:?}"));
                names.zip(evidence_keys(items).unwrap()).collect()
            };
            prop_assert_eq!(pairs(&items), pairs(&rotated));
            // As a set of pairs has forgotten multiplicity: all keys are distinct.
            let distinct: BTreeSet<u64> = evidence_keys(&items).unwrap().into_iter().collect();
            prop_assert_eq!(distinct.len(), items.len());
        }
    }

    #[test]
    fn text_keys_are_those_of_the_published_hash() {
        // Test vectors of the FNV reference code (FNV-1a, 64 bits).
        assert_eq!(text_key(""), 0xcbf29ce484222325);
        assert_eq!(text_key("a"), 0xaf63dc4c8601ec8c);
        assert_eq!(text_key("foobar"), 0x85944171f73967e8);
    }

    #[test]
    fn content_is_told_apart_by_bits_and_by_where_slices_end() {
        let names = [
            content_key(&[&[1.0, 2.0], &[3.0]]),
            content_key(&[&[1.0], &[2.0, 3.0]]),
            content_key(&[&[1.0, 2.0, 3.0]]),
            content_key(&[&[0.0]]),
            content_key(&[&[-0.0]]),
            content_key(&[&[]]),
            content_key(&[]),
        ];
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    }

    #[test]
    fn a_repeated_identifier_is_refused_by_name() {
        let items = [Item::Id("e1"), Item::Content(1), Item::Id("e1")];
        let error = evidence_keys(&items).unwrap_err();
        assert_eq!((error.first, error.second), (0, 2));
        assert!(error.to_string().contains("\"e1\""));
    }
}
