"""Maps and sets: scikit-learn's conventions, and the results of its peers."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
import sklearn.metrics
from sklearn.base import clone
from sklearn.isotonic import IsotonicRegression
from sklearn.utils.estimator_checks import check_estimator

import lpf

METHODS = ["temperature", "vector", "dirichlet", "histogram", "isotonic", "auto"]


@pytest.mark.parametrize("method", METHODS)
def test_a_map_mends_log_loss_on_other_rows(digits, method):
    fitted = lpf.Calibrator(method).fit(digits.p_fit, digits.y_fit)
    q = fitted.predict_proba(digits.p)
    assert q.shape == digits.p.shape
    assert np.allclose(q.sum(axis=1), 1, atol=1e-12) and (q > 0).all() and (q < 1).all()
    if method != "dirichlet":  # 110 parameters for 629 rows
        assert lpf.metrics.log_loss(digits.y, q) < lpf.metrics.log_loss(digits.y, digits.p)
    assert fitted.method_ == method or method == "auto"
    # Rows in another order give the same map.
    order = np.random.default_rng(0).permutation(len(digits.y_fit))
    again = clone(fitted).fit(digits.p_fit[order], digits.y_fit[order])
    if method != "auto":
        assert json.loads(again.to_json())["map"] == json.loads(fitted.to_json())["map"]


@pytest.mark.parametrize("method", ["temperature", "vector", "histogram", "isotonic"])
def test_the_map_is_that_of_the_command(digits, tmp_path, command, method):
    for name, y, p in [("fit", digits.y_fit, digits.p_fit), ("judge", digits.y, digits.p)]:
        with open(tmp_path / f"{name}.jsonl", "w") as file:
            for label, row in zip(y.tolist(), p.tolist()):
                file.write(json.dumps({"label": label, "probs": row}) + "\n")
    command("calibrate", "fit.jsonl", "--judge", "judge.jsonl", "--method", method, "--output", "map.json")
    written = json.loads((tmp_path / "map.json").read_text())
    fitted = lpf.Calibrator(method).fit(digits.p_fit, digits.y_fit)
    assert json.loads(fitted.to_json())["map"] == written["map"]
    loaded = lpf.Calibrator.load(tmp_path / "map.json")
    assert (loaded.predict_proba(digits.p) == fitted.predict_proba(digits.p)).all()
    # And the command reads what Python writes.
    fitted.save(tmp_path / "own.json")
    command("audit", "judge.jsonl", "--calibration", "own.json", code=1 if method == "none" else 0)


def test_temperature_is_the_minimum_of_the_log_loss(digits):
    """Against a search on a fine grid: no temperature is better."""
    fitted = lpf.Calibrator("temperature").fit(digits.p_fit, digits.y_fit)
    logs = np.log(digits.p_fit)

    def loss(t):
        z = logs / t
        z -= z.max(axis=1, keepdims=True)
        z -= np.log(np.exp(z).sum(axis=1, keepdims=True))
        return -z[np.arange(len(z)), digits.y_fit].mean()

    t = fitted._map.temperature
    assert all(loss(t) <= loss(t * f) + 1e-12 for f in [0.5, 0.9, 0.99, 0.999, 1.001, 1.01, 1.1, 2])


def test_isotonic_rates_are_those_of_scikit_learn(cancer):
    """Apart from blocks that were always right or wrong, which are never answered with 0 or 1."""
    confidence = cancer.p_fit.max(axis=1)
    right = (cancer.p_fit.argmax(axis=1) == cancer.y_fit).astype(float)
    peer = IsotonicRegression().fit(confidence, right)
    fitted = lpf.Calibrator("isotonic").fit(cancer.p_fit, cancer.y_fit)
    own = fitted.predict_proba(cancer.p_fit).max(axis=1)
    theirs = peer.predict(confidence)
    inner = (theirs > 0.5) & (theirs < 1)
    assert inner.any()
    assert own[inner] == pytest.approx(theirs[inner], abs=1e-12)


def test_platt_and_beta_are_for_two_classes(cancer, digits):
    for method in ["platt", "beta"]:
        q = lpf.Calibrator(method).fit(cancer.p_fit[:, 1], cancer.y_fit).predict_proba(cancer.p[:, 1])
        assert sklearn.metrics.log_loss(cancer.y, q) < 1
        with pytest.raises(lpf.CalibrationError, match="two classes|2 classes"):
            lpf.Calibrator(method).fit(digits.p_fit, digits.y_fit)


def test_auto_says_what_it_tried(digits):
    fitted = lpf.Calibrator().fit(digits.p_fit, digits.y_fit)
    tried = {name: loss for name, loss, _ in fitted.tried_}
    best = min((loss, name) for name, loss in tried.items() if loss is not None)[1]
    assert fitted.method_ == best or best == "unchanged"


def test_labels_may_have_names(cancer):
    names = np.array(["benign", "malignant"])
    fitted = lpf.Calibrator("temperature").fit(cancer.p_fit, names[cancer.y_fit])
    assert fitted.classes_.tolist() == ["benign", "malignant"]
    assert set(fitted.predict(cancer.p)) <= set(names)
    assert fitted.score(cancer.p, names[cancer.y]) == lpf.metrics.accuracy(cancer.y, cancer.p)
    with pytest.raises(lpf.CalibrationError, match="3 columns"):
        fitted.predict_proba(np.full((1, 3), 1 / 3))


def test_settings_are_kept_cloned_and_pickled(digits):
    estimator = lpf.Calibrator("histogram", bins=7)
    assert estimator.get_params() == {"method": "histogram", "bins": 7, "seed": 0, "tolerance": None}
    copy = clone(estimator).set_params(bins=9)
    assert (estimator.bins, copy.bins) == (7, 9)
    with pytest.raises(lpf.SettingError, match="no_such"):
        copy.set_params(no_such=1)
    assert repr(copy) == "Calibrator(bins=9, method='histogram')"
    fitted = pickle.loads(pickle.dumps(copy.fit(digits.p_fit, digits.y_fit)))
    assert (fitted.predict_proba(digits.p) == copy.predict_proba(digits.p)).all()
    with pytest.raises(lpf.SettingError, match="nonsense"):
        lpf.Calibrator("nonsense").fit(digits.p_fit, digits.y_fit)


def refused(error) -> bool:
    """Whether it goes back to an error of ours: numbers that are not probabilities, mostly."""
    return error is not None and (
        isinstance(error, lpf.Error) or refused(error.__cause__) or refused(error.__context__)
    )


@pytest.mark.parametrize("estimator", [lpf.Calibrator("temperature"), lpf.ConformalSets()], ids=repr)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_checks_what_applies(estimator):
    """scikit-learn passes in any numbers, and few of them are probabilities. Each of its checks passes, or is
    ended by our refusal of its data."""
    version = tuple(map(int, sklearn.__version__.split(".")[:2]))
    if version < (1, 6):
        pytest.skip("scikit-learn says what each check found from 1.6 on")
    found = check_estimator(estimator, on_fail=None, on_skip=None)
    passed = {r["check_name"] for r in found if r["status"] == "passed"}
    failed = {r["check_name"]: r["exception"] for r in found if r["status"] == "failed"}
    assert {name: error for name, error in failed.items() if not refused(error)} == {}
    assert passed >= {
        "check_estimator_cloneable",
        "check_estimator_repr",
        "check_no_attributes_set_in_init",
        "check_parameters_default_constructible",
        "check_get_params_invariance",
        "check_set_params",
        "check_complex_data",
        "check_estimators_unfitted",
    }


@pytest.mark.parametrize("coverage", [0.8, 0.9, 0.95])
def test_sets_are_those_of_mapie(digits, coverage):
    from mapie.classification import SplitConformalClassifier
    from sklearn.base import BaseEstimator, ClassifierMixin

    class Given(ClassifierMixin, BaseEstimator):
        """A model whose predictions are what it is given."""

        def fit(self, x, y):
            self.classes_ = np.arange(10)
            return self

        def predict_proba(self, x):
            return x

        def predict(self, x):
            return x.argmax(axis=1)

    model = Given().fit(digits.p_fit, digits.y_fit)
    peer = SplitConformalClassifier(model, confidence_level=coverage, prefit=True, conformity_score="lac")
    peer.conformalize(digits.p_fit, digits.y_fit)
    theirs = peer.predict_set(digits.p)[1][:, :, 0]
    own = lpf.ConformalSets(coverage, score="probability").fit(digits.p_fit, digits.y_fit)
    assert (own.predict(digits.p) == theirs).all()


def test_sets_cover_and_are_never_empty(digits):
    sets = lpf.ConformalSets(0.9).fit(digits.p_fit, digits.y_fit)
    inside = sets.predict(digits.p)
    held = inside[np.arange(len(digits.y)), digits.y]
    # Of 629 rows with an expected share of at least 0.9: below 0.86 is a chance of 1 in 1,000.
    assert held.mean() > 0.86 and inside.any(axis=1).all()
    assert sets.predict_sets(digits.p[:1])[0] == np.flatnonzero(inside[0]).tolist()
    few = lpf.ConformalSets(0.99).fit(digits.p_fit[:20], digits.y_fit[:20])
    assert few.thresholds_ == [np.inf] and few.predict(digits.p).all()
    by_class = lpf.ConformalSets(0.9, by_class=True).fit(digits.p_fit, digits.y_fit)
    assert len(by_class.thresholds_) == 10
    with pytest.raises(lpf.CalibrationError, match="[Cc]overage"):
        lpf.ConformalSets(1.5).fit(digits.p_fit, digits.y_fit)
