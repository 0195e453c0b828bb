"""Does a model's confidence mean what it says?

>>> import numpy as np
>>> import lpf
>>> rng = np.random.default_rng(0)
>>> p = rng.uniform(0.5, 1.0, 4000)                # the probability of class 1
>>> y = rng.uniform(size=4000) < p**2              # right less often than said
>>> report = lpf.audit(y, p)
>>> report.passed
False
>>> report.checks["gap"].verdict
'fail'
>>> repaired = lpf.Calibrator("temperature").fit(p[:2000], y[:2000]).predict_proba(p[2000:])
>>> repaired.shape
(2000, 2)

Rows go in as NumPy arrays, pandas, polars or Arrow tables, lists, or the path of a log; they are read by
the library behind the command ``lpf``, so that both say the same, byte for byte.
"""

from . import metrics
from ._audit import Audit, Check, Slice, Source, audit
from ._errors import (
    AggregationError,
    AuditError,
    AuditFailed,
    CalibrationError,
    DistributionError,
    Error,
    FileError,
    ModelError,
    NetworkError,
    RecordError,
    SettingError,
)
from ._estimators import Calibrator, ConformalSets
from ._evidence import Model, aggregate
from ._lpf import __version__
from ._monitor import Alarm, Monitor, monitor
from ._spn import Explanation, Spn, SpnBuilder

__all__ = [
    "AggregationError",
    "Alarm",
    "Audit",
    "AuditError",
    "AuditFailed",
    "CalibrationError",
    "Calibrator",
    "Check",
    "ConformalSets",
    "DistributionError",
    "Error",
    "Explanation",
    "FileError",
    "Model",
    "ModelError",
    "Monitor",
    "NetworkError",
    "RecordError",
    "SettingError",
    "Slice",
    "Source",
    "Spn",
    "SpnBuilder",
    "__version__",
    "aggregate",
    "audit",
    "metrics",
    "monitor",
]
