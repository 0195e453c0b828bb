"""Evidence in, an answer out."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Optional, Union

import numpy as np
import numpy.typing as npt

from ._audit import _jsonable, _map_of
from ._errors import AggregationError, RecordError
from ._files import read
from ._lpf import aggregate as _aggregate
from ._lpf import infer as _infer
from ._rows import MOST, names_of, numbers, real, reals, text, whole


def aggregate(
    factors: Any,
    weights: Any = None,
    *,
    method: str = "spn",
    prior: Optional[Sequence[float]] = None,
    tolerance: Optional[float] = None,
) -> npt.NDArray[np.float64]:
    r"""Combines items of evidence into one distribution.

    Parameters
    ----------
    factors
        One distribution an item: items × classes; or entities × items × classes.
    weights
        One number an item, finite and not negative [default: 1].
    method
        ``"spn"``: :math:`\prod_i \Phi_i(y)^{w_i}`, normalized, exact in a sum-product network.
        ``"prior-corrected"``: :math:`\pi(y) \prod_i (\Phi_i(y)/\pi(y))^{w_i}`; needs ``prior``.
        ``"uniform"``: the mean. ``"vote"``: shares of a majority vote. ``"max"``: the largest entry for
        each class, normalized.

    Returns
    -------
    The distribution of the entity, or of each. The same bits for any order of the items.

    Examples
    --------
    >>> import lpf
    >>> lpf.aggregate([[0.5, 0.5], [0.75, 0.25]])
    array([0.75, 0.25])
    >>> lpf.aggregate([[0.5, 0.5], [0.75, 0.25]], method="uniform")
    array([0.625, 0.375])
    >>> lpf.aggregate([[1.0, 0.0], [0.0, 1.0]])
    Traceback (most recent call last):
        ...
    lpf._errors.AggregationError: ...
    """
    array = numbers(factors)
    half = array.dtype == np.float16
    array = array.astype(np.float64)
    if array.ndim not in (2, 3):
        raise AggregationError(f"factors of {array.ndim} dimensions; items × classes are needed")
    single = array.ndim == 2
    if single:
        array = array[np.newaxis]
    if weights is None:
        given = np.ones(array.shape[:2])
    else:
        try:
            given = np.broadcast_to(np.asarray(weights, dtype=np.float64), array.shape[:2])
        except (TypeError, ValueError) as error:
            raise AggregationError(f"weights: {error}") from None
    if tolerance is None:
        # Rounded to half precision, n numbers are off by 2⁻¹¹ of themselves or, if tiny, by 2⁻²⁵.
        tolerance = 2.0**-11 + array.shape[-1] * 2.0**-25 if half else 1e-6
    known = None if prior is None else reals("prior", prior)
    out = _aggregate(array, given, text("method", method), known, real("tolerance", tolerance))
    return out[0] if single else out


class Model:
    """A trained model, which answers evidence given as embeddings or posteriors, or as factors.

    Without a file, :meth:`Model.infer` answers factors.

    >>> import lpf
    >>> item = {"id": "audit", "factor": [0.1, 0.8, 0.1], "weight": 0.9}
    >>> answers = lpf.Model().infer([{"entity": "C5", "evidence": [item]}], classes=["low", "mid", "high"])
    >>> answers[0]["prediction"], round(answers[0]["confidence"], 4)
    ('mid', 0.7647)
    """

    def __init__(self, path: Optional[Union[str, os.PathLike[str]]] = None) -> None:
        self.path = None if path is None else os.fspath(path)

    @classmethod
    def load(cls, path: Union[str, os.PathLike[str]]) -> Model:
        """A model that ``lpf train`` wrote; it is read, and checked, now."""
        model = cls(path)
        model.infer([])
        return model

    def infer(
        self,
        records: Union[Iterable[Union[Mapping[str, Any], str]], str, os.PathLike[str]],
        *,
        method: str = "spn",
        classes: Optional[Iterable[object]] = None,
        prior: Optional[Sequence[float]] = None,
        calibration: Any = None,
        aggregator: Optional[Union[str, os.PathLike[str]]] = None,
        samples: int = 16,
        seed: int = 0,
        explain: bool = False,
        tolerance: Optional[float] = None,
        threads: Optional[int] = None,
    ) -> list[dict[str, Any]]:
        """Answers records: dictionaries or JSON texts, one an entity, or the path of a file of them.

        The answers are the lines of ``lpf infer``: ``distribution``, ``prediction``, ``confidence``,
        ``k_eff``, with ``explain`` the items and their influence.
        """
        settings = {
            "method": text("method", method),
            "classes": names_of(classes),
            "prior": None if prior is None else reals("prior", prior),
            "model": self.path,
            "aggregator": None if aggregator is None else os.fspath(aggregator),
            "calibration": _map_of(calibration),
            "samples": whole("samples", samples, 1, 2**32 - 1),
            "seed": whole("seed", seed, 0, 2**64 - 1),
            "explain": bool(explain),
            "tolerance": None if tolerance is None else real("tolerance", tolerance),
            "threads": None if threads is None else whole("threads", threads, 1, MOST),
        }
        return [json.loads(line) for line in _infer(_lines(records), settings)]


def _lines(records: Any) -> bytes:
    """Records as JSON lines."""
    if isinstance(records, (str, os.PathLike)):
        return read(records)
    if not isinstance(records, Iterable):
        raise RecordError(f"{type(records).__name__}: records, or the path of a file of them, are needed")
    lines = []
    for number, record in enumerate(records, 1):
        try:
            line = record if isinstance(record, str) else json.dumps(record, default=_jsonable)
            lines.append(" ".join(line.splitlines()).encode())
        except (TypeError, ValueError) as error:
            raise RecordError(f"record {number}: {error}", line=number) from None
    return b"\n".join(lines)
