//! Classes of labels that were met before.

use super::super::record::{ClassNames, Label, position};

/// How many labels are remembered at once.
const SLOTS: usize = 64;

/// What stands where a label is, in eight bytes that tell it from all others; none where it is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::log) struct Key(u64);

impl Key {
    /// A text.
    #[inline]
    pub(in crate::log) fn text(text: &[u8]) -> Option<Self> {
        Key::of(text, 0x10)
    }

    /// The digits of a whole number.
    #[inline]
    pub(in crate::log) fn digits(digits: &[u8]) -> Option<Self> {
        Key::of(digits, 0x20)
    }

    /// A whole number.
    #[inline]
    pub(in crate::log) fn whole(number: u64) -> Option<Self> {
        (number < 1 << 56).then_some(Key(number | 0x30 << 56))
    }

    #[inline]
    fn of(text: &[u8], kind: u8) -> Option<Self> {
        let mut all = [0; 8];
        if text.len() > 7 {
            return None;
        }
        for (byte, own) in all.iter_mut().zip(text) {
            *byte = *own;
        }
        all[7] = kind + text.len() as u8;
        Some(Key(u64::from_le_bytes(all)))
    }
}

/// The classes of short labels, by what stands where the label is.
#[derive(Debug)]
pub(super) struct Known<'a> {
    classes: &'a ClassNames,
    /// Keys, none of which is zero, and classes.
    slots: [(u64, usize); SLOTS],
}

impl<'a> Known<'a> {
    pub(super) fn new(classes: &'a ClassNames) -> Self {
        Known {
            classes,
            slots: [(0, 0); SLOTS],
        }
    }

    /// How many classes there are.
    pub(super) fn len(&self) -> usize {
        self.classes.len()
    }

    /// The class of a label that has this key and is what `label` makes of it; none where it is no class.
    #[inline]
    pub(super) fn class<'l>(
        &mut self,
        key: Option<Key>,
        label: impl FnOnce() -> Option<Label<'l>>,
    ) -> Option<usize> {
        let Some(Key(key)) = key else {
            return position(&label()?, self.classes).ok().flatten();
        };
        // The upper bits of a product with an odd number depend on all of the key.
        let place = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58;
        if let Some((own, class)) = self.slots.get(place as usize)
            && *own == key
        {
            return Some(*class);
        }
        let class = position(&label()?, self.classes).ok().flatten()?;
        if let Some(slot) = self.slots.get_mut(place as usize) {
            *slot = (key, class);
        }
        Some(class)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::Cow;

    #[test]
    fn what_is_remembered_is_what_was_found() {
        let names: Vec<String> = (0..300).map(|i| format!("c{i}")).collect();
        let classes = ClassNames::Named(names.clone().into());
        let mut known = Known::new(&classes);
        // More names than there are slots, each met twice and at two lengths.
        for _ in 0..2 {
            for (i, name) in names.iter().enumerate() {
                let label = || Some(Label::Name(Cow::Borrowed(name)));
                assert_eq!(known.class(Key::text(name.as_bytes()), label), Some(i));
                assert_eq!(known.class(None, label), Some(i));
                let unknown = format!("{name}x");
                let label = || Some(Label::Name(Cow::Borrowed(&*unknown)));
                assert_eq!(known.class(Key::text(unknown.as_bytes()), label), None);
            }
        }
        let label = || Some(Label::Name(Cow::Borrowed("c7")));
        assert_eq!(known.class(Key::text(b"c7"), label), Some(7));
        assert_eq!(known.class(Key::text(b"c7"), || None), Some(7));
    }

    #[test]
    fn keys_tell_kinds_and_lengths_apart() {
        let keys = [
            Key::text(b""),
            Key::text(b"\0"),
            Key::text(b"1"),
            Key::digits(b"1"),
            Key::whole(1),
            Key::whole(0),
            Key::text(b"1\0"),
            Key::text(b"1234567"),
        ];
        for (i, a) in keys.iter().enumerate() {
            assert!(a.is_some_and(|key| key.0 != 0));
            assert!(keys.iter().skip(i + 1).all(|b| a != b));
        }
        assert_eq!((Key::text(b"12345678"), Key::whole(1 << 56)), (None, None));
    }
}
