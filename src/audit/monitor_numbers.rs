//! Lists of doubles as text, bit for bit: JSON has no infinity, which evidence may be.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(super) fn serialize<S: Serializer>(numbers: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
    let shown: Vec<String> = numbers.iter().map(|x| format!("{x:?}")).collect();
    shown.serialize(serializer)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<f64>, D::Error> {
    let shown = Vec::<String>::deserialize(d)?;
    let number = |text: &String| {
        text.parse::<f64>()
            .map_err(|_| D::Error::custom("not a number"))
    };
    shown.iter().map(number).collect()
}
