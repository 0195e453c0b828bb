"""A million rows from a DataFrame: lpf beside netcal and scikit-learn, each in a process of its own, in one
run. ``python bench.py`` prints a table; netcal is left out where it is not installed.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

ROWS, CLASSES = 1_000_000, 10


def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    z = rng.normal(size=(ROWS, CLASSES)) * 2
    p = np.exp(z)
    p /= p.sum(axis=1, keepdims=True)
    y = (p.cumsum(axis=1) < rng.uniform(size=(ROWS, 1))).sum(axis=1).clip(0, CLASSES - 1)
    out = pd.DataFrame(p, columns=[f"prob_{j}" for j in range(CLASSES)])
    out["label"] = y
    return out


def lpf_audit(df: pd.DataFrame) -> float:
    """All checks, with intervals and verdicts."""
    import lpf

    return lpf.audit(df).checks["ece"].value or 0.0


def peers(df: pd.DataFrame) -> float:
    """ECE, classwise ECE, ACE and MCE by netcal; log loss, accuracy and Brier score by scikit-learn."""
    from netcal.metrics import ACE, ECE, MCE
    from sklearn.metrics import accuracy_score, brier_score_loss, log_loss

    y = df["label"].to_numpy()
    p = df.drop(columns="label").to_numpy()
    found = ECE(15).measure(p, y)
    ACE(15).measure(p, y)
    MCE(15).measure(p, y)
    for j in range(CLASSES):
        ECE(15).measure(p[:, j], (y == j).astype(int))
        brier_score_loss(y == j, p[:, j])
    log_loss(y, p)
    accuracy_score(y, p.argmax(axis=1))
    return float(found)


def sklearn_only(df: pd.DataFrame) -> float:
    """Log loss, accuracy and Brier scores by scikit-learn, without any calibration error."""
    from sklearn.metrics import accuracy_score, brier_score_loss, log_loss

    y = df["label"].to_numpy()
    p = df.drop(columns="label").to_numpy()
    for j in range(CLASSES):
        brier_score_loss(y == j, p[:, j])
    accuracy_score(y, p.argmax(axis=1))
    return float(log_loss(y, p))


WORK = {f.__name__: f for f in (lpf_audit, peers, sklearn_only)}


def peak() -> int:
    """The largest resident set so far, in KiB: on Linux since it was last cleared."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM")).split()[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def child(name: str) -> None:
    import lpf  # noqa: F401

    try:
        import netcal.metrics  # noqa: F401
        import sklearn.metrics  # noqa: F401
    except ImportError:
        pass
    df = frame()
    # The peak of making the frame is not to hide that of the work.
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        pass
    before = peak()
    start = time.perf_counter()
    value = WORK[name](df)
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "mib": (peak() - before) / 1024, "value": value}))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        child(sys.argv[1])
        sys.exit()
    found = {}
    for name in WORK:
        done = subprocess.run([sys.executable, __file__, name], capture_output=True, text=True)
        if done.returncode:
            print(f"{name}: not run ({done.stderr.strip().splitlines()[-1]})")
            continue
        found[name] = json.loads(done.stdout)
    print(f"| {ROWS:,} rows, {CLASSES} classes | seconds | more memory at the peak, MiB | times lpf's |")
    print("|---|---:|---:|---:|")
    own = found["lpf_audit"]
    for name, f in found.items():
        what = (WORK[name].__doc__ or "").strip()
        print(f"| {name}: {what} | {f['seconds']:.2f} | {f['mib']:.0f} | {f['seconds'] / own['seconds']:.2f} |")
