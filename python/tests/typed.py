"""Calls with their types, for mypy --strict: nothing here runs."""

from typing import Optional

import numpy as np
import numpy.typing as npt

import lpf
from lpf import metrics


def everything(y: npt.NDArray[np.int64], p: npt.NDArray[np.float64]) -> None:
    report: lpf.Audit = lpf.audit(y, p, limits={"ece": 0.05, "gap": None})
    passed: bool = report.passed
    value: Optional[float] = report.checks["ece"].value
    page: str = report.raise_for_failure().merge(report).to_html()
    calibrated: npt.NDArray[np.float64] = lpf.Calibrator("auto").fit(p, y).predict_proba(p)
    inside: npt.NDArray[np.bool_] = lpf.ConformalSets(0.9).fit(p, y).predict(p)
    error: float = metrics.ece(y, p, bins=10)
    answer: npt.NDArray[np.float64] = lpf.aggregate(p, method="uniform")
    marginals: list[list[float]] = lpf.SpnBuilder([2]).build(0).marginals({0: [0.5, 1.0]})
    alarms: list[lpf.Alarm] = lpf.monitor(y, p).alarms
    del passed, value, page, calibrated, inside, error, answer, marginals, alarms
