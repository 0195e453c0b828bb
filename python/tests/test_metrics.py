"""Metrics against scikit-learn, netcal and transcriptions of their formulas."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import sklearn.metrics

import lpf
from lpf import metrics

# Sums of n rounded terms, in any order: n·2⁻⁵³ relative, for n up to a few thousand.
CLOSE = 1e-12

NETCAL = Path(__file__).parent / "netcal.json"


def test_scores_are_those_of_scikit_learn(log):
    classes = np.arange(log.p.shape[1])
    assert metrics.accuracy(log.y, log.p) == sklearn.metrics.accuracy_score(log.y, log.p.argmax(axis=1))
    expected = sklearn.metrics.log_loss(log.y, log.p, labels=classes)
    assert metrics.log_loss(log.y, log.p) == pytest.approx(expected, rel=CLOSE)
    truth = np.eye(len(classes))[log.y]
    expected = np.mean(((log.p - truth) ** 2).sum(axis=1))
    assert metrics.brier(log.y, log.p) == pytest.approx(expected, rel=CLOSE)


def test_brier_of_two_classes_is_twice_that_of_scikit_learn(cancer):
    expected = sklearn.metrics.brier_score_loss(cancer.y, cancer.p[:, 1])
    assert metrics.brier(cancer.y, cancer.p) == pytest.approx(2 * expected, rel=CLOSE)


def binned(c, right, edges):
    """|Σ (c − right)| in each bin, closed on the right."""
    place = np.searchsorted(edges[1:-1], c, side="left")
    return np.array([abs((c - right)[place == b].sum()) for b in range(len(edges) - 1)])


@pytest.mark.parametrize("bins", [1, 10, 15])
def test_calibration_errors_are_their_formulas(log, bins):
    edges = np.linspace(0, 1, bins + 1)
    c, right = log.p.max(axis=1), log.p.argmax(axis=1) == log.y
    expected = binned(c, right, edges).sum() / len(c)
    assert metrics.ece(log.y, log.p, bins=bins) == pytest.approx(expected, rel=CLOSE)
    each = [binned(log.p[:, j], log.y == j, edges).sum() / len(c) for j in range(log.p.shape[1])]
    assert metrics.classwise_ece(log.y, log.p, bins=bins) == pytest.approx(np.mean(each), rel=CLOSE)


def test_debiased_error_is_its_formula(log):
    c, right = log.p.max(axis=1), (log.p.argmax(axis=1) == log.y).astype(float)
    place = np.searchsorted(np.linspace(0, 1, 16)[1:-1], c, side="left")
    total = 0.0
    for b in range(15):
        n = (place == b).sum()
        if n > 1:
            gap, rate = (c - right)[place == b].mean(), right[place == b].mean()
            total += n / len(c) * (gap**2 - rate * (1 - rate) / (n - 1))
    expected = np.sqrt(max(total, 0))
    assert metrics.debiased_error(log.y, log.p) == pytest.approx(expected, rel=1e-10, abs=1e-12)


def test_netcal_finds_the_same(digits, wine, cancer):
    """Its values as recorded with its version by ``record_netcal.py``; where it is installed, its own too."""
    recorded = json.loads(NETCAL.read_text())
    for name, log in {"digits": digits, "wine": wine, "cancer": cancer}.items():
        for bins, expected in recorded["ece"][name].items():
            found = metrics.ece(log.y, log.p, bins=int(bins))
            # netcal works in single precision where it stacks confidences.
            assert found == pytest.approx(expected, rel=1e-6), (name, bins)
    try:
        from record_netcal import ece
    except ImportError:
        return
    assert ece(digits.y, digits.p, 15) == pytest.approx(recorded["ece"]["digits"]["15"], rel=1e-6)


def test_smooth_and_adaptive_errors_lie_where_theory_puts_them(log):
    """A check with one bin is the gap, and smoothing never exceeds the largest of binnings."""
    one = metrics.adaptive_ece(log.y, log.p, bins=1)
    c, right = log.p.max(axis=1), log.p.argmax(axis=1) == log.y
    assert one == pytest.approx(abs(np.mean(c - right)), abs=1e-12)
    assert one - 1e-9 <= metrics.adaptive_ece(log.y, log.p) <= 1
    # smECE is at most the error of the finest partition, every row by itself.
    assert 0 < metrics.smooth_ece(log.y, log.p) <= np.mean(abs(c - right))


def test_decompositions_add_up(log):
    parts = metrics.brier_decomposition(log.y, log.p, bins=200)
    spread = parts.score - parts.calibration - parts.refinement
    # Probabilities of one class in one bin differ by at most 1/200.
    assert abs(spread) <= log.p.shape[1] * 2 / 200
    parts = metrics.log_loss_decomposition(log.y, log.p)
    entropy = -(log.p * np.log(log.p)).sum(axis=1).mean()
    assert parts.excess == pytest.approx(parts.score - entropy, rel=1e-9)
    assert 0 <= parts.floor <= np.log(2)


def test_they_are_the_values_of_the_audit(digits):
    checks = lpf.audit(digits.y, digits.p).checks
    for name in ["ece", "classwise_ece", "adaptive_ece", "debiased_error", "smooth_ece", "brier", "log_loss"]:
        assert getattr(metrics, name)(digits.y, digits.p) == checks[name].value, name


def test_a_wrong_row_is_an_error():
    with pytest.raises(lpf.RecordError) as error:
        metrics.ece([0, 1], [[0.5, 0.5], [0.5, 0.6]])
    assert error.value.line == 2
    with pytest.raises(lpf.Error):
        metrics.ece([], np.empty((0, 2)))
    assert metrics.log_loss([0], [[0.0, 1.0]]) == np.inf
