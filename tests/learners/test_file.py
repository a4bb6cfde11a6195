"""Files: bit for bit there and back, whole or not at all, and no bytes that do harm."""

from __future__ import annotations

import io
import json
import os
import struct
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import strategies
import surelearn
from classifiers import X4, Y4, classifier, fingerprint, spread
from containers import (
    change_settings,
    change_tensors,
    content,
    damaged_settings,
    put_together,
    taken_apart,
    tensors_of,
)
from surelearn import FormatError, SureClassifier, SureKernelClassifier, load, rules
from surelearn.constraints import Exact, Parallel, Sequential
from surelearn.files import FORMAT_VERSION
from surelearn.graph import Graph
from surelearn.learners import Tagger
from surelearn.learners.answers.graphs import GraphAnswers

MODELS = Path(__file__).parents[1] / "data" / "models"


@pytest.fixture
def saved(tmp_path):
    """A small three-class model in a file."""
    X, y = spread()
    path = tmp_path / "model.sure"
    SureClassifier(rules.Stdev(eta=0.9), random_state=0, scale=False).fit(X, y).save(path)
    return path


@given(
    problem=strategies.problems(),
    rule=strategies.rules(),
    average=st.booleans(),
    dtype=st.sampled_from(["float32", "float64"]),
    labels=st.sampled_from([list("abcd"), [3, 5, 7, 9], [0.0, 1.0, 2.0, 3.0], list("äßé🙂")]),
)
def test_a_model_comes_back_bit_for_bit(problem, rule, average, dtype, labels, tmp_path_factory):
    clf = classifier(rule, average=average, dtype=dtype, projection="precision")
    y = np.array(sorted(labels))[problem.y]
    clf.partial_fit(problem.X, y, sample_weight=problem.sample_weight)
    path = tmp_path_factory.mktemp("models") / "m.sure"
    clf.save(path)
    back = load(path)
    assert fingerprint(back) == fingerprint(clf)
    assert back.classes_.dtype == clf.classes_.dtype
    assert back.get_params() == clf.get_params()
    np.testing.assert_array_equal(
        back.decision_function(problem.X), clf.decision_function(problem.X)
    )
    first = path.read_bytes()
    back.save(path)
    assert path.read_bytes() == first  # the same model, the same bytes
    assert fingerprint(back.partial_fit(problem.X, y)) == fingerprint(clf.partial_fit(problem.X, y))


WAYS = {
    "full": {"rule": "stdev", "covariance": "full"},
    "full, averaged": {"rule": rules.AROW(3.0), "covariance": "full", "average": True},
    "sequential": {"rule": "arow", "constraints": Sequential(2)},
    "parallel": {"rule": "scw1", "constraints": Parallel(mixing=[3, 1])},
    "exact": {"rule": rules.Variance(phi=0.1), "constraints": Exact(), "dtype": "float64"},
    "cost": {
        "rule": "pa1",
        "constraints": "exact",
        "cost": [[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [3.0, 1.0, 0.0]],
    },
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_learn_comes_back_and_goes_on(way, tmp_path):
    X, y = spread()
    clf = SureClassifier(**WAYS[way], shuffle=False, scale=False).partial_fit(
        X, y, classes=np.unique(y)
    )
    clf.save(tmp_path / "m.sure")
    back = load(tmp_path / "m.sure")
    assert fingerprint(back) == fingerprint(clf)
    assert repr(back.get_params()) == repr(clf.get_params())
    assert fingerprint(back.partial_fit(X, y)) == fingerprint(clf.partial_fit(X, y))


@pytest.fixture
def saved_full(tmp_path):
    X, y = spread()
    path = tmp_path / "full.sure"
    SureClassifier("stdev", covariance="full", random_state=0, scale=False).fit(X, y).save(path)
    return path


@pytest.mark.parametrize(
    ("tensor", "change", "message"),
    [
        ("sigma", lambda a: a.__setitem__((0, 1), a[0, 1] + 1), "symmetric"),
        ("sigma", lambda a: a.__setitem__((0, 0), 0.0), "positive variances"),
        ("sigma", lambda a: a.__setitem__((1, 1), np.nan), "finite"),
        ("means", lambda a: a.__setitem__((0, 0), np.inf), "finite"),
        ("means", lambda a: a.resize((2, a.size // 2), refcheck=False), "one number for each"),
        ("sigma", lambda a: a.resize((1, a.size), refcheck=False), "each pair of weights"),
    ],
)
def test_damaged_covariances_never_enter_a_model(saved_full, tensor, change, message):
    change_tensors(saved_full, lambda tensors: change(tensors[tensor]))
    with pytest.raises(FormatError, match=message):
        load(saved_full)


@pytest.mark.parametrize("value", [0, -1.0, "warm", None, True, 1e999, 1e200, 1e-200])
def test_a_damaged_temperature_is_refused(saved, value):
    change_settings(saved, lambda settings: settings.update(temperature=value))
    with pytest.raises(FormatError, match="temperature"):
        load(saved)


@pytest.fixture
def saved_labels(tmp_path):
    """A model of three labels, any number of which a row has, with thresholds."""
    X, y = spread()
    rows = [[label] if i % 5 else [] for i, label in enumerate(y.tolist())]
    path = tmp_path / "labels.sure"
    SureClassifier(random_state=0, scale=False).fit(X, rows).choose_thresholds(X, rows).save(path)
    return path


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"form": "table"}, "form must be one of"),
        ({"thresholds": [0.0, 0.0]}, "thresholds must be a finite number for each label"),
        ({"thresholds": [0.0, 0.0, True]}, "thresholds must be a finite number for each label"),
        ({"thresholds": [0.0, 0.0, None]}, "thresholds must be a finite number for each label"),
        ({"thresholds": 0.5}, "thresholds must be a list"),
    ],
)
def test_damaged_settings_of_many_labels_are_refused(saved_labels, change, said):
    assert load(saved_labels).label_format_ == "lists"
    change_settings(saved_labels, lambda settings: settings["labels"].update(change))
    with pytest.raises(FormatError, match=said):
        load(saved_labels)


def test_many_labels_have_a_column_each_and_no_code(saved_labels):
    code = {"kind": "ovr", "matrix": [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]]}
    whole = saved_labels.read_bytes()
    change_settings(saved_labels, lambda settings: settings.update(code=code))
    with pytest.raises(FormatError, match="code must be there for three classes"):
        load(saved_labels)
    saved_labels.write_bytes(whole)
    change_settings(saved_labels, lambda settings: settings["params"].update(multiclass="ovo"))
    with pytest.raises(FormatError, match="multiclass must be 'joint' or 'ovr' where rows have"):
        load(saved_labels)


@pytest.mark.parametrize("labels", [[False, True], np.array(["x", "y"], object), ["", "b"]])
def test_every_kind_of_label_comes_back(tmp_path, labels):
    y = np.asarray(labels)[[0, 1, 1, 0]]
    clf = SureClassifier(class_weight={y[0]: 2.0}, scale=False).fit(X4, y)
    clf.save(tmp_path / "m.sure")
    back = load(tmp_path / "m.sure")
    assert back.classes_.dtype == clf.classes_.dtype
    assert back.classes_.tolist() == clf.classes_.tolist()
    assert back.class_weight == clf.class_weight
    assert back.predict(X4).tolist() == clf.predict(X4).tolist()


def test_parameters_and_names_come_back(tmp_path):
    X, y = spread()
    frame = pd.DataFrame(X, columns=["", "b", "ü", "d", "e", "f\n"])
    clf = SureClassifier(
        rule=rules.SCW1(phi=0.7, C=2.0),
        passes=np.int64(2),
        dtype=np.float64,
        random_state=np.random.RandomState(0),
        class_weight="balanced",
        scale=False,
    ).fit(frame, y)
    clf.save(tmp_path / "m.sure")
    back = load(tmp_path / "m.sure")
    assert back.rule == clf.rule
    assert back.passes == 2
    assert back.random_state is None
    assert back.feature_names_in_.tolist() == frame.columns.tolist()
    assert back.predict(frame).tolist() == clf.predict(frame).tolist()


@pytest.mark.parametrize("make", [SureClassifier, SureKernelClassifier])
def test_threads_are_no_part_of_a_file(make):
    X, y = spread()
    files = [content(make(random_state=0, n_jobs=n).fit(X, y)) for n in (None, 1, 2)]
    assert files[0] == files[1] == files[2]
    assert load(io.BytesIO(files[2])).n_jobs is None


def test_a_model_of_one_class_can_be_saved(tmp_path):
    SureClassifier(scale=False).partial_fit(X4[:1], ["a"]).save(tmp_path / "m.sure")
    back = load(tmp_path / "m.sure")
    assert back.predict(X4).tolist() == ["a"] * 4
    assert back.partial_fit(X4, Y4).classes_.tolist() == ["a", "no", "yes"]


def test_only_touched_features_are_stored(tmp_path):
    X = sparse.csr_matrix(([1.0, 1.0], ([0, 1], [5, 900_000])), shape=(2, 1_000_000))
    clf = SureClassifier(fit_intercept=False, scale=False).partial_fit(X, [0, 1])
    clf.save(tmp_path / "m.sure")
    assert (tmp_path / "m.sure").stat().st_size < 4000
    assert tensors_of((tmp_path / "m.sure").read_bytes())["features"].tolist() == [900_000]
    assert fingerprint(load(tmp_path / "m.sure")) == fingerprint(clf)


def test_saving_is_whole_or_not_at_all(tmp_path, monkeypatch, saved):
    before = saved.read_bytes()

    def broken(*_):
        raise OSError("disk full")

    for step in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, step, broken)
            with pytest.raises(OSError, match="disk full"):
                SureClassifier(scale=False).fit(X4, Y4).save(saved)
        assert saved.read_bytes() == before
        assert [p.name for p in tmp_path.iterdir()] == [saved.name]  # nothing is left behind
    with pytest.raises(FileNotFoundError):
        SureClassifier(scale=False).fit(X4, Y4).save(tmp_path / "no such folder" / "m.sure")


def test_saved_files_have_ordinary_permissions(saved, tmp_path):
    (tmp_path / "other").write_bytes(b"")
    assert saved.stat().st_mode == (tmp_path / "other").stat().st_mode


def test_save_before_fit():
    with pytest.raises(ValueError, match="not fitted yet"):
        SureClassifier(scale=False).save("never.sure")


def test_labels_that_a_file_cannot_hold_are_refused(tmp_path):
    clf = SureClassifier(scale=False).fit(
        X4, np.array(["2020-01-01", "2020-01-02"] * 2, "datetime64[D]")
    )
    with pytest.raises(TypeError, match="labels must be texts, numbers or booleans to be saved"):
        clf.save(tmp_path / "m.sure")
    assert not list(tmp_path.iterdir())


# ------------------------------------------------------- promise 7: hostile files


def test_missing_files_and_folders_are_plain_errors(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.sure")
    with pytest.raises(IsADirectoryError):
        load(tmp_path)


def test_a_newer_file_is_named(saved):
    change_settings(saved, lambda settings: settings.update(format=99))
    with pytest.raises(FormatError, match=r"must have format 2 or older, got 99. Update surelearn"):
        load(saved)


def test_a_foreign_safetensors_file_is_named(saved):
    header, body = taken_apart(saved.read_bytes())
    del header["__metadata__"]
    saved.write_bytes(put_together(header, body))
    with pytest.raises(FormatError, match="must be a surelearn model"):
        load(saved)


def test_memory_is_limited(saved):
    with pytest.raises(FormatError, match="must have at most max_bytes=100 bytes"):
        load(saved, max_bytes=100)
    for n_features in (2**31, 2**61, 2**62 + 1, 2**80, -1, 1.5, True, None, "9"):
        change_settings(
            saved, lambda settings, n=n_features: settings["layout"].update(n_features=n)
        )
        with pytest.raises(FormatError, match=r"max_bytes|n_features must be"):
            load(saved)


def test_labels_cannot_take_more_memory_than_allowed(saved):
    for count, length in ((3000, 100_000), (200_000, 2_000_000)):
        labels = [*(f"{i:06}" for i in range(count)), "x" * length]
        classes = {"kind": "str", "values": labels}
        change_settings(saved, lambda settings, c=classes: settings.update(classes=c))
        with pytest.raises(FormatError, match="Pass a larger max_bytes"):
            load(saved, max_bytes=2**24)


@pytest.mark.parametrize("kind", ["saved", "saved_labels"])
def test_every_damaged_setting_gives_a_model_or_a_format_error(kind, request):
    saved = request.getfixturevalue(kind)
    tried = 0
    for wrong in damaged_settings(saved.read_bytes()):
        saved.write_bytes(wrong)
        loads_or_refuses(saved)
        tried += 1
    assert tried > 300


def loads_or_refuses(path):
    try:
        model = load(path, max_bytes=2**26)
    except FormatError:
        return False
    if model._model.weights is not None:
        assert np.isfinite(model.coef_).all()
        model.decision_function(np.zeros((1, model.n_features_in_)))
    return True


@given(data=st.data())
def test_any_change_of_bytes_gives_a_model_or_a_format_error(data, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "fuzz.sure"
    whole = bytearray((MODELS / "0.1.0-three-classes.sure").read_bytes())
    for _ in range(data.draw(st.integers(1, 8))):
        kind = data.draw(st.sampled_from(["flip", "cut", "insert", "length"]))
        at = data.draw(st.integers(0, max(0, len(whole) - 1)))
        if kind == "flip" and whole:
            whole[at] = data.draw(st.integers(0, 255))
        elif kind == "cut":
            del whole[at : at + data.draw(st.integers(1, 64))]
        elif kind == "insert":
            whole[at:at] = data.draw(st.binary(min_size=1, max_size=16))
        else:
            whole[:8] = struct.pack("<Q", data.draw(st.integers(0, 2**64 - 1)))
    path.write_bytes(bytes(whole))
    loads_or_refuses(path)


@given(st.binary(max_size=200))
def test_any_bytes_give_a_format_error(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "noise.sure"
    path.write_bytes(content)
    assert not loads_or_refuses(path)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("cells", lambda a: a.__setitem__((0, 0), np.nan)),
        ("cells", lambda a: a.__setitem__((0, 3), 0.0)),
        ("cells", lambda a: a.__setitem__((0, 3), -1.0)),
        ("cells", lambda a: a.__setitem__((0, 4), np.inf)),
        ("features", lambda a: a.__setitem__(0, -1)),
        ("features", lambda a: a.__setitem__(-1, 7)),
        ("features", lambda a: a.__setitem__(1, a[0])),
        ("features", lambda a: a.__setitem__(slice(1, 4), [2**63 - 1, -(2**63), -1])),
    ],
)
def test_bad_numbers_never_enter_a_model(saved, name, change):
    change_tensors(saved, lambda tensors: change(tensors[name]))
    with pytest.raises(FormatError, match=r"features must|cells must"):
        load(saved)


# ------------------------------------------------- promise 8: files of old versions


@pytest.mark.parametrize("path", sorted(MODELS.glob("*.sure")), ids=lambda p: p.stem)
def test_files_of_every_release_still_load(path):
    want = json.loads(path.with_suffix(".json").read_text())
    model = load(path)
    assert getattr(model, "classes_", np.zeros(0)).tolist() == want["classes"]
    assert repr(getattr(model, "rule", None)) == want.get("rule", "None")
    if isinstance(model, Tagger):
        assert model.predict(want["X"]) == want["predicted"]
        for x, scores in zip(want["X"], want["scores"], strict=True):
            np.testing.assert_allclose(model.chain(x).U, scores["U"], rtol=1e-12)
            np.testing.assert_allclose(model.chain(x).A, scores["A"], rtol=1e-12)
    elif isinstance(model, GraphAnswers):
        graphs = [Graph(**x) for x in want["X"]]
        assert [own.tolist() for own in model.predict(graphs)] == want["predicted"]
        for own, scores in zip(model.margin(graphs)[0], want["scores"], strict=True):
            np.testing.assert_allclose(own, scores, rtol=1e-12)
    else:
        np.testing.assert_allclose(model.decision_function(want["X"]), want["scores"], rtol=1e-12)
        assert model.predict(want["X"]).tolist() == want["predicted"]


def test_there_is_a_file_of_this_release():
    files = MODELS.glob(f"0.1.0-format{FORMAT_VERSION}-*.sure")
    kinds = {type(load(path)).__name__ for path in files}
    known = {name for name in surelearn.__all__ if isinstance(getattr(surelearn, name), type)}
    assert kinds == known - {"FormatError"}


def test_a_rule_by_name_keeps_the_parameters_it_had(tmp_path, monkeypatch):
    """Defaults may change from version to version; a saved model must not."""
    X, y = np.eye(4), [0, 1, 0, 1]
    clf = SureClassifier("probit", random_state=0, scale=False).fit(X, y)
    clf.save(tmp_path / "m.sure")
    assert load(tmp_path / "m.sure").rule == "probit"
    monkeypatch.setattr(rules.Probit.__init__, "__defaults__", (7.0,))
    twin = load(tmp_path / "m.sure")
    assert twin.rule == rules.Probit(noise=1.0)
    np.testing.assert_array_equal(twin.predict_proba(X), _with_noise(clf, 1.0).predict_proba(X))


def _with_noise(clf, noise):
    return clf.set_params(rule=rules.Probit(noise=noise))


def test_a_write_that_fails_is_an_error_of_the_system(tmp_path, no_room):
    path = tmp_path / "m.sure"
    with no_room(100), pytest.raises(OSError, match=r"File too large: '.*/m\.sure'"):
        SureClassifier(scale=False).fit(X4, Y4).save(path)
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_what_is_not_a_file_is_not_replaced_by_one(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(OSError, match=r"pipe must be an ordinary file, got a device or a pipe"):
        SureClassifier(scale=False).fit(X4, Y4).save(path)
    assert path.is_fifo()


SUBCLASS = r"estimator must be one of surelearn's own classes to be saved, got the subclass \w+\. "


@pytest.mark.parametrize("name", ["My", "SureClassifier"])
@pytest.mark.parametrize("kind", [SureClassifier, SureKernelClassifier])
def test_a_subclass_cannot_be_saved(kind, name):
    """A file of the base class would lose what the subclass adds."""
    own = type(name, (kind,), {"__module__": "users"})
    file = io.BytesIO()
    with pytest.raises(TypeError, match=SUBCLASS):
        own().fit(X4, Y4).save(file)
    assert file.getvalue() == b""
