//! `lpf train` and `lpf generate` end to end, and `lpf infer` with what they make.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

pub fn lpf(args: &[&str], folder: &Path) -> Output {
    let out = Command::new(env!("CARGO_BIN_EXE_lpf"))
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output();
    out.unwrap()
}

pub fn ok(args: &[&str], folder: &Path) -> String {
    let out = lpf(args, folder);
    let errors = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.success(), "{args:?}: {errors}");
    assert_eq!(errors, "", "silent in pipes");
    String::from_utf8(out.stdout).unwrap()
}

/// The message of a command that must fail with exit code 2.
pub fn refused(args: &[&str], folder: &Path) -> String {
    let out = lpf(args, folder);
    assert_eq!(out.status.code(), Some(2), "{args:?}");
    String::from_utf8(out.stderr).unwrap()
}

pub fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect()
}

const QUICK: [&str; 8] = [
    "train",
    "--domain",
    "materials",
    "--entities",
    "60",
    "--epochs",
    "2",
    "--output",
];

fn quick(output: &str) -> Vec<&str> {
    [&QUICK[..], &[output]].concat()
}

#[test]
fn generated_records_carry_labels_embeddings_and_the_exact_posterior() {
    let folder = tempfile::tempdir().unwrap();
    let text = ok(
        &[
            "generate",
            "healthcare",
            "--entities",
            "3",
            "--seed",
            "7",
            "--truth",
        ],
        folder.path(),
    );
    assert_eq!(
        text,
        ok(
            &[
                "generate",
                "healthcare",
                "--entities",
                "3",
                "--seed",
                "7",
                "--truth"
            ],
            folder.path()
        )
    );
    let records = lines(&text);
    assert_eq!(records.len(), 3);
    let generator =
        lpf::synthetic::Generator::new(lpf::synthetic::Domain::named("healthcare").unwrap());
    for (index, record) in records.iter().enumerate() {
        let entity = generator.entity(7, index as u64);
        let classes = record["classes"].as_array().unwrap();
        assert_eq!(record["label"], classes[entity.label]);
        let mut flat = Vec::new();
        for item in record["evidence"].as_array().unwrap() {
            let embedding = item["embedding"].as_array().unwrap();
            flat.extend(embedding.iter().map(|x| x.as_f64().unwrap() as f32));
            assert_eq!(item["posterior"].as_array().unwrap().len(), 4);
        }
        // Digits are enough to read back the same bits.
        assert_eq!(flat, entity.embeddings);
        let truth = generator.posterior(&flat).unwrap();
        let written: Vec<f64> = record["posterior"]
            .as_array()
            .unwrap()
            .iter()
            .map(|p| p.as_f64().unwrap())
            .collect();
        assert_eq!(written, truth.probabilities());
    }
    let message = refused(&["generate", "poetry"], folder.path());
    assert!(message.contains("there are compliance"), "{message}");
}

#[test]
fn training_gives_the_same_bytes_again_and_from_its_own_records() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let said = ok(&quick("a.safetensors"), path);
    assert!(
        said.starts_with("a.safetensors: 168802 + 4451 parameters"),
        "{said}"
    );
    ok(&quick("b.safetensors"), path);
    let read = |name: &str| std::fs::read(path.join(name)).unwrap();
    assert_eq!(read("a.safetensors"), read("b.safetensors"));
    // The same data through a file: only the source differs.
    ok(
        &[
            "generate",
            "materials",
            "--entities",
            "60",
            "--output",
            "m.jsonl",
        ],
        path,
    );
    ok(
        &[
            "train",
            "--data",
            "m.jsonl",
            "--epochs",
            "2",
            "--output",
            "c.safetensors",
        ],
        path,
    );
    let a = lpf::model::Model::read(&path.join("a.safetensors")).unwrap();
    let c = lpf::model::Model::read(&path.join("c.safetensors")).unwrap();
    assert_eq!(
        (&a.vae, &a.aggregator, &a.classes),
        (&c.vae, &c.aggregator, &c.classes)
    );
    assert_eq!(a.provenance.unwrap()["source"], "materials");
    let seed = [&quick("d.safetensors")[..], &["--seed", "2"]].concat();
    ok(&seed, path);
    assert_ne!(read("a.safetensors"), read("d.safetensors"));
    assert_eq!(std::fs::read_dir(path).unwrap().count(), 5, "no leftovers");
}

/// Ctrl-C during a long training: the file is there, complete, with the best weights so far.
#[cfg(unix)]
#[test]
fn interrupted_training_leaves_a_complete_model() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.safetensors");
    let child = Command::new(env!("CARGO_BIN_EXE_lpf"))
        .args(["train", "--entities", "100", "--epochs", "1000000"])
        .args(["--patience", "1000000", "--temperature", "--output"])
        .arg(&path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // Early enough to hit the encoder's first epochs, late enough for the handler to be there.
    std::thread::sleep(std::time::Duration::from_millis(1500));
    assert!(!path.exists());
    let id = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &id])
            .status()
            .unwrap()
            .success()
    );
    let out = child.wait_with_output().unwrap();
    assert!(out.status.success());
    let said = String::from_utf8(out.stdout).unwrap();
    assert!(said.contains("stopped on request"), "{said}");
    let model = lpf::model::Model::read(&path).unwrap();
    assert_eq!(model.classes.unwrap(), ["low", "medium", "high"]);
}

#[test]
fn a_trained_model_answers_embeddings_and_posteriors_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    ok(&quick("m.safetensors"), path);
    ok(
        &[
            "generate",
            "materials",
            "--entities",
            "6",
            "--seed",
            "9",
            "--output",
            "d.jsonl",
        ],
        path,
    );
    for method in ["spn", "learned", "prior-corrected", "uniform"] {
        let args = [
            "infer",
            "d.jsonl",
            "--model",
            "m.safetensors",
            "--method",
            method,
        ];
        let text = ok(&args, path);
        for answer in lines(&text) {
            assert_eq!(answer["method"], method);
            assert!(["fail", "pass"].contains(&answer["prediction"].as_str().unwrap()));
            let u = &answer["uncertainty"];
            let part = |name: &str| u[name].as_f64().unwrap();
            // Theorem 7: an identity up to rounding of three sums below one.
            let gap = part("total") - part("epistemic") - part("aleatoric");
            assert!(gap.abs() < 1e-15);
            assert!(part("mutual_information") >= 0.0);
            assert!(u["standard_errors"]["epistemic"].as_f64().unwrap() > 0.0);
            assert_eq!(u["samples"], 16 * 8);
        }
        // Another order of the evidence, and other threads: the same bytes.
        let mut records = lines(&std::fs::read_to_string(path.join("d.jsonl")).unwrap());
        for record in &mut records {
            record["evidence"].as_array_mut().unwrap().reverse();
        }
        let reversed: String = records.iter().map(|r| format!("{r}\n")).collect();
        std::fs::write(path.join("r.jsonl"), reversed).unwrap();
        let args = [
            "infer",
            "r.jsonl",
            "--model",
            "m.safetensors",
            "--method",
            method,
            "--threads",
            "2",
        ];
        assert_eq!(ok(&args, path), text);
    }
}

#[test]
fn embedding_and_its_posterior_give_the_same_answer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    ok(&quick("m.safetensors"), path);
    let model = lpf::model::Model::read(&path.join("m.safetensors")).unwrap();
    let generator =
        lpf::synthetic::Generator::new(lpf::synthetic::Domain::named("materials").unwrap());
    let entity = generator.entity(3, 5);
    let posteriors = model.vae.posteriors(&entity.embeddings).unwrap();
    let (mut by_embedding, mut by_sigma, mut by_cov) = (Vec::new(), Vec::new(), Vec::new());
    for (i, (e, p)) in entity.embeddings.chunks(384).zip(&posteriors).enumerate() {
        let id = format!("e{i}");
        let sigma: Vec<f64> = p.sigmas().collect();
        let n = sigma.len();
        let cov: Vec<Vec<f64>> = (0..n)
            .map(|r| {
                (0..n)
                    .map(|c| if r == c { sigma[r] * sigma[r] } else { 0.0 })
                    .collect()
            })
            .collect();
        by_embedding.push(serde_json::json!({"id": id, "embedding": e}));
        by_sigma.push(serde_json::json!({"id": id, "mu": p.mean(), "sigma": sigma}));
        by_cov.push(serde_json::json!({"id": id, "mu": p.mean(), "cov": cov}));
    }
    let answer = |items: &[Value], method: &str| {
        let record = serde_json::json!({"entity": "x", "evidence": items});
        std::fs::write(path.join("x.jsonl"), record.to_string()).unwrap();
        let args = [
            "infer",
            "x.jsonl",
            "--model",
            "m.safetensors",
            "--method",
            method,
            "--explain",
        ];
        lines(&ok(&args, path)).remove(0)
    };
    for method in ["spn", "learned"] {
        let expected = answer(&by_embedding, method);
        assert_eq!(expected["evidence"].as_array().unwrap().len(), 8);
        assert_eq!(answer(&by_sigma, method), expected);
        // A covariance is factored: its root of σ² may be σ's neighbour.
        let found = answer(&by_cov, method)["distribution"][0].as_f64().unwrap();
        let wanted = expected["distribution"][0].as_f64().unwrap();
        assert!((found - wanted).abs() < 1e-6);
    }
    let learned = answer(&by_embedding, "learned");
    let total: f64 = learned["evidence"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["weight"].as_f64().unwrap())
        .sum();
    // Eight quotients in single precision.
    assert!((total - 1.0).abs() < 8.0 * f64::from(f32::EPSILON));
}

#[test]
fn the_reference_model_answers_as_the_reference_did() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/reference");
    let raw = std::fs::read(fixtures.join("tensors.safetensors")).unwrap();
    let tensors = safetensors::SafeTensors::deserialize(&raw).unwrap();
    let expected = lines(&std::fs::read_to_string(fixtures.join("predictions.jsonl")).unwrap());
    let mut records = String::new();
    for line in &expected {
        let id = line["entity"].as_str().unwrap();
        let view = tensors.tensor(&format!("{id}.embedding")).unwrap();
        let numbers: Vec<f32> = view
            .data()
            .as_chunks::<4>()
            .0
            .iter()
            .map(|&b| f32::from_le_bytes(b))
            .collect();
        let items: Vec<Value> = numbers
            .chunks(384)
            .map(|e| serde_json::json!({"embedding": e}))
            .collect();
        records += &format!("{}\n", serde_json::json!({"entity": id, "evidence": items}));
    }
    std::fs::write(path.join("x.jsonl"), records).unwrap();
    let model = fixtures.join("model.safetensors");
    let aggregator = fixtures.join("aggregator.safetensors");
    let text = ok(
        &[
            "infer",
            "x.jsonl",
            "--method",
            "learned",
            "--classes",
            "low,medium,high",
            "--model",
            model.to_str().unwrap(),
            "--aggregator",
            aggregator.to_str().unwrap(),
        ],
        path,
    );
    let answers = lines(&text);
    assert_eq!(answers.len(), 60);
    for (answer, line) in answers.iter().zip(&expected) {
        for class in 0..3 {
            let found = answer["distribution"][class].as_f64().unwrap();
            let wanted = line["learned"][class].as_f64().unwrap();
            // Encoder, aggregator and decoder in single precision; see tests/reference_model.rs.
            assert!((found - wanted).abs() < 2e-5, "{found} {wanted}");
        }
    }
}

#[test]
fn wrong_models_data_and_arguments_are_refused_with_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    ok(&quick("m.safetensors"), path);
    let bytes = std::fs::read(path.join("m.safetensors")).unwrap();
    std::fs::write(path.join("cut.safetensors"), &bytes[..bytes.len() - 5]).unwrap();
    let item = |item: &str| {
        std::fs::write(
            path.join("x.jsonl"),
            format!("{{\"entity\":\"x\",\"evidence\":[{item}]}}\n"),
        )
        .unwrap();
    };
    item("{\"factor\":[0.5,0.5]}");
    let infer = |extra: &[&str]| refused(&[&["infer", "x.jsonl"], extra].concat(), path);
    let with = ["--model", "m.safetensors"];
    assert!(infer(&["--model", "cut.safetensors"]).contains("not a complete safetensors file"));
    assert!(infer(&["--model", "none.safetensors"]).contains("none.safetensors"));
    assert!(infer(&["--method", "learned"]).contains("--model: missing; method learned needs"));
    let learned = infer(&[&with[..], &["--method", "learned"]].concat());
    assert!(
        learned.contains("x.jsonl:1: evidence[0].embedding: missing"),
        "{learned}"
    );
    for (evidence, place) in [
        ("{\"embedding\":[1,2]}", "evidence[0].embedding: 2 numbers"),
        (
            "{\"mu\":[1,2],\"sigma\":[1,2]}",
            "evidence[0].mu: 2 numbers",
        ),
        ("{\"mu\":[1,2]}", "evidence[0].mu: given without sigma"),
        ("{\"sigma\":[1,2]}", "evidence[0].sigma: given without mu"),
        ("{\"cov\":[[1]]}", "evidence[0].cov: given without mu"),
        ("{\"id\":\"a\"}", "evidence[0].factor: missing"),
        ("{\"mu\":[1,\"x\"]}", "evidence[0].mu[1]"),
    ] {
        item(evidence);
        let message = infer(&with);
        assert!(message.contains(place), "{evidence}: {message}");
    }
    let train = |data: &str| {
        std::fs::write(path.join("t.jsonl"), data).unwrap();
        refused(
            &["train", "--data", "t.jsonl", "--output", "t.safetensors"],
            path,
        )
    };
    assert!(train("").contains("there is no row"));
    assert!(train("{\"entity\":\"a\",\"evidence\":[]}").contains("t.jsonl:1: label"));
    let no_embedding = "{\"entity\":\"a\",\"label\":\"x\",\"evidence\":[{\"factor\":[1]}]}";
    assert!(train(no_embedding).contains("t.jsonl:1: evidence[0].embedding"));
    let ragged = "{\"entity\":\"a\",\"label\":\"x\",\"evidence\":[{\"embedding\":[1]},{\"embedding\":[1,2]}]}";
    assert!(train(ragged).contains("evidence[1].embedding: 2 numbers"));
    let huge =
        "{\"entity\":\"a\",\"label\":18446744073709551615,\"evidence\":[{\"embedding\":[1]}]}";
    assert!(train(huge).contains("t.jsonl:1: label"));
    let large = "{\"entity\":\"a\",\"label\":\"x\",\"evidence\":[{\"embedding\":[1e39]}]}";
    assert!(train(large).contains("evidence[0].embedding[0]"));
    // One entity leaves nothing to validate with.
    let single = "{\"entity\":\"a\",\"label\":\"x\",\"evidence\":[{\"embedding\":[1]}]}";
    assert!(train(single).contains("validation data are empty"));
    assert!(refused(&["train", "--rate", "0"], path).contains("--rate"));
    assert!(refused(&["train", "--domain", "poetry"], path).contains("fever"));
    assert!(!path.join("t.safetensors").exists());
}
