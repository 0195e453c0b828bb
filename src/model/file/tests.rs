use super::*;
use crate::learn::AggregatorShape;
use proptest::prelude::*;

fn small() -> Model {
    let shape = VaeShape {
        embedding: 4,
        encoder_hidden: vec![6, 5],
        latent: 3,
        predicate: 2,
        decoder_hidden: vec![4],
        classes: 3,
        sigma_floor: 1e-6,
    };
    let aggregator = AggregatorShape {
        latent: 3,
        hidden: 4,
        consistency: Consistency::Symmetric,
    };
    Model {
        vae: Vae::new(shape, 1).with_temperature(1.25),
        aggregator: Some(Aggregator::new(aggregator, 2)),
        classes: Some(vec!["a".into(), "b".into(), "c".into()]),
        prior: Some(Distribution::new(vec![0.25, 0.25, 0.5]).unwrap()),
        provenance: Some(serde_json::json!({"seed": 1})),
    }
}

#[test]
fn what_is_written_is_read_back_to_the_bit_and_writes_the_same_bytes() {
    let model = small();
    let bytes = model.to_bytes().unwrap();
    let back = Model::from_bytes(&bytes).unwrap();
    assert_eq!(back, model);
    assert_eq!(back.to_bytes().unwrap(), bytes);
    let without = Model {
        aggregator: None,
        classes: None,
        prior: None,
        provenance: None,
        ..model
    };
    let bytes = without.to_bytes().unwrap();
    assert_eq!(Model::from_bytes(&bytes).unwrap(), without);
}

#[test]
fn a_file_is_replaced_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.safetensors");
    std::fs::write(&path, "something else").unwrap();
    small().write(&path).unwrap();
    assert_eq!(Model::read(&path).unwrap(), small());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    assert!(
        small()
            .write(&folder.path().join("no/such/folder"))
            .is_err()
    );
    assert!(matches!(
        Model::read(&folder.path().join("none")),
        Err(ModelError::Io(_))
    ));
}

#[test]
fn every_truncation_is_an_error() {
    let bytes = small().to_bytes().unwrap();
    for n in 0..bytes.len() {
        assert!(Model::from_bytes(&bytes[..n]).is_err(), "{n}");
    }
}

/// Headers that lie about sizes are refused without a large allocation.
#[test]
fn hostile_headers_are_refused() {
    let with_header = |header: &str, data: usize| {
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.as_bytes());
        bytes.resize(bytes.len() + data, 0);
        Model::from_bytes(&bytes).unwrap_err().to_string()
    };
    let mut huge = u64::MAX.to_le_bytes().to_vec();
    huge.extend([0; 64]);
    assert!(matches!(
        Model::from_bytes(&huge),
        Err(ModelError::Limit(_))
    ));
    for header in [
        r#"{"encoder.fc_mu.weight":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,16]}}"#,
        r#"{"encoder.fc_mu.weight":{"dtype":"F32","shape":[1000000,1000],"data_offsets":[0,4000000000]}}"#,
        r#"{"encoder.fc_mu.weight":{"dtype":"F32","shape":[2,2],"data_offsets":[16,0]}}"#,
        r#"{"encoder.fc_mu.weight":{"dtype":"F99","shape":[2,2],"data_offsets":[0,16]}}"#,
        "[]",
        "{",
    ] {
        assert!(with_header(header, 16).contains("safetensors"), "{header}");
    }
    let two = |a: &str| {
        format!(
            r#"{{"encoder.fc_mu.weight":{a},"encoder.fc_mu.bias":{{"dtype":"F32","shape":[1],"data_offsets":[16,20]}}}}"#
        )
    };
    let message = with_header(
        &two(r#"{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}"#),
        20,
    );
    assert!(message.contains("fc_mu.bias has shape [1]"), "{message}");
    let message = with_header(
        &two(r#"{"dtype":"F64","shape":[1,2],"data_offsets":[0,16]}"#),
        20,
    );
    assert!(message.contains("only F32"), "{message}");
    let message = with_header(
        &two(r#"{"dtype":"F32","shape":[4],"data_offsets":[0,16]}"#),
        20,
    );
    assert!(message.contains("2 dimensions"), "{message}");
    assert!(with_header("{}", 0).contains("no tensor encoder.fc_mu.weight"));
}

#[test]
fn numbers_that_are_none_and_wrong_settings_are_refused() {
    let model = small();
    let bytes = model.to_bytes().unwrap();
    let start = bytes.len() - 4;
    let mut broken = bytes.clone();
    broken[start..].copy_from_slice(&f32::NAN.to_le_bytes());
    assert!(matches!(
        Model::from_bytes(&broken),
        Err(ModelError::Value(_))
    ));
    let text = |from: &str, to: &str| {
        // Same length, so that the header stays as it is.
        assert_eq!(from.len(), to.len());
        let at = bytes
            .windows(from.len())
            .position(|w| w == from.as_bytes())
            .unwrap();
        let mut changed = bytes.clone();
        changed[at..at + to.len()].copy_from_slice(to.as_bytes());
        Model::from_bytes(&changed).unwrap_err().to_string()
    };
    assert!(text(r#"\"temperature\":1.25"#, r#"\"temperature\":-1.0"#).contains("temperature"));
    assert!(text(r#"\"format\":1"#, r#"\"format\":7"#).contains("format 7"));
    assert!(text(r#"0.25,0.25,0.5"#, r#"0.25,0.25,0.7"#).contains("prior"));
    assert!(text(r#"\"symmetric\""#, r#"\"symmetrix\""#).contains("symmetrix"));
    assert!(text(r#"\"a\",\"b\""#, r#"\"b\",\"b\""#).contains("classes"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    /// Any byte changed anywhere: an error or another model, never a panic.
    #[test]
    fn changed_bytes_never_panic(at in any::<prop::sample::Index>(), to in any::<u8>()) {
        let mut bytes = small().to_bytes().unwrap();
        // Half of the changes hit the header, which is the interesting part.
        let header = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        let limit = if to % 2 == 0 { header } else { bytes.len() };
        let i = at.index(limit);
        bytes[i] = to;
        let _ = Model::from_bytes(&bytes);
        let _ = aggregator_from_bytes(&bytes);
    }
}
