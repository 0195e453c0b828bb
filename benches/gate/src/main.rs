//! Instructions that the kernels take, against the committed counts: `make bench-gate`.
//!
//! Seconds differ from run to run and from machine to machine; instructions of the same program under
//! callgrind hardly do. Valgrind offers a processor with AVX2 at most, also where there is AVX-512, and the kernels
//! choose their instructions when they run. Counts of another compiler, or of a processor without AVX2, are
//! shown and not compared.
//!
//! `lpf-gate` counts and compares, `lpf-gate record` counts and writes, `lpf-gate run` is what runs
//! under callgrind. `lpf-gate time` prints seconds of kernels beside those of their limits, one pair a
//! line; `lpf-gate time quick` of small ones. `lpf-gate grow FILE` prints how their cost grows, and draws it into
//! an SVG file; `lpf-gate grow FILE full` up to larger sizes.

mod counts;
mod growth;
mod kernels;
mod report;
mod timed;

// The library's rooms that compute, in the order of its table; without what only commands need.
macro_rules! rooms {
    ($($path:literal $room:ident),* $(,)?) => {$(
        #[allow(dead_code, unused_imports, reason = "not all of a room is counted")]
        #[path = $path]
        mod $room;
    )*};
}
rooms! {
    "../../../src/math/mod.rs" math,
    "../../../src/simplex/mod.rs" simplex,
    "../../../src/spn/mod.rs" spn,
    "../../../src/latent/mod.rs" latent,
    "../../../src/aggregate/mod.rs" aggregate,
    "../../../src/learn/mod.rs" learn,
    "../../../src/calibration/mod.rs" calibration,
    "../../../src/log/mod.rs" log,
    "../../../src/exhibit/mod.rs" exhibit,
}

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use counts::{Counts, compare};

/// What collection is switched on and off by; its name is all that callgrind is told.
#[inline(never)]
fn counted_by_callgrind(kernel: &mut kernels::Kernel) {
    kernel();
}

/// Every kernel once unobserved and once counted, on the one thread of a pool: what would be shared among
/// threads is counted too.
fn run() -> Result<(), String> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let pool = pool.map_err(|e| e.to_string())?;
    for (_, make) in kernels::KERNELS {
        let mut kernel = make();
        pool.install(|| {
            kernel();
            counted_by_callgrind(&mut kernel);
        });
    }
    Ok(())
}

/// Prints how the cost of each kernel grows, and draws it.
fn grow() -> Result<bool, String> {
    let arguments: Vec<String> = std::env::args().skip(2).collect();
    let path = arguments.first().ok_or("grow FILE [full]")?;
    let full = arguments.get(1).is_some_and(|word| word == "full");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let (table, figure) = pool
        .map_err(|e| e.to_string())?
        .install(|| growth::grow(full));
    print!("{table}");
    std::fs::write(path, report::svg(&figure)).map_err(|e| format!("{path}: {e}"))?;
    Ok(true)
}

/// Prints the seconds of each kernel and of its limit, on one thread.
fn time(full: bool) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let Ok(pool) = pool else { return };
    for make in timed::PAIRS {
        let mut pair = make(full);
        let (work, limit) = pool.install(|| timed::time(&mut pair, if full { 1.0 } else { 0.1 }));
        println!("{}\t{work:e}\t{}\t{limit:e}", pair.work.0, pair.limit.0);
    }
}

/// Runs this program under callgrind, which writes a file whenever a kernel has ended.
fn count() -> Result<Counts, String> {
    let folder = scratch()?;
    let exe = std::env::current_exe().map_err(|e| e.to_string())?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--quiet"])
        .arg("--toggle-collect=lpf_gate::counted_by_callgrind")
        .arg("--dump-after=lpf_gate::counted_by_callgrind")
        .arg(format!("--callgrind-out-file={}/out", folder.display()))
        .arg(exe)
        .arg("run")
        .output()
        .map_err(|e| format!("valgrind does not run ({e}); make bench-gate-setup installs it"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("valgrind: {}\n{said}", output.status));
    }
    let totals = (1..=kernels::KERNELS.len()).map(|dump| {
        let path = folder.join(format!("out.{dump}"));
        let text = std::fs::read_to_string(&path);
        let text = text.map_err(|e| format!("{}: {e}", path.display()))?;
        counts::total(&text).ok_or(format!("{}: no count of a kernel", path.display()))
    });
    let totals: Vec<u64> = totals.collect::<Result<_, String>>()?;
    let _ = std::fs::remove_dir_all(&folder);
    let names = kernels::KERNELS.iter().map(|(name, _)| (*name).to_owned());
    Ok(Counts {
        build: build(),
        kernels: names.zip(totals).collect(),
    })
}

/// What has to be the same for counts to compare.
fn build() -> String {
    #[cfg(target_arch = "x86_64")]
    let vectors =
        std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    let vectors = false;
    let vectors = if vectors { "with AVX2" } else { "without AVX2" };
    format!(
        "{}, {} {vectors}",
        env!("GATE_RUSTC"),
        std::env::consts::ARCH
    )
}

/// A folder beside this program, for this process alone.
fn scratch() -> Result<PathBuf, String> {
    let exe = std::env::current_exe().map_err(|e| e.to_string())?;
    let folder = exe.with_file_name(format!("gate-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    Ok(folder)
}

fn main() -> ExitCode {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("counts.txt");
    let command = std::env::args().nth(1).unwrap_or_default();
    let outcome = match command.as_str() {
        "run" => run().map(|()| true),
        "time" => {
            time(std::env::args().nth(2).as_deref() != Some("quick"));
            Ok(true)
        }
        "grow" => grow(),
        "record" => count().and_then(|counts| {
            std::fs::write(&path, counts.to_string()).map_err(|e| e.to_string())?;
            println!(
                "{} kernels counted: {}",
                counts.kernels.len(),
                path.display()
            );
            Ok(true)
        }),
        "" => count().and_then(|now| {
            let text = std::fs::read_to_string(&path).map_err(|e| e.to_string())?;
            let (table, holds) = compare(&Counts::parse(&text)?, &now);
            print!("{table}");
            Ok(holds)
        }),
        other => Err(format!(
            "no command {other:?}: none, record, run, time or grow"
        )),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("bench-gate: {message}");
            ExitCode::from(2)
        }
    }
}
