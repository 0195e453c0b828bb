"""Calibration maps and prediction sets, in scikit-learn's conventions."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator
from typing import Any, Optional, TypeVar, Union

import numpy as np
import numpy.typing as npt

from ._errors import CalibrationError, SettingError
from ._files import read, write
from ._lpf import MAX_BINS, Map
from ._rows import Given, coded, real, rows_of, text, whole

Self = TypeVar("Self", bound="_Estimator")
Floats = npt.NDArray[np.float64]


class _Estimator:
    """What scikit-learn asks of an estimator, without scikit-learn."""

    _map: Map
    tolerance: Optional[float]
    classes_: npt.NDArray[Any]
    n_features_in_: int

    @classmethod
    def _names(cls) -> list[str]:
        names = inspect.signature(cls.__init__).parameters
        return sorted(name for name in names if name != "self")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings by their names."""
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self: Self, **params: Any) -> Self:
        """Other settings; the estimator itself."""
        for name, value in params.items():
            if name not in self._names():
                raise SettingError(f"{name} is no setting of {type(self).__name__}", field=name)
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        said = (
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if value != defaults[name].default
        )
        return f"{type(self).__name__}({', '.join(said)})"

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_map")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import (  # type: ignore[import-untyped,unused-ignore]
            ClassifierTags,
            InputTags,
            Tags,
            TargetTags,
        )

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(poor_score=True),
            input_tags=InputTags(positive_only=True),
        )

    def _fitted(self) -> Map:
        if not hasattr(self, "_map"):
            said = f"this {type(self).__name__} is not fitted yet; call fit(p, y) first"
            try:
                from sklearn.exceptions import (  # type: ignore[import-untyped,unused-ignore]
                    NotFittedError,
                )
            except ImportError:
                raise CalibrationError(said) from None
            raise NotFittedError(said)
        return self._map

    def _tolerance(self) -> Optional[float]:
        return None if self.tolerance is None else real("tolerance", self.tolerance)

    def _labelled(self, p: Any, y: Any) -> Given:
        """The rows to fit to."""
        if y is None:
            raise CalibrationError("fit requires y to be passed, but the target y is None")
        # Both are looked at twice.
        y, p = (list(v) if isinstance(v, Iterator) else v for v in (y, p))
        return rows_of(y, p, classes=self._classes(y, p))

    def _rows(self, p: Any) -> Given:
        """The rows to answer."""
        given = rows_of(None, p)
        found, expected = given.rows.classes, self.n_features_in_
        if found != expected:
            raise CalibrationError(f"{found} columns of probabilities, but the map is for {expected}")
        return given

    def _classes(self, y: Any, p: Any) -> Optional[list[str]]:
        """The names of the classes: those in ``y``, sorted, as scikit-learn orders columns, where there
        are as many as columns; none where labels are positions."""
        _, values = coded(y)
        if any(isinstance(value, float) for value in values):
            raise CalibrationError("Unknown label type: continuous numbers are no classes")
        width = rows_of(None, p).rows.classes
        found = sorted(values, key=lambda value: (str(type(value)), value))
        integers = all(isinstance(value, (int, np.integer)) for value in found)
        if integers and all(0 <= int(value) < width for value in found):  # type: ignore[call-overload]
            self.classes_ = np.arange(width)
            return None
        if len(found) != width:
            raise CalibrationError(
                f"{len(found)} classes in y, but {width} columns of probabilities; labels are positions of "
                "columns, or names of which each occurs"
            )
        self.classes_ = np.array(found)
        return [str(value) for value in found]

    def to_json(self) -> str:
        """The content of a calibration file, as ``lpf calibrate`` writes it."""
        return self._fitted().to_json()

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the file that ``lpf infer``, ``lpf apply`` and ``lpf audit`` read."""
        write(path, self.to_json())

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        fitted = state.pop("_map", None)
        if fitted is not None:
            state["_json"] = fitted.to_json()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        fitted = state.pop("_json", None)
        self.__dict__.update(state)
        if fitted is not None:
            self._map = Map.of_json(fitted)


class Calibrator(_Estimator):
    r"""A map that makes confidences match hit rates.

    Parameters
    ----------
    method
        ``"temperature"``: :math:`q_j \propto p_j^{1/T}`, which keeps the order of classes.
        ``"platt"``, ``"beta"`` (two classes): :math:`q \propto e^{a \ln p_1 - b \ln p_0 + c}`, with
        :math:`a = b` for Platt.
        ``"vector"``, ``"dirichlet"``: :math:`q_j \propto e^{(W \ln p)_j + b_j}` with a diagonal, or any,
        matrix :math:`W`.
        ``"histogram"``: the hit rate :math:`(k + 1/2)/(n + 1)` of the confidence's bin.
        ``"isotonic"``: the best hit rate that never falls with confidence.
        ``"auto"``: the kind with the least cross-validated log loss; see ``tried_``.
    bins
        Bins of equal width, for ``"histogram"`` (15).
    seed
        Of the folds of ``"auto"``.
    tolerance
        As of :func:`lpf.audit`.

    Attributes
    ----------
    method_
        The kind that was fitted.
    classes_
        The classes, in the order of the columns.
    tried_
        For ``"auto"``, each kind with its log loss, or why it was left out.

    Examples
    --------
    >>> import lpf, numpy as np
    >>> p = np.array([[0.9, 0.1]] * 4)                # sure to 90 %, right in three of four
    >>> lpf.Calibrator("histogram", bins=10).fit(p, [0, 0, 1, 0]).predict_proba(p[:1])
    array([[0.7, 0.3]])
    """

    def __init__(
        self,
        method: str = "auto",
        *,
        bins: Optional[int] = None,
        seed: int = 0,
        tolerance: Optional[float] = None,
    ) -> None:
        self.method = method
        self.bins = bins
        self.seed = seed
        self.tolerance = tolerance

    def fit(self, p: Any, y: Any) -> Calibrator:
        """Fits the map to predictions and their outcomes; their order does not matter."""
        given = self._labelled(p, y)
        bins = None if self.bins is None else whole("bins", self.bins, 1, MAX_BINS)
        seed = whole("seed", self.seed, 0, 2**64 - 1)
        self._map = Map.fit(given.rows, text("method", self.method), bins, seed, self._tolerance())
        self.n_features_in_ = given.rows.classes
        self.method_ = self._map.method
        self.tried_ = self._map.tried
        return self

    def predict_proba(self, p: Any) -> Floats:
        """The calibrated probabilities, one column for each class."""
        fitted = self._fitted()
        given = self._rows(p)
        return fitted.apply(given.rows, self._tolerance())[0]

    def predict(self, p: Any) -> npt.NDArray[Any]:
        """The classes that are named. Histogram and isotonic maps keep the class that was named before."""
        fitted = self._fitted()
        given = self._rows(p)
        named: npt.NDArray[Any] = self.classes_[fitted.apply(given.rows, self._tolerance())[1]]
        return named

    def score(self, p: Any, y: Any) -> float:
        """The share of predictions that name the true class."""
        return float(np.mean(self.predict(p) == np.asarray(y)))

    @classmethod
    def load(cls, path: Union[str, os.PathLike[str]]) -> Calibrator:
        """The map of a file that ``lpf calibrate`` or :meth:`save` wrote."""
        try:
            fitted = Map.of_json(read(path).decode())
        except UnicodeDecodeError:
            raise CalibrationError(f"{os.fspath(path)}: not a calibration map") from None
        out = cls(fitted.method)
        out._map = fitted
        out.method_ = fitted.method
        out.tried_ = []
        out.n_features_in_ = fitted.classes
        out.classes_ = np.arange(fitted.classes) if fitted.names is None else np.array(fitted.names)
        return out


class ConformalSets(_Estimator):
    r"""Sets of classes that hold the true one as often as is asked for, whatever the model.

    With :math:`n` exchangeable rows for fitting, the set of a new one is all classes whose score is at most
    the :math:`\lceil (n+1)\,c \rceil`-th smallest score of the true classes: it holds the true class with
    probability at least the coverage :math:`c`. Where there are too few rows, it holds every class.

    Parameters
    ----------
    coverage
        Between 0 and 1.
    score
        ``"lead"``: :math:`\ln \max p - \ln p_y`, with which no set is empty.
        ``"probability"``: :math:`1 - p_y` (Sadinle et al. 2019), with which sets are small on average.
    by_class
        Whether each class has a threshold of its own, so that the coverage holds for each.
    tolerance
        As of :func:`lpf.audit`.

    Examples
    --------
    >>> import lpf, numpy as np
    >>> p = np.array([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.5, 0.3, 0.2]])
    >>> sets = lpf.ConformalSets(coverage=0.75).fit(p, [0, 1, 1])
    >>> sets.predict(p)
    array([[ True, False, False],
           [False,  True, False],
           [ True,  True, False]])
    """

    def __init__(
        self,
        coverage: float = 0.9,
        *,
        score: str = "lead",
        by_class: bool = False,
        tolerance: Optional[float] = None,
    ) -> None:
        self.coverage = coverage
        self.score = score
        self.by_class = by_class
        self.tolerance = tolerance

    def fit(self, p: Any, y: Any) -> ConformalSets:
        """Finds the thresholds; on other rows than the model was trained on."""
        given = self._labelled(p, y)
        coverage = real("coverage", self.coverage)
        score, by_class = text("score", self.score), bool(self.by_class)
        self._map = Map.conformal(given.rows, coverage, score, by_class, self._tolerance())
        self.n_features_in_ = given.rows.classes
        self.thresholds_ = [np.inf if t is None else t for t in self._map.thresholds]
        return self

    def predict(self, p: Any) -> npt.NDArray[np.bool_]:
        """For each row, whether each class is in its set."""
        fitted = self._fitted()
        given = self._rows(p)
        return fitted.sets(given.rows, self._tolerance())

    def predict_sets(self, p: Any) -> list[list[Any]]:
        """The sets themselves, as lists of classes."""
        names = self.classes_.tolist()
        return [[names[j] for j in np.flatnonzero(row)] for row in self.predict(p)]
