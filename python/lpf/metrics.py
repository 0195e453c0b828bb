r"""Calibration errors and proper scores as plain functions.

Each is the value of the check of that name in :func:`lpf.audit`, to the bit. With :math:`\hat y = \arg\max
p` (ties to the first class), confidence :math:`c = \max p`, and bins :math:`b` that are closed on the right,
:math:`n_b` of :math:`n` rows fall into a bin, with mean confidence :math:`c_b` and hit rate :math:`a_b`. A
row that is not a distribution, or has no label, is an error: see :func:`lpf.audit` for logs with such rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

from ._audit import _settings
from ._errors import AuditError, RecordError
from ._lpf import Report
from ._lpf import audit as _audit
from ._rows import rows_of

__all__ = [
    "BrierParts",
    "LogLossParts",
    "accuracy",
    "adaptive_ece",
    "brier",
    "brier_decomposition",
    "classwise_ece",
    "debiased_error",
    "ece",
    "log_loss",
    "log_loss_decomposition",
    "smooth_ece",
]


def _report(y: Any, p: Any, bins: int, tolerance: Optional[float]) -> Report:
    if y is None:
        raise RecordError("there are no labels: y is None")
    given = rows_of(y, p)
    return _audit([given.rows], [], _settings(bins=bins, tolerance=tolerance, strict=True))


def _value(report: Report, check: str) -> float:
    for found in report.checks():
        if found["id"] == check:
            if found["value"] is None:
                raise AuditError(f"{check}: {found['reason']}")
            return float(found["value"])
    raise AuditError(f"{check}: there is no such check")


def accuracy(y: Any, p: Any, *, tolerance: Optional[float] = None) -> float:
    r"""The share of rows with :math:`\hat y = y`.

    >>> accuracy([0, 1], [[0.8, 0.2], [0.6, 0.4]])
    0.5
    """
    return _value(_report(y, p, 15, tolerance), "accuracy")


def ece(y: Any, p: Any, *, bins: int = 15, tolerance: Optional[float] = None) -> float:
    r"""Expected calibration error of the predicted class, :math:`\sum_b \frac{n_b}{n} |c_b - a_b|`, with
    bins of equal width (Guo et al. 2017).

    >>> ece([0, 1, 0, 0], [[0.75, 0.25]] * 4)
    0.0
    >>> ece([1, 1, 0, 0], [[0.75, 0.25]] * 4)
    0.25
    """
    return _value(_report(y, p, bins, tolerance), "ece")


def classwise_ece(y: Any, p: Any, *, bins: int = 15, tolerance: Optional[float] = None) -> float:
    r"""The mean over the classes :math:`j` of the calibration error of :math:`p_j` for :math:`[y = j]`
    (Nixon et al. 2019)."""
    return _value(_report(y, p, bins, tolerance), "classwise_ece")


def adaptive_ece(y: Any, p: Any, *, bins: int = 15, tolerance: Optional[float] = None) -> float:
    """The calibration error of the predicted class in bins of about equal mass; equal confidences, to
    2\\ :sup:`-16`, stay together."""
    return _value(_report(y, p, bins, tolerance), "adaptive_ece")


def debiased_error(y: Any, p: Any, *, bins: int = 15, tolerance: Optional[float] = None) -> float:
    r""":math:`\sqrt{\sum_b \frac{n_b}{n} [(c_b - a_b)^2 - a_b (1 - a_b)/(n_b - 1)]}`, zero where the sum is
    negative (Bröcker 2012; Kumar, Liang and Ma 2019)."""
    return _value(_report(y, p, bins, tolerance), "debiased_error")


def smooth_ece(y: Any, p: Any, *, tolerance: Optional[float] = None) -> float:
    """The calibration error of the predicted class smoothed by a kernel whose width is the error itself
    (Błasiok and Nakkiran 2023)."""
    return _value(_report(y, p, 15, tolerance), "smooth_ece")


def brier(y: Any, p: Any, *, tolerance: Optional[float] = None) -> float:
    r"""The mean of :math:`\sum_j (p_j - [y = j])^2`, between 0 and 2. For two classes that is twice
    scikit-learn's ``brier_score_loss``, which counts one of them.

    >>> brier([0, 1], [[0.75, 0.25], [0.75, 0.25]])
    0.625
    """
    return _value(_report(y, p, 15, tolerance), "brier")


class BrierParts(NamedTuple):
    """The Brier score; what recalibration can remove of it, and what it cannot, in bins of each class."""

    score: float
    calibration: float
    refinement: float


def brier_decomposition(
    y: Any, p: Any, *, bins: int = 15, tolerance: Optional[float] = None
) -> BrierParts:
    r"""Over classes and bins, :math:`\sum \frac{n_b}{n} (c_b - a_b)^2` (calibration) and
    :math:`\sum \frac{n_b}{n} a_b (1 - a_b)` (refinement); with the spread of probabilities inside bins they
    add up to the score (Murphy 1973)."""
    report = _report(y, p, bins, tolerance)
    parts = ("brier", "brier_calibration", "brier_refinement")
    return BrierParts(*(_value(report, part) for part in parts))


def log_loss(y: Any, p: Any, *, tolerance: Optional[float] = None) -> float:
    r"""The mean of :math:`-\ln p_y`, without clipping: infinite where a true class was called impossible.

    >>> log_loss([0], [[0.0, 1.0]])
    inf
    """
    return _value(_report(y, p, 15, tolerance), "log_loss")


class LogLossParts(NamedTuple):
    """The log loss; how much more it is than a calibrated model's; what no map of the bins goes below."""

    score: float
    excess: float
    floor: float


def log_loss_decomposition(
    y: Any, p: Any, *, bins: int = 15, tolerance: Optional[float] = None
) -> LogLossParts:
    r"""The mean log loss, that minus the mean entropy of the predictions, and
    :math:`\sum_b \frac{n_b}{n} H(a_b)`: whether a prediction is right cannot be told from its bin with less.

    A log loss that is infinite has no excess, which is an error.
    """
    report = _report(y, p, bins, tolerance)
    parts = ("log_loss", "log_loss_excess", "log_loss_floor")
    return LogLossParts(*(_value(report, part) for part in parts))
