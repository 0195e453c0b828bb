//! `lpf bound`: every bound against a literal transcription of its formula in Python floats, and what is
//! said of numbers that make no sense.

use std::process::{Command, Output};

fn bound(args: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lpf"))
        .arg("bound")
        .args(args.split(' '))
        .output()
        .unwrap()
}

fn values(args: &str) -> Vec<f64> {
    let output = bound(&format!("{args} --format json"));
    assert_eq!(output.status.code(), Some(0), "{args}: {output:?}");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let lines = json.as_array().unwrap().iter();
    lines.map(|line| line["value"].as_f64().unwrap()).collect()
}

#[test]
fn every_bound_is_the_value_of_its_formula() {
    for (args, expected) in [
        (
            "t1-prime --items 5 --eta 0.1 --zeta 0.05",
            &[0.672_751_088_672_664_4, 0.336_375_544_336_332_2][..],
        ),
        // As in the tests of the library: three hits of three, two bins, 1 − (0.05/4)^(1/3).
        (
            "t1-second --bin 0/0 --bin 3/3",
            &[0.0, 1.0, 0.232_079_441_680_639, 1.0, 1.0],
        ),
        (
            "t1-second --rows 1000 --bins 10",
            &[0.173_953_792_586_108_4],
        ),
        ("t2 --samples 16 --classes 3", &[0.386_793_377_608_690_37]),
        (
            "t2-prime --samples 64 --classes 3 --variance 0.01",
            &[0.232_615_714_861_473_1],
        ),
        (
            "t2-second --values 0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5 --classes 3",
            &[0.339_062_216_513_403_46, 0.660_937_783_486_596_6],
        ),
        ("t3-prime --n 900 --errors 42", &[0.059_943_929_023_709_756]),
        (
            "t3-prime --n 4200 --loss 0.1 --divergence 12",
            &[0.131_673_106_098_956_16],
        ),
        (
            "t4-prime --entropy 0.158 --classes 3",
            &[0.019_481_374_303_622_154, 0.109_517_254_528_471_36],
        ),
        (
            "t5-prime --weights 1,1,1,1,1 --replaced 2 --delta 0.2 --floor 0.05 --margin 3",
            &[1.6, 1.0, 0.111_700_001_661_267_48],
        ),
        (
            "t6-prime --prior 0.5,0.5 --item 0.75,0.25 --item 0.25,0.75 --error 0.01",
            &[28.0, 0.143_841_036_225_890_53],
        ),
        (
            "e1 --correlation 0.12 --items 5",
            &[0.172_692_934_325_290_12],
        ),
        (
            "e4 --samples 16 --classes 3 --weights 1,1,1,1,1 --floor 0.16666666666666666",
            &[1.994_103_094_000_507_6],
        ),
        ("e5 --loss 0.5 --entropy 0.4", &[0.223_606_797_749_978_94]),
    ] {
        let found = values(args);
        for (found, expected) in found.iter().zip(expected) {
            assert!(
                (found - expected).abs() <= 1e-11,
                "{args}: {found} for {expected}"
            );
        }
        assert!(found.len() >= expected.len(), "{args}: {found:?}");
    }
}

#[test]
fn a_line_says_what_its_number_means() {
    let output = bound("t3-prime --n 900 --errors 42");
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        text,
        "0.059944  With probability 0.95 the true error rate is at most this: 42 errors on 900 held-out examples \
         (Clopper and Pearson) (T3')\n"
    );
    let none = bound("t6-prime --prior 0.5,0.5 --item 0.5,0.5 --item 0.5,0.5 --error 0.1");
    assert!(
        String::from_utf8(none.stdout)
            .unwrap()
            .starts_with("none  So many items")
    );
}

#[test]
fn numbers_that_make_no_sense_are_usage_errors() {
    for (args, said) in [
        ("t1-second --bin 4/3", "4"),
        ("t1-second --bin four", "such as 12/40"),
        ("t1-second --rows 10", "--bins"),
        ("t3-prime --n 0 --errors 0", "must be at least 1"),
        ("t3-prime --n 10 --errors 11", "11"),
        ("t3-prime --n 10 --errors 1 --delta 2", "delta is 2"),
        ("t3-prime --n 10 --loss 0.1", "--divergence"),
        ("t2 --samples 0 --classes 3", "at least 1"),
        (
            "t2-prime --samples 64 --classes 3 --variance 0.7",
            "V is 0.7",
        ),
        ("t2-second --values 0.5,1.5", "value 1 is 1.5"),
        ("t4-prime --entropy 2 --classes 3", "entropy"),
        (
            "t5-prime --weights 1,-1 --replaced 1 --delta 0.1 --floor 0.1",
            "weight 1 is -1",
        ),
        (
            "t5-prime --weights 1 --replaced 2 --delta 0.1 --floor 0.1",
            "replaced is 2",
        ),
        (
            "t6-prime --prior 0.5,0.6 --item 1,0 --item 0,1 --error 0.1",
            "--prior",
        ),
        (
            "t6-prime --prior 0.5,0.5 --item a,0 --item 0,1 --error 0.1",
            "no number",
        ),
        (
            "t6-prime --prior 0.5,0.5 --item 1,0 --error 0.1",
            "likelihoods",
        ),
        ("e5 --loss 0.1 --entropy 0.2", "entropy is 0.2"),
        ("e1 --total-correlation NaN", "total correlation"),
    ] {
        let output = bound(args);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args}: {error}");
        assert!(error.contains(said), "{args}: {error}");
        assert!(output.stdout.is_empty(), "{args}");
    }
}
