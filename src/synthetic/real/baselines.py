#!/usr/bin/env python3
"""Records baselines.txt: what two usual methods say about the entities to be judged by.

    pip install numpy scikit-learn
    python3 baselines.py

Both learn from the first 900 entities of digits.bin and the first 625 of phishing.bin, as the program
does, and see the same rounded numbers. Settings are scikit-learn's defaults but for those below; nothing was tuned.
"""

import pathlib
import struct
import sys

import numpy
import sklearn
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

HERE = pathlib.Path(__file__).parent
# Entities, how many of them to learn from, and columns of each view.
VIEWS = {"digits": (2000, 900, [76, 216, 64, 240, 47, 6]), "phishing": (1250, 625, [1] * 9)}


def read(name):
    rows, _, widths = VIEWS[name]
    data, at, columns = (HERE / f"{name}.bin").read_bytes(), 0, []
    while at < len(data):
        bits, offset, step = struct.unpack_from("<Bdd", data, at)
        at, size = at + 17, (bits * rows + 7) // 8
        packed = int.from_bytes(data[at:at + size], "little")
        columns.append([offset + step * (packed >> bits * r & (1 << bits) - 1) for r in range(rows)])
        at += size
    assert len(columns) == 2 + sum(widths)
    numbers = numpy.array(columns[2:]).T
    return numpy.array(columns[1], int), numpy.split(numbers, numpy.cumsum(widths)[:-1], axis=1)


def logistic(name):
    scale = StandardScaler() if name == "digits" else OneHotEncoder(handle_unknown="ignore")
    return make_pipeline(scale, LogisticRegression(max_iter=5000))


def stacked(name, views, y, first):
    """A logistic regression for each view, and one over the logarithms of what they say, out of fold."""
    learn, judge = [], []
    for view in views:
        learn.append(cross_val_predict(logistic(name), view[:first], y[:first], cv=5,
                                       method="predict_log_proba"))
        judge.append(logistic(name).fit(view[:first], y[:first]).predict_log_proba(view[first:]))
    top = make_pipeline(StandardScaler(), LogisticRegression(max_iter=5000))
    return top.fit(numpy.hstack(learn), y[:first]).predict_proba(numpy.hstack(judge))


def forest(name, views, y, first):
    trees = RandomForestClassifier(n_estimators=500, random_state=1)
    together = numpy.hstack(views)
    return trees.fit(together[:first], y[:first]).predict_proba(together[first:])


if __name__ == "__main__":
    lines = [
        "# Recorded by baselines.py with Python "
        f"{sys.version.split()[0]}, NumPy {numpy.__version__}, scikit-learn {sklearn.__version__}.",
        "# A line: data set, method, and the probability of each class (four digits) for one entity to be",
        "# judged by, in their order.",
    ]
    for name in VIEWS:
        y, views = read(name)
        first = VIEWS[name][1]
        for method in (stacked, forest):
            said = method(name, views, y, first)
            right = int((said.argmax(1) == y[first:]).sum())
            print(f"{name} {method.__name__}: {right} of {len(said)} right")
            for row in said:
                lines.append(f"{name} {method.__name__} " + " ".join(f"{p:.4g}" for p in row))
    (HERE / "baselines.txt").write_text("\n".join(lines) + "\n")
