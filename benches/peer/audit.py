"""Audits the same ten million predictions with lpf and with peers in Python; prints times, peak
memory and ratios, and that the calibration errors agree.

Peers: polars (reads all three shapes on all cores) and pandas for reading; the calibration error by
NumPy as netcal computes it, and by netcal itself; accuracy and log loss by scikit-learn. Each peer is
a process of its own, so that peak memory is its own. The fastest and the smallest of them, for the
same shape of input, are the divisors.

    python benches/peer/audit.py        (after: cargo build --release; ROWS=1000000 for a short run)
"""

import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LPF = pathlib.Path(os.environ.get("LPF", ROOT / "target/release/lpf"))
ROWS = int(os.environ.get("ROWS", "10000000"))
BINS = 15


def generate(folder):
    """Three classes; the probability of the true class is what the row says."""
    import numpy as np
    import polars as pl

    csv, jsonl, parquet = (folder / f"log.{kind}" for kind in ("csv", "jsonl", "parquet"))
    random = np.random.default_rng(1)
    with open(csv, "w") as a, open(jsonl, "w") as b:
        a.write("label,prob_0,prob_1,prob_2\n")
        done = 0
        while done < ROWS:
            n = min(500_000, ROWS - done)
            p = random.dirichlet([1.0, 0.5, 0.5], n)
            label = (random.random(n)[:, None] > p.cumsum(axis=1)).sum(axis=1).clip(0, 2)
            for y, (x0, x1, x2) in zip(label.tolist(), p.round(9).tolist()):
                a.write(f"{y},{x0},{x1},{x2}\n")
                b.write(f'{{"label":{y},"probs":[{x0},{x1},{x2}]}}\n')
            done += n
    pl.scan_csv(csv).sink_parquet(parquet)
    return csv, jsonl, parquet


PEERS = {
    "polars + numpy, Parquet": """
import sys, json, numpy as np, polars as pl
data = pl.read_parquet(sys.argv[1])
p = data.select(["prob_0", "prob_1", "prob_2"]).to_numpy(); y = data["label"].to_numpy()
ECE
""",
    "polars + numpy, JSON lines": """
import sys, json, numpy as np, polars as pl
data = pl.read_ndjson(sys.argv[1])
p = data["probs"].list.to_array(3).to_numpy(); y = data["label"].to_numpy()
ECE
""",
    "pandas + numpy, JSON lines": """
import sys, json, numpy as np, pandas as pd
data = pd.read_json(sys.argv[1], lines=True, engine="pyarrow")
p = np.stack(data["probs"].to_numpy()); y = data["label"].to_numpy()
ECE
""",
    "polars + numpy, CSV": """
import sys, json, numpy as np, polars as pl
data = pl.read_csv(sys.argv[1])
p = data.select(["prob_0", "prob_1", "prob_2"]).to_numpy(); y = data["label"].to_numpy()
ECE
""",
    "pandas + numpy, CSV": """
import sys, json, numpy as np, pandas as pd
data = pd.read_csv(sys.argv[1])
p = data[["prob_0", "prob_1", "prob_2"]].to_numpy(); y = data["label"].to_numpy()
ECE
""",
    "polars + netcal + scikit-learn, CSV": """
import sys, json, numpy as np, polars as pl
from netcal.metrics import ECE
from sklearn.metrics import accuracy_score, log_loss
data = pl.read_csv(sys.argv[1])
p = data.select(["prob_0", "prob_1", "prob_2"]).to_numpy(); y = data["label"].to_numpy()
accuracy_score(y, p.argmax(axis=1)); log_loss(y, p, labels=[0, 1, 2])
print(json.dumps(float(ECE(15).measure(p, y))))
""",
}

# Equal-width bins, closed on the right.
NUMPY_ECE = """
c = p.max(axis=1); t = p.argmax(axis=1) == y
b = np.digitize(c, np.linspace(0, 1, 16)[1:-1], right=True)
n = len(c); gap = np.bincount(b, c, 15) - np.bincount(b, t, 15)
eps = 1e-300
np.log(np.maximum(p[np.arange(n), y], eps)).mean(); ((p - np.eye(3)[y]) ** 2).sum(axis=1).mean()
print(json.dumps(float(np.abs(gap).sum() / n)))
"""


def measured(command):
    """Seconds, peak MiB and standard output of a process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = process.communicate()
    seconds = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if process.returncode not in (0, 1):
        return None, err.decode()[-300:]
    return (seconds, cpu, out), None


def peak(command):
    """Peak resident memory in MiB, as GNU time measures it for one process."""
    done = subprocess.run(["/usr/bin/time", "-f", "%M", *command], capture_output=True, text=True)
    return int(done.stderr.strip().splitlines()[-1]) / 1024


def run():
    """Seconds, processor seconds, peak MiB and calibration error of each, whether all errors agree, and who
    could not be run."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as name:
        csv, jsonl, parquet = generate(pathlib.Path(name))
        results, missing = {}, []
        shapes = {"CSV": csv, "JSON lines": jsonl, "Parquet": parquet}
        commands = {
            f"lpf audit, {shape}": [str(LPF), "audit", str(path), "--format", "json"]
            for shape, path in shapes.items()
        }
        for peer, code in PEERS.items():
            code = code.replace("ECE\n", NUMPY_ECE) if code.rstrip().endswith("ECE") else code
            commands[peer] = [sys.executable, "-c", code, str(shapes[peer.split(", ")[1]])]
        for who, command in commands.items():
            got, why = measured(command)
            if got is None:
                missing.append((who, f"not run: {why}"))
                continue
            seconds, cpu, out = got
            value = json.loads(out)
            if isinstance(value, dict):
                value = next(c["value"] for c in value["checks"] if c["id"] == "ece")
            results[who] = (seconds, cpu, peak(command), value)
        sizes = ", ".join(f"{p.stat().st_size >> 20} MiB {p.suffix[1:]}" for p in (csv, jsonl, parquet))
        print(f"{ROWS} rows, {sizes}, {os.cpu_count()} cores")
    ours = results["lpf audit, CSV"][3]
    return results, all(abs(r[3] - ours) < 1e-9 for r in results.values()), missing


def main():
    results, agree, missing = run()
    for who, why in missing:
        print(f"{who}: {why}")
    print("ratios to the fastest and the smallest peer for the same input")
    print(f"{'':36} {'s':>7} {'CPU s':>7} {'MiB':>7} {'time':>6} {'CPU':>6} {'memory':>6}  ECE")
    for who, row in results.items():
        shape = who.split(", ")[1]
        peers = [r for w, r in results.items() if not w.startswith("lpf") and w.endswith(shape)]
        ratios = " ".join(f"{row[i] / min(r[i] for r in peers):6.3f}" for i in range(3)) if peers else ""
        print(f"{who:36} {row[0]:7.1f} {row[1]:7.1f} {row[2]:7.0f} {ratios}  {row[3]:.9f}")
    print("all calibration errors agree to 9 digits" if agree else "CALIBRATION ERRORS DIFFER")
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
