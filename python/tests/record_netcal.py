"""Records what netcal finds: ``python tests/record_netcal.py`` where it is installed."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

import numpy as np
from netcal.metrics import ECE


def ece(y: np.ndarray, p: np.ndarray, bins: int) -> float:
    p = p[:, 1] if p.shape[1] == 2 else p
    if p.ndim == 1:
        # netcal takes one dimension for the class that is asked about, not the one that is predicted.
        c = np.maximum(p, 1 - p)
        right = (p > 0.5).astype(int) == y
        return float(ECE(bins).measure(c, right.astype(int)))
    return float(ECE(bins).measure(p, y))


if __name__ == "__main__":
    from conftest import LOGS

    logs = {name: make() for name, make in LOGS.items()}
    found = {name: {str(b): ece(log.y, log.p, b) for b in (5, 10, 15)} for name, log in logs.items()}
    text = json.dumps({"netcal": version("netcal"), "ece": found}, indent=2)
    Path(__file__).with_name("netcal.json").write_text(text + "\n")
    print(text)
