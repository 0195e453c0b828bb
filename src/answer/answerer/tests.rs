use super::*;
use crate::error::ErrorKind;
use crate::latent::GaussianPosterior;
use crate::learn::{Aggregator, AggregatorShape, Vae, VaeShape};
use crate::log::Evidence;
use crate::model::Model;

const LINE: &str = r#"{"entity":"a","label":1,"evidence":[{"id":"x","factor":[0.25,0.75]},{"factor":[0.5,0.5],"weight":2}]}"#;

fn answerer(method: Method) -> Answerer {
    Answerer::builder(method).build().unwrap()
}

/// An untrained model of two classes, in four latent dimensions, for embeddings of eight numbers.
fn model() -> Model {
    let shape = VaeShape {
        embedding: 8,
        latent: 4,
        classes: 2,
        ..VaeShape::default()
    };
    let aggregator = AggregatorShape {
        latent: 4,
        hidden: 4,
        ..AggregatorShape::default()
    };
    Model {
        vae: Vae::new(shape, 7),
        aggregator: Some(Aggregator::new(aggregator, 7)),
        classes: Some(vec!["no".into(), "yes".into()]),
        prior: Some(Distribution::new(vec![0.25, 0.75]).unwrap()),
        provenance: None,
    }
}

fn embedded(items: usize) -> String {
    let item = |i: usize| {
        let numbers: Vec<f64> = (0..8).map(|j| ((i * 8 + j) as f64).sin()).collect();
        format!(r#"{{"id":"e{i}","embedding":{numbers:?}}}"#)
    };
    let items: Vec<String> = (0..items).map(item).collect();
    format!(r#"{{"entity":"a","evidence":[{}]}}"#, items.join(","))
}

#[test]
fn every_method_answers_as_its_formula_says() {
    let d = |p: &[f64]| Distribution::new(p.to_vec()).unwrap();
    let (factors, weights) = ([d(&[0.25, 0.75]), d(&[0.5, 0.5])], [1.0, 2.0]);
    for method in Method::OF_FACTORS {
        let mut builder = Answerer::builder(method);
        if method == Method::PriorCorrected {
            builder = builder.prior([0.5, 0.5]);
        }
        let answerer = builder.build().unwrap();
        let answer = answerer.answer(LINE).unwrap();
        let want = aggregate(method, &factors, &weights, Some(&d(&[0.5, 0.5]))).unwrap();
        assert_eq!(answer.distribution, want);
        assert_eq!((answer.entity.as_str(), answer.label), ("a", Some(1)));
        assert_eq!(answer.prediction.index(), want.argmax());
        assert_eq!(answer.k_eff, Some(9.0 / 5.0));
        assert_eq!((answer.method, answer.items), (method, None));
        let entity = answerer.entity(Record::parse(LINE.as_bytes()).unwrap());
        assert_eq!(answerer.combine(&entity.unwrap()), Ok(want));
    }
}

#[test]
fn what_a_method_needs_is_asked_for_when_it_is_built() {
    let of = |builder: AnswererBuilder| {
        let error = builder.build().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Setting, "{error}");
        error.field().unwrap().to_string()
    };
    let new = Answerer::builder;
    assert_eq!(of(new(Method::PriorCorrected)), "prior");
    assert_eq!(of(new(Method::Spn).prior([0.5, 0.5])), "prior");
    assert_eq!(of(new(Method::PriorCorrected).prior([0.5, 0.4])), "prior");
    assert_eq!(of(new(Method::Learned)), "model");
    let mut plain = model();
    plain.aggregator = None;
    assert_eq!(of(new(Method::Learned).model(plain)), "model");
    assert_eq!(of(new(Method::Spn).aggregator("x")), "aggregator");
    assert_eq!(of(new(Method::Spn).tolerance(f64::NAN)), "tolerance");
    assert_eq!(of(new(Method::Spn).samples(0)), "samples");
    assert_eq!(of(new(Method::Spn).classes(["a", "a"])), "classes");
    let three = new(Method::PriorCorrected).classes(["a", "b", "c"]);
    assert_eq!(of(three.prior([0.5, 0.5])), "classes");
    let gone = new(Method::Spn).model("no/such/file").build().unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::Io);
    assert_eq!(gone.file(), Some(std::path::Path::new("no/such/file")));
    assert!(answerer(Method::Spn).with_method(Method::Max).is_ok());
    assert!(answerer(Method::Spn).with_method(Method::Learned).is_err());
}

#[test]
fn a_model_completes_embeddings_and_lends_its_prior_and_names() {
    let spn = Answerer::builder(Method::Spn)
        .model(model())
        .build()
        .unwrap();
    assert_eq!(spn.classes().unwrap(), ["no", "yes"]);
    assert_eq!(spn.model_digest().unwrap().len(), 64);
    let line = embedded(3);
    let record = || Record::parse(line.as_bytes()).unwrap();
    let entity = spn.entity(record()).unwrap();
    assert_eq!(entity.posteriors.len(), 3);
    // A posterior given in the place of its embedding leads to the same factor.
    let mut given = record();
    for (item, posterior) in given.evidence.iter_mut().zip(&entity.posteriors) {
        let posterior: &GaussianPosterior = posterior.as_ref().unwrap();
        *item = Evidence {
            id: item.id.take(),
            mu: Some(posterior.mean().to_vec()),
            sigma: Some(posterior.sigmas().collect()),
            ..Evidence::default()
        };
    }
    assert_eq!(spn.entity(given).unwrap(), entity);
    // The very draws: no division by the sum again.
    let made = spn
        .latent()
        .unwrap()
        .complete("a", None, &record().evidence);
    let drawn = made
        .unwrap()
        .into_iter()
        .flatten()
        .map(|c| c.factor.unwrap());
    assert_eq!(drawn.collect::<Vec<_>>(), entity.factors);
    let corrected = spn.with_method(Method::PriorCorrected).unwrap();
    assert_eq!(corrected.prior(), model().prior.as_ref());
    assert_eq!(spn.prior(), None);
    for method in Method::ALL {
        let answer = spn.with_method(method).unwrap().answer(&line).unwrap();
        let named = answer.prediction.name().unwrap();
        assert_eq!(named, ["no", "yes"][answer.prediction.index()]);
        assert!(answer.uncertainty.is_some());
    }
}

#[test]
fn learned_aggregation_needs_posteriors_and_says_which_item_has_none() {
    let builder = Answerer::builder(Method::Learned).model(model());
    let learned = builder.influence(true).build().unwrap();
    let answer = learned.answer(embedded(3)).unwrap();
    let items = answer.items.unwrap();
    assert!(items.iter().all(|item| item.influence.is_some()));
    let attention: f64 = items.iter().map(|item| item.weight).sum();
    assert!((attention - 1.0).abs() < 1e-6);
    let error = learned.answer(LINE).unwrap_err();
    assert_eq!(error.field(), Some("evidence[0].embedding"));
    let many = learned.answer(embedded(MOST_EXPLAINED + 1));
    assert_eq!(many.unwrap_err().field(), Some("evidence"));
}

#[test]
fn answers_of_a_reader_are_those_of_its_lines_and_errors_have_their_place() {
    let spn = answerer(Method::Spn);
    let lines = format!("{LINE}\n\nnonsense\n{LINE}\n");
    let all: Vec<_> = spn.answers(lines.as_bytes()).collect();
    assert_eq!(all.len(), 3);
    let one = spn.answer(LINE).unwrap();
    assert_eq!(all[0].as_ref().unwrap(), &one);
    assert_eq!(all[2].as_ref().unwrap(), &one);
    let error = all[1].as_ref().unwrap_err();
    assert_eq!((error.kind(), error.line()), (ErrorKind::Record, Some(3)));
    assert_eq!(error.field(), Some("line"));
    assert_eq!(spn.answers(&b""[..]).count(), 0);
    let names = spn.answers_then(LINE.as_bytes(), |answer| answer.entity);
    assert_eq!(names.map(Result::unwrap).collect::<Vec<_>>(), ["a"]);
}
