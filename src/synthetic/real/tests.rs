use super::*;
use crate::aggregate::{Method, aggregate};
use crate::calibration::Evaluation;
use crate::model::*;
use crate::simplex::Distribution;
use std::ops::ControlFlow;

#[test]
#[ignore]
fn explore() {
    for set in &REAL {
        let data = set.read().unwrap();
        let epochs: usize = std::env::var("EP").unwrap().parse().unwrap();
        let corpus = data.corpus(usize::MAX);
        let split = Split::new(corpus.labels.len(), 1);
        let t = std::time::Instant::now();
        let mut fs = FitSettings {
            aggregator: Some(16),
            ..FitSettings::default()
        };
        fs.vae.epochs = epochs;
        let model = fit(&corpus, &split, &fs, |p| {
            println!(
                "{} {} {:.4} {:.4}",
                p.part, p.epoch.number, p.epoch.training, p.epoch.validation
            );
            ControlFlow::Continue(())
        })
        .unwrap();
        println!("{} trained in {:?}", set.name, t.elapsed());
        let prior = model.prior.clone().unwrap();
        let latent = LatentModel::new(model, 16, 1).unwrap();
        let t = std::time::Instant::now();
        let mut preds: Vec<Vec<Distribution>> = vec![Vec::new(); 16];
        let labels: Vec<usize> = data.judging().map(|e| data.labels[e]).collect();
        let mut ws = vec![0.0; set.views.len()];
        for e in data.judging() {
            let r = data.record(e);
            let items = latent.complete(&r.entity, None, &r.evidence).unwrap();
            let f: Vec<Distribution> = items
                .iter()
                .map(|i| i.as_ref().unwrap().factor.clone().unwrap())
                .collect();
            let w: Vec<f64> = items.iter().map(|i| i.as_ref().unwrap().weight).collect();
            for (a, b) in ws.iter_mut().zip(&w) {
                *a += b;
            }
            let ones = vec![1.0; w.len()];
            preds[0].push(aggregate(Method::Spn, &f, &w, None).unwrap());
            preds[1].push(aggregate(Method::Spn, &f, &ones, None).unwrap());
            preds[2].push(aggregate(Method::PriorCorrected, &f, &ones, Some(&prior)).unwrap());
            preds[3].push(aggregate(Method::Uniform, &f, &w, None).unwrap());
            preds[4].push(aggregate(Method::Vote, &f, &w, None).unwrap());
            for (k, f) in f.into_iter().enumerate() {
                preds[5 + k].push(f);
            }
        }
        println!("answered in {:?}, weights {ws:?}", t.elapsed());
        for (i, p) in preds.iter().enumerate().filter(|p| !p.1.is_empty()) {
            let ev = Evaluation::of(p, &labels, 10).unwrap();
            let conf = p.iter().map(|d| *d.confidence()).sum::<f64>() / p.len() as f64;
            println!(
                "{i} acc {:.4} conf {conf:.4} ece {:.4} loss {:.4}",
                ev.accuracy().unwrap(),
                ev.ece().unwrap(),
                ev.log_loss().unwrap()
            );
        }
    }
}
