"""What can go wrong: exceptions with the messages of the command ``lpf``."""

from __future__ import annotations

from typing import Optional


class Error(ValueError):
    """Something that cannot be done with what was given; the message says what, and where.

    ``file``, ``line`` (counted from 1; the number of the row for rows in memory) and ``field`` name the
    place, as far as it is known.
    """

    def __init__(
        self,
        message: str,
        file: Optional[str] = None,
        line: Optional[int] = None,
        field: Optional[str] = None,
    ) -> None:
        super().__init__(message)
        self.file = file
        self.line = line
        self.field = field


class FileError(Error, OSError):
    """A file cannot be opened, read or written."""


class SettingError(Error):
    """A setting is out of range, missing, or does not go with another."""


class RecordError(Error):
    """A record, or a row of a log, is malformed."""


class DistributionError(Error):
    """Numbers are not a probability distribution."""


class AggregationError(Error):
    """Evidence cannot be combined."""


class NetworkError(Error):
    """A sum-product network is invalid, or cannot be queried."""


class ModelError(Error):
    """A model file is malformed, or the model cannot be used."""


class CalibrationError(Error):
    """A calibration map is malformed, cannot be fitted, or does not fit the predictions."""


class AuditError(Error):
    """A log cannot be audited."""


class AuditFailed(Error):
    """An audit did not pass: see :meth:`lpf.Audit.raise_for_failure`."""
