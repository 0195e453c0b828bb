"""Ten minutes with lpf: three classifiers of handwritten digits, audited, combined, repaired, watched.

Run it with ``python ten_minutes.py``; it needs scikit-learn. Cells begin at ``# %%``, for editors that know
them.
"""

# %% Three classifiers, trained on a third of scikit-learn's digits
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import lpf

X, y = load_digits(return_X_y=True)
X = X + np.random.default_rng(0).normal(scale=4, size=X.shape)  # so that there is something to be unsure of
X_train, X_rest, y_train, y_rest = train_test_split(X, y, test_size=2 / 3, random_state=0, stratify=y)
X_fit, X_test, y_fit, y_test = train_test_split(X_rest, y_rest, test_size=0.5, random_state=0)
models = {
    "naive Bayes": GaussianNB(),
    "logistic": LogisticRegression(C=100, max_iter=2000),
    "neighbours": KNeighborsClassifier(15),
}
for model in models.values():
    model.fit(X_train, y_train)

# %% Audit each: does its confidence mean what it says?
limits = {"ece": 0.1, "gap": 0.05}
reports = {}
for name, model in models.items():
    reports[name] = lpf.audit(y_test, model.predict_proba(X_test), limits=limits, name=name)
    gap = reports[name].checks["gap"]
    print(f"{name:12} {gap.verdict:9} {gap.sentence}")

# %% All three as evidence about each digit: the audit compares answers with what follows from their sources
factors = np.stack([model.predict_proba(X_test) for model in models.values()], axis=1)
factors = (factors + 1e-4) / (1 + 10 * 1e-4)  # naive Bayes and neighbours call classes impossible
combined = lpf.aggregate(factors, method="uniform")
sources = [
    [{"id": name, "factor": row[i]} for i, name in enumerate(models)] for row in factors.tolist()
]
by_source = lpf.audit(
    y_test, combined, evidence=sources, method="uniform", by="evidence.id", limits=limits, name="combined"
)
print(f"{'combined':12} {by_source.checks['gap'].verdict:9} {by_source.checks['gap'].sentence}")
for source in by_source.sources:
    print(f"  {source.effect:8} {source.sentence}")
assert by_source.checks["consistency"].value == 0, "the answers are the aggregate of their factors"

# %% Calibrate the most over-confident on rows of its own, and audit again
worst = max(models, key=lambda name: reports[name].checks["gap"].value)
calibrator = lpf.Calibrator("temperature").fit(models[worst].predict_proba(X_fit), y_fit)
repaired = calibrator.predict_proba(models[worst].predict_proba(X_test))
after = lpf.audit(y_test, repaired, limits=limits, name=f"{worst}, calibrated")
before = reports[worst].checks["ece"].value
print(f"\n{worst}: ECE {before:.3f} before, {after.checks['ece'].value:.3f} after; {after!r}")
print(after.to_text()[:400])

# %% Sets that hold the true digit nine times in ten
sets = lpf.ConformalSets(coverage=0.9).fit(calibrator.predict_proba(models[worst].predict_proba(X_fit)), y_fit)
inside = sets.predict(repaired)
held = inside[np.arange(len(y_test)), y_test].mean()
print(f"sets of {inside.sum(axis=1).mean():.2f} digits on average hold the true one in {held:.1%}")

# %% Watch both as outcomes arrive
for what, p in [("before", models[worst].predict_proba(X_test)), ("after", repaired)]:
    watched = lpf.monitor(y_test, p, margin=0.05)
    alarms = [alarm for alarm in watched.alarms if alarm.direction == "over-confident"]
    said = f"alarm after {alarms[0].row} rows" if alarms else "no alarm"
    print(f"{what:6} {watched.rows} rows: {said}")
