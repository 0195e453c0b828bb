"""Every peer in one run: what lpf does beside what others do, and beside the least that it could cost.

    make bench-peers        (ROWS=10000000 for audits of that size, GROWTH=full for larger sizes of kernels)

Prints Markdown and writes it to RESULTS.md beside this file. Everything is measured here and now: seconds of
lpf's kernels by `lpf-gate time`, of the commands as processes, of the peers in this process on one thread, the
fastest of several runs each. A peer that is not there, or fails, is named with its reason.
"""

import datetime
import importlib.metadata
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import time

os.environ.update(OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
os.environ.setdefault("ROWS", "2000000")
os.environ.setdefault("ROUNDS", "2")

import audit  # noqa: E402
import compare  # noqa: E402

GATE = pathlib.Path(os.environ.get("GATE", HERE.parents[1] / "target/gate/lpf-gate"))
PACKAGES = ["epalea", "torch", "netcal", "scikit-learn", "polars", "pandas", "pyarrow", "numpy", "spflow"]


def fastest(work, seconds=2.0):
    """The fastest of runs within so many seconds, three at least."""
    begun, best, runs = time.perf_counter(), float("inf"), 0
    while runs < 3 or time.perf_counter() - begun < seconds:
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
        runs += 1
    return best


def kernels():
    """Seconds of each kernel and of its limit."""
    out = subprocess.run([GATE, "time"], check=True, capture_output=True, text=True).stdout
    rows = [line.split("\t") for line in out.splitlines()]
    return {work: (float(a), limit, float(b)) for work, a, limit, b in rows}


def growth(path):
    """How cost grows, as a Markdown table; the figure goes to a file."""
    sizes = ["full"] if os.environ.get("GROWTH") == "full" else []
    return subprocess.run([GATE, "grow", path, *sizes], check=True, capture_output=True, text=True).stdout


def epalea():
    """Seconds of one query of five posteriors: the product of sampled factors, and the learned aggregate."""
    import numpy as np
    import torch
    from epalea.core.factor_converter import FactorConverter
    from epalea.models.decoder_network import DecoderNetwork
    from epalea.models.learned_aggregator import EvidenceAggregator, Posterior
    from epalea.models.schema import Schema
    from epalea.models.spn_module import build_spn_for_schema
    from epalea.models.vae_encoder import LatentPosterior

    torch.set_num_threads(1)
    schema = Schema()
    schema.add_variable("level", ["low", "medium", "high"])
    schema.add_predicate("level", ["level"], ["low", "medium", "high"])
    decoder = DecoderNetwork(64, schema).eval()
    converter = FactorConverter(decoder, schema, n_samples=16, temperature=1.0, alpha=2.0)
    spn = build_spn_for_schema(schema, "level")
    random = np.random.default_rng(0)
    means = random.standard_normal((5, 64)).astype(np.float32)
    sigmas = (np.abs(random.standard_normal((5, 64))) + 0.1).astype(np.float32)
    items = [LatentPosterior(f"e{i}", means[i], sigmas[i], 0.5) for i in range(5)]

    def product():
        spn.reset_likelihoods()
        spn.attach_soft_factors(converter.convert_latent_to_factors(items, "level"))
        return spn.query("level")

    aggregator = EvidenceAggregator(64, hidden_dim=16).eval()
    posteriors = [Posterior(means[i], 2 * np.log(sigmas[i]), f"e{i}") for i in range(5)]

    def learned():
        with torch.no_grad():
            mean = aggregator.aggregate_posteriors(posteriors).mu
            return decoder.decode(torch.tensor(mean, dtype=torch.float32), "level")

    for answer in (product(), learned()):
        assert abs(sum(answer.values()) - 1) < 1e-5, answer
    return fastest(product), fastest(learned)


def spflow():
    """Seconds of the logarithm of one row under three products over 33 333 variables of two states."""
    import torch
    from spflow.meta.data import Scope
    from spflow.modules.leaves import Categorical
    from spflow.modules.products import Product
    from spflow.modules.sums import Sum

    items = 33_333
    leaves = Categorical(scope=Scope(list(range(items))), out_channels=3, K=2)
    model = Sum(inputs=Product(inputs=leaves), out_channels=1)
    row = (torch.arange(items) % 2).float().unsqueeze(0)
    with torch.no_grad():
        assert torch.isfinite(model.log_likelihood(row)).all()
        return fastest(lambda: model.log_likelihood(row))


def netcal(rows=10**6):
    """Seconds a prediction of netcal's calibration error with fifteen bins."""
    import numpy as np
    from netcal.metrics import ECE

    random = np.random.default_rng(0)
    confidence = 1 / 3 + random.random(rows) * 2 / 3
    right = (random.random(rows) < confidence).astype(int)
    return fastest(lambda: ECE(15).measure(confidence, right)) / rows


def sklearn(rows=10**6):
    """Seconds a prediction of scikit-learn's reliability curve with fifteen bins."""
    import numpy as np
    from sklearn.calibration import calibration_curve

    random = np.random.default_rng(0)
    confidence = random.random(rows)
    right = random.random(rows) < confidence
    return fastest(lambda: calibration_curve(right, confidence, n_bins=15)) / rows


def training():
    """Seconds of fifty epochs: lpf's and PyTorch's, on one thread."""
    import torch

    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        path = folder / "data.jsonl"
        generate = [compare.LPF, "generate", "compliance", "--entities", "900", "--output", path]
        subprocess.run(generate, check=True, stdout=subprocess.DEVNULL)
        data = compare.read(path)
        ours, theirs = [], []
        for _ in range(compare.ROUNDS):
            # Reading the records is no part of training: a run of one epoch, which has it too, is subtracted.
            one = compare.train_lpf(folder, path, "one", epochs=1)[0]
            many = compare.train_lpf(folder, path, "many")[0]
            ours.append((many - one) * compare.EPOCHS / (compare.EPOCHS - 1))
            theirs.append(compare.train_torch(data)[0])
        return min(ours), min(theirs)


def version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def machine():
    model = platform.processor() or platform.machine()
    try:
        lines = open("/proc/cpuinfo").read().splitlines()
        model = next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
        flags = next(line for line in lines if line.startswith("flags"))
        model += " with AVX-512" if "avx512f" in flags else " without AVX-512"
    except (OSError, StopIteration):
        pass
    return f"{model}, {os.cpu_count()} cores, {platform.system()}"


def scale(seconds):
    for unit, name in ((1, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")):
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds:.3g} s"


class Report:
    """Rows of the table; what could not be run is a row too."""

    def __init__(self):
        self.lines, self.missing = [], []

    def row(self, what, ours, theirs, goal, beside):
        ratio = ours / theirs
        if goal is None:
            met, said = "", ""
        elif goal[0] == "<=":
            met, said = ratio <= goal[1], f"≤ {goal[1]}"
        else:
            met, said = 1 / ratio >= goal[1], f"{goal[1]} times faster"
        shown = f"{ratio:.2f}" if ratio > 0.05 else f"{1 / ratio:.0f} times faster"
        mark = {True: "yes", False: "no", "": ""}[met]
        self.lines.append(f"| {what} | {scale(ours)} | {beside} | {scale(theirs)} | {shown} | {said} | {mark} |")
        print(self.lines[-1], flush=True)

    def peer(self, name, work):
        try:
            return work()
        except Exception as error:  # A peer that fails must not hide the others.
            self.missing.append(f"- {name}: not run: {type(error).__name__}: {str(error).splitlines()[0][:200]}")
            print(self.missing[-1], flush=True)
            return None


def main():
    begun, load = time.time(), os.getloadavg()[0]
    report = Report()
    ours = kernels()
    limits = {
        "query K=5 M=16 d=64": 1.5,
        "product K=5": 1.4,
        "product K=1000": 1.4,
        "product of many": 1.4,
        "leave-one-out K=5": 3,
        "leave-one-out K=1000": 3,
        "leave-one-out of many": 3,
        "grid: evaluate": 2,
        "mixture: evaluate": 2,
        "grid: all marginals": 2.5,
        "mixture: all marginals": 2.5,
        "calibration error": 4,
        "records with factors into checked factors": 1.8,
    }
    for work, (seconds, limit, least) in ours.items():
        if work != "learned query K=5 d=64":
            goal = limits.get(work)
            report.row(work, seconds, least, goal and ("<=", goal), limit)

    found = report.peer("epalea", epalea)
    if found:
        report.row("query K=5 M=16 d=64", ours["query K=5 M=16 d=64"][0], found[0], (">=", 45), "epalea")
        report.row("learned query K=5 d=64", ours["learned query K=5 d=64"][0], found[1], (">=", 100), "epalea")
    found = report.peer("SPFlow", spflow)
    if found:
        report.row("mixture of 10⁵ edges: evaluate", ours["mixture: evaluate"][0], found, None, "SPFlow, one row")
    # Predictions of the printed size.
    each = ours["calibration error"][0] / 10**7
    found = report.peer("netcal", netcal)
    if found:
        report.row("calibration error, a prediction", each, found, None, "netcal")
    found = report.peer("scikit-learn", sklearn)
    if found:
        report.row("calibration error, a prediction", each, found, None, "scikit-learn, the curve alone")
    found = report.peer("PyTorch", training)
    if found:
        report.row(f"training, {compare.EPOCHS} epochs, one thread", *found, ("<=", 0.25), "PyTorch")
    rows, agree, missing = audit.run()
    report.missing += [f"- {name}: {why}" for name, why in missing]
    goals = {"CSV": 0.5, "JSON lines": 0.25, "Parquet": 0.6}
    for who, (seconds, *_) in rows.items():
        name, shape = who.rsplit(", ", 1)
        own = rows.get(f"lpf audit, {shape}")
        if not name.startswith("lpf") and own:
            # The goals are against one peer; the others are shown.
            goal = ("<=", goals[shape]) if name == "polars + numpy" else None
            report.row(f"audit of {audit.ROWS:,} rows, {shape}", own[0], seconds, goal, name)
    memory = {who: peak for who, (_, _, peak, _) in rows.items()}

    path = pathlib.Path(os.environ.get("RESULTS", HERE / "RESULTS.md"))
    grown = growth(path.with_name("growth.svg"))
    print(grown, end="")
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=HERE).stdout
    text = [
        "# lpf beside its peers and its limits",
        "",
        "Written by `make bench-peers`; nothing here is typed in. A ratio is lpf's seconds over the other's in the",
        "same run. The peers of `audit` compute three numbers, lpf all its checks with their intervals.",
        "",
        f"- {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC, commit {commit.strip() or 'unknown'}",
        f"- {machine()}",
        f"- load when it began {load:.1f}, when it ended {os.getloadavg()[0]:.1f}; {time.time() - begun:.0f} s",
        f"- Python {platform.python_version()}, " + ", ".join(f"{p} {version(p)}" for p in PACKAGES),
        "",
        "| what | lpf | beside | its time | ratio | goal | met |",
        "|---|---:|---|---:|---:|---|---|",
        *report.lines,
        "",
        "Peak memory of the audits: " + ", ".join(f"{who} {peak:.0f} MiB" for who, peak in memory.items()) + ".",
        "All calibration errors agree to nine digits." if agree else "THE CALIBRATION ERRORS DIFFER.",
    ]
    if report.missing:
        text += ["", "Not run:", "", *report.missing]
    text += [
        "",
        "## How cost grows",
        "",
        "On one thread; the exponent is that of a power law through the larger half of the sizes.",
        "",
        *grown.splitlines(),
        "",
        "![growth](growth.svg)",
    ]
    path.write_text("\n".join(text) + "\n")
    print(f"written: {path}")
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
