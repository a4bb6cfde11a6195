"""Kernel classifiers in files: the same after loading, whole or refused."""

from __future__ import annotations

import io

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

import kernelled
from surelearn import FormatError, SureKernelClassifier, decode, files, kernels, load, rules

X, Y = kernelled.rows(n=60, n_classes=3)
NEW = np.random.default_rng(5).normal(size=(20, 5))


def made(rule="arow", **params):
    return SureKernelClassifier(rule, **{"random_state": 0, "gamma": 0.3, **params})


def saved(clf):
    file = io.BytesIO()
    clf.save(file)
    return file.getvalue()


def again(clf):
    return load(io.BytesIO(saved(clf)))


def difference(X, Z):
    return rbf_kernel(X, Z, gamma=0.2)


kernels.register("kernel of a file", difference)

FITTED = {
    "two classes": lambda: made().fit(X[Y < 2], Y[Y < 2]),
    "three classes": lambda: made("stdev", budget=12).fit(X, np.array(["a", "b", "c"])[Y]),
    "pairs": lambda: made(multiclass="ovo", kernel="poly").fit(X, Y),
    "a code": lambda: made(multiclass=decode.one_vs_rest(3)).fit(X, Y),
    "unbounded": lambda: made(budget=None, gamma="scale", kernel="cosine").fit(X, Y),
    "first order": lambda: made("pa1", kernel="linear", fit_intercept=False).fit(X, Y),
    "sparse": lambda: made().fit(sparse.csr_matrix(X), Y),
    "precomputed": lambda: made(kernel="precomputed").fit(rbf_kernel(X, X), Y),
    "a function": lambda: made(kernel=difference).fit(X, Y),
    "a stream": lambda: made(rules.Stdev(eta=0.8)).partial_fit(X, Y),
    "one class": lambda: made().partial_fit(X[:3], [7, 7, 7]),
    "calibrated": lambda: made("probit", class_weight={0: 2.0}).fit(X, Y).calibrate(X, Y),
}


@pytest.mark.parametrize("name", FITTED)
def test_a_loaded_model_is_the_saved_one(name):
    clf = FITTED[name]()
    found = again(clf)
    rows = rbf_kernel(NEW, X) if name == "precomputed" else NEW
    assert type(found) is SureKernelClassifier
    assert found.predict(rows).tolist() == clf.predict(rows).tolist()
    assert saved(found) == saved(clf)
    assert found.mistakes_.tolist() == clf.mistakes_.tolist()
    assert found.n_updates_ == clf.n_updates_
    if name == "one class":
        return
    np.testing.assert_array_equal(found.decision_function(rows), clf.decision_function(rows))
    if name != "first order":
        np.testing.assert_array_equal(found.predict_proba(rows), clf.predict_proba(rows))
    assert found.n_support_.tolist() == clf.n_support_.tolist()
    assert hasattr(found, "support_") == hasattr(clf, "support_")


@pytest.mark.parametrize("name", ["two classes", "sparse", "unbounded", "a function", "one class"])
def test_a_loaded_model_goes_on_like_the_saved_one(name):
    clf = FITTED[name]()
    found = again(clf)
    if name == "one class":
        clf.partial_fit(X, Y)
        found.partial_fit(X, Y)
    clf.partial_fit(X[:10], Y[:10])
    found.partial_fit(X[:10], Y[:10])
    np.testing.assert_array_equal(found.margin(NEW), clf.margin(NEW))


def test_names_of_columns_are_kept():
    pandas = pytest.importorskip("pandas")
    clf = made().fit(pandas.DataFrame(X, columns=list("abcde")), Y)
    assert again(clf).feature_names_in_.tolist() == list("abcde")


def test_a_function_needs_a_name():
    clf = made(kernel=lambda X, Z: X @ Z.T).fit(X, Y)
    with pytest.raises(ValueError, match="kernel must have a name to be saved, got <function"):
        saved(clf)


def test_a_function_must_be_registered_to_be_loaded(monkeypatch):
    kept = saved(FITTED["a function"]())
    monkeypatch.setattr(kernels, "_registered", {})
    with pytest.raises(FormatError, match="must have a kernel that is known here"):
        load(io.BytesIO(kept))


def test_a_changed_parameter_is_not_saved():
    with pytest.raises(ValueError, match="kernel must stay RBF"):
        saved(FITTED["two classes"]().set_params(gamma=0.7))


def test_memory_for_covariances_is_limited():
    kept = saved(made(budget=None).fit(X, Y))
    with pytest.raises(FormatError, match="within max_bytes"):
        load(io.BytesIO(kept), max_bytes=len(kept))


DAMAGE = {
    "points": lambda _, t: t.update(points=t["points"][:, 1:]),
    "point_numbers": lambda _, t: t["point_numbers"].__setitem__(0, 10**6),
    "distinct": lambda _, t: t["point_numbers"].__setitem__(0, t["point_numbers"][1]),
    "nu": lambda _, t: t.update(nu=t["nu"][1:]),
    "finite": lambda _, t: t["nu"].__setitem__(0, np.nan),
    "pi": lambda _, t: t["pi"].__setitem__(0, 1.0),
    "sites": lambda _, t: t["sites"].__setitem__((0, 1), -1.0),
    "width": lambda _, t: t.update(sites=t["sites"][:, :1]),
    "sizes": lambda s, _: s["problems"]["sizes"].__setitem__(0, 5000),
    "rounds": lambda s, _: s["problems"].update(rounds=[1]),
    "kernel": lambda s, _: s["kernel"]["params"].update(gamma="x"),
    "gamma": lambda s, _: s["kernel"]["params"].update(gamma=0.9),
    "name": lambda s, _: s["kernel"].update(name="gauss"),
    "counts": lambda s, _: s.update(counts=[1]),
    "code": lambda s, _: s.pop("code"),
    "support": lambda _, t: t.update(support=t["support"][1:]),
    "negative": lambda _, t: t["support"].__setitem__(0, -1),
    "layout": lambda s, _: s["layout"].update(n_features=9),
    "infinite": lambda _, t: t["points"].__setitem__((0, 0), np.inf),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_refused(damage, monkeypatch):
    clf = FITTED["three classes"]()
    sound = files._codecs._CODECS["SureKernelClassifier"]
    settings, tensors = sound.pack(clf)
    tensors = {name: tensor.copy() for name, tensor in tensors.items()}
    DAMAGE[damage](settings, tensors)
    codec = files.Codec(lambda _: (settings, tensors), sound.unpack)
    file = io.BytesIO()
    monkeypatch.setitem(files._codecs._CODECS, "SureKernelClassifier", codec)
    files.save("SureKernelClassifier", clf, file)
    with pytest.raises(FormatError, match=r"must|damaged"):
        load(io.BytesIO(file.getvalue()))
