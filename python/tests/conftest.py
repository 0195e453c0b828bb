"""Real predictions: classifiers of scikit-learn on its own data sets."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

PYTHON = Path(__file__).resolve().parents[1]


class Predictions(NamedTuple):
    """Labels and probabilities of rows that a model was not trained on, in two halves."""

    y: np.ndarray
    p: np.ndarray
    y_fit: np.ndarray
    p_fit: np.ndarray


def predictions(load, model, noise: float) -> Predictions:
    x, y = load(return_X_y=True)
    x = x + np.random.default_rng(0).normal(scale=noise, size=x.shape) * x.std(axis=0)
    x_train, x_rest, y_train, y_rest = train_test_split(x, y, test_size=0.7, random_state=1, stratify=y)
    x_fit, x_test, y_fit, y_test = train_test_split(x_rest, y_rest, test_size=0.5, random_state=2)
    model.fit(x_train, y_train)
    # Raised to what a double shows as positive: peers clip zeros, each in its own way.
    q = [np.clip(model.predict_proba(part), 1e-12, None) for part in (x_test, x_fit)]
    p_test, p_fit = (part / part.sum(axis=1, keepdims=True) for part in q)
    return Predictions(y_test, p_test, y_fit, p_fit)


#: A name for each, and how it is made: naive Bayes is over-confident, the third nearly calibrated.
LOGS = {
    "digits": lambda: predictions(load_digits, GaussianNB(var_smoothing=1e-2), 1.0),
    "wine": lambda: predictions(load_wine, GaussianNB(), 1.0),
    "cancer": lambda: predictions(
        load_breast_cancer, make_pipeline(StandardScaler(), LogisticRegression(C=100)), 1.0
    ),
}


@pytest.fixture(scope="session")
def digits() -> Predictions:
    return LOGS["digits"]()


@pytest.fixture(scope="session")
def wine() -> Predictions:
    return LOGS["wine"]()


@pytest.fixture(scope="session")
def cancer() -> Predictions:
    return LOGS["cancer"]()


@pytest.fixture(params=["digits", "wine", "cancer"])
def log(request) -> Predictions:
    """Each of the three."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def command(tmp_path):
    """The command of the package, in a folder of its own: its exit code, output and messages."""

    def run(*arguments: str, code: int = 0) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "lpf", *arguments], cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == code, (done.returncode, done.stderr)
        return done.stdout if code < 2 else done.stderr

    return run
