"""One machine for every estimator: any calls in any order, and the laws that hold throughout."""

from __future__ import annotations

import copy
import io
import pickle
import re
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from machines.kinds import Batch
from machines.subjects import Subject
from surelearn import load, merge
from surelearn.training.protocol import Refused

#: Sample weights that are learnt.
WEIGHTS = st.sampled_from([1.0, 1.0, 2.0, 0.5, 1e-3])

#: Risks that a few records can show.
RISKS = st.sampled_from([0.9, 0.99, 0.5])

WAYS = st.sampled_from(["evidence", "bayes", "weighted", "kl", "uniform"])


def file_of(model: Any) -> bytes | list[str]:
    """The bytes of a model's file; the names of its attributes if it is not fitted."""
    file = io.BytesIO()
    try:
        model.save(file)
    except NotFittedError:
        return sorted(vars(model))
    return file.getvalue()


def bits(found: Any) -> Any:
    """A result as something that is equal only if all its bits are."""
    if isinstance(found, list | tuple):
        return [bits(one) for one in found]
    if isinstance(found, dict):
        return [(key, bits(value)) for key, value in found.items()]
    return (np.asarray(found).dtype.str, np.asarray(found).tolist().__repr__())


def said(error: Exception) -> str:
    """What an error says; a file does not know whether decisions were made and dropped."""
    whole, had = f"{type(error).__name__}: {error}", "needs rows that were kept back"
    return whole.partition(had)[0] + had if had in whole else whole


class Machine(RuleBasedStateMachine):
    """Calls an estimator in any order, beside a twin that it can be merged with.

    Parameters
    ----------
    subject : Subject
    """

    def __init__(self, subject: Subject) -> None:
        super().__init__()
        self.subject, self.kind = subject, subject.kind
        self.model, self.twin = subject.make(), subject.make()
        self.known: list[Any] = []
        self.labels: st.SearchStrategy[Any] = st.nothing()

    @initialize(data=st.data(), n=st.sampled_from([2, 3, 99, 1]), texts=st.booleans())
    def begin(self, data: st.DataObject, n: int, texts: bool) -> None:
        """Choose the labels, and learn something most of the time."""
        self.known = [f"c{k}" if texts else k + 10 for k in range(n)]
        self.labels = st.sampled_from(self.known)
        self.other = 7 if texts else "other"
        if data.draw(st.integers(0, 3), label="learnt before"):
            self.fit(data)

    # --------------------------------------------------------------- what rules share

    def records(self, data: st.DataObject, most: int = 4) -> tuple[list[Any], list[Any]]:
        """Some things, and the answers to them."""
        X = data.draw(st.lists(self.kind.things, min_size=1, max_size=most), label="X")
        y = [data.draw(self.kind.answers(thing, self.labels), label="y") for thing in X]
        return X, y

    def batch(self, data: st.DataObject, most: int = 4) -> Batch:
        return self.kind.joined(*self.records(data, most))

    def lesson(self, data: st.DataObject) -> Batch:
        """A batch in which the first labels do occur: most calls refuse a single one."""
        first = self.known[:2]
        X = [data.draw(self.kind.things, label="X") for _ in first]
        y = [
            data.draw(self.kind.answers(thing, st.just(label)), label="y")
            for thing, label in zip(X, first, strict=True)
        ]
        more, theirs = self.records(data)
        return self.kind.joined(X + more, y + theirs)

    def call(self, name: str, *given: Any, on: Any = None, **named: Any) -> Exception | None:
        """Call a method; returns the error if it refuses. No other error may come out."""
        method = getattr(self.model if on is None else on, name)
        return self.asked(lambda: method(*given, **named))[1]

    def asked(self, call: Callable[[], Any]) -> tuple[Any, Exception | None]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            try:
                return call(), None
            except (ValueError, TypeError) as error:
                refused = error
        assert str(refused).strip(), f"{type(refused).__name__} must say what is wrong"
        return None, refused

    @contextmanager
    def unchanged(self, *models: Any) -> Any:
        """Law: the file is the same before and after."""
        models = models or (self.model,)
        before = [file_of(model) for model in models]
        yield
        assert [file_of(model) for model in models] == before

    def answers(self, model: Any, batch: Batch) -> dict[str, Any]:
        """What every method that reads says, or how it refuses."""
        found = {}
        for name, read in self.kind.reads.items():
            if not hasattr(model, name.split()[0]):
                continue
            value, error = self.asked(lambda read=read: read(model, batch))
            assert error is None or isinstance(error, ValueError), (name, error)
            found[name] = value if error is None else said(error)
        if isinstance(file_of(model), list):
            assert all("NotFittedError" in str(value) for value in found.values()), found
        else:
            self.check(found, model, batch)
        return found

    def check(self, found: dict[str, Any], model: Any, batch: Batch) -> None:
        """Laws: probabilities are some, predictions are classes."""
        for name in ("predict_proba", "predict_proba_one", "predict_marginals", "sample_proba"):
            if isinstance(found.get(name, ""), str):
                continue
            for p in _distributions(found[name], batch):
                assert all(0 <= one <= 1 for one in p), (name, p)  # false for NaN
                assert self.subject.many_labels or abs(sum(p) - 1) < 1e-6, (name, sum(p))
        predicted = found["predict"]
        self.check_decided(found, predicted)
        if isinstance(predicted, str):
            assert re.search(r"as (in )?fit", predicted), predicted  # kinds of edges
        elif self.kind.has_labels:
            assert _labels(self.kind.predicted(predicted)) <= set(model.classes_.tolist())

    def check_decided(self, found: dict[str, Any], predicted: Any) -> None:
        """Laws: an answer is given as it is or not at all; p-values are shares."""
        given = found.get("predict abstain", "")
        if not isinstance(given, str):
            for one, own in zip(given, predicted, strict=True):
                assert one is None or bits(list(np.ravel(one))) == bits(list(np.ravel(own)))
        p = found.get("novelty p", "")
        if not isinstance(p, str):
            assert ((p > 0) & (p <= 1)).all()

    @contextmanager
    def same_again(self, data: st.DataObject) -> Any:
        """Law: what replaces the model has the same bytes and gives the same answers."""
        batch, before, old = self.batch(data), file_of(self.model), self.model
        yield
        assert file_of(self.model) == before
        assert bits(self.answers(self.model, batch)) == bits(self.answers(old, batch))

    @property
    def is_fitted(self) -> bool:
        return isinstance(file_of(self.model), bytes)

    def learns_online(self) -> bool:
        return hasattr(self.model, "partial_fit")

    def takes_one(self) -> bool:
        return hasattr(self.model, "learn_one")

    # ----------------------------------------------------------------------- learning

    @rule(data=st.data())
    def fit(self, data: st.DataObject) -> None:
        """Law: what was learnt before makes no difference."""
        batch, anew = self.lesson(data), clone(self.model)
        before = file_of(self.model)
        if self.call("fit", batch.X, batch.y, **batch.about) is not None:
            assert file_of(self.model) == before
        else:
            assert self.call("fit", batch.X, batch.y, on=anew, **batch.about) is None
            assert file_of(self.model) == file_of(anew)

    @precondition(learns_online)
    @rule(data=st.data(), zeros=st.booleans())
    def partial_fit(self, data: st.DataObject, zeros: bool) -> None:
        """Law: as if records of weight zero were not there, nor any from a refused one on."""
        X, y = self.records(data)
        n = len(X)
        some = WEIGHTS | st.just(0.0) if zeros else WEIGHTS
        weights = data.draw(st.lists(some, min_size=n, max_size=n), label="weights")
        want, before = copy.deepcopy(self.model), file_of(self.model)
        known = set(getattr(self.model, "classes_", []))
        error = self.learn(self.model, X, y, weights)
        if error is None:
            kept = [i for i in range(n) if weights[i]]
        elif isinstance(error, Refused):
            refused = int(re.search(r"\b(\d+) must", str(error))[1])  # type: ignore[index]
            kept = [i for i in range(refused) if weights[i]]
        else:
            kept = []
        if kept and error is not None and not _labels(y) <= known | _labels([y[i] for i in kept]):
            return  # the labels of later records were known to earlier ones
        if kept:
            self.learn(want, *([part[i] for i in kept] for part in (X, y, weights)))
            assert file_of(self.model) == file_of(want)
        else:
            assert file_of(self.model) == before

    def learn(self, model: Any, X: Any, y: Any, weights: Any) -> Exception | None:
        batch = self.kind.joined(X, y)
        given = {"sample_weight": weights, **batch.about}
        return self.call("partial_fit", batch.X, batch.y, on=model, **given)

    @precondition(takes_one)
    @rule(data=st.data(), weight=WEIGHTS | st.just(0.0))
    def learn_one(self, data: st.DataObject, weight: float) -> None:
        X, y = self.records(data, 1)
        before = file_of(self.model)
        error = self.call("learn_one", X[0], y[0], sample_weight=weight)
        if error is not None or weight == 0:
            assert file_of(self.model) == before

    @rule(data=st.data())
    def calibrate(self, data: st.DataObject) -> None:
        batch = self.lesson(data)
        before = file_of(self.model)
        for name in ("calibrate", "choose_thresholds"):
            if not hasattr(self.model, name):
                continue
            if self.call(name, batch.X, batch.y, **batch.about) is not None:
                assert file_of(self.model) == before
            before = file_of(self.model)

    @rule(data=st.data(), risk=RISKS, novel=st.sampled_from([None, None, 0.5]))
    def keep_back(self, data: st.DataObject, risk: float, novel: float | None) -> None:
        """Law: what kept-back records tell is told, or the file is as it was."""
        batch = self.lesson(data)
        how = {"risk": risk, "delta": 0.5, **({} if novel is None else {"novel": novel})}
        calls: dict[str, dict[str, Any]] = {
            "choose_novelty": {"X": batch.X},
            "choose_sets": {"X": batch.X, "y": batch.y},
            "choose_abstention": {"X": batch.X, "y": batch.y, **how},
        }
        for name, given in calls.items():
            before = file_of(self.model)
            if not hasattr(self.model, name):
                continue
            if self.call(name, **given, **batch.about) is not None:
                assert file_of(self.model) == before
        if hasattr(self.model, "coverage_"):
            assert 0 < self.model.coverage_ <= 1
            assert 0 < self.model.risk_bound_ <= 0.99

    @rule(data=st.data(), risk=RISKS)
    def fit_with_risk(self, data: st.DataObject, risk: float) -> None:
        """Law: a refused fit leaves the bytes; one that is taken leaves a model that is loaded."""
        batch, before = self.lesson(data), file_of(self.model)
        how = {"risk": risk, "delta": 0.5, **batch.about}
        if self.call("fit", batch.X, batch.y, **how) is not None:
            assert file_of(self.model) == before
        else:
            with self.same_again(data):
                self.model = load(io.BytesIO(file_of(self.model)))

    # ------------------------------------------------------------------------ refusals

    @rule(data=st.data())
    def learn_bad_things(self, data: st.DataObject) -> None:
        """Law: what is no row, text, ... is refused, and leaves nothing."""
        unlike = self.kind.unlike if self.is_fitted else {}
        wrong = data.draw(st.sampled_from(sorted({**self.kind.wrong, **unlike})), label="wrong")
        X = {**self.kind.wrong, **unlike}[wrong]
        batch = self.batch(data, 1)
        with self.unchanged():
            for method in ("fit", "partial_fit", "calibrate"):
                starts_anew = method == "fit" and wrong in unlike
                skips = method == "calibrate" and self.kind.ignores_unknown
                if hasattr(self.model, method) and not (starts_anew or skips):
                    assert self.call(method, X, batch.y, **batch.about), (method, wrong)
            refused = self.call("predict", X, **batch.about)
            assert refused or self.kind.ignores_unknown or wrong.startswith("no "), wrong

    @rule(data=st.data())
    def learn_bad_answers(self, data: st.DataObject) -> None:
        """Law: labels of another number or type, none, and bad weights leave nothing."""
        X, y = self.records(data, 1)
        batch = self.kind.joined(X, y)
        other = data.draw(self.kind.answers(X[0], st.just(self.other)))
        wrong = [(self.kind.joined(X, [other]).y, {})] if self.model_has_labels(other) else []
        wrong += [(batch.y * 2, {}), ([None] * len(batch.y), {}), ([], {}), (None, {})]
        wrong += [(batch.y, {"sample_weight": w}) for w in ([-1.0], [np.nan], [np.inf], ["a"], [])]
        number = data.draw(st.integers(0, len(wrong) - 1), label="wrong")
        own, how = wrong[number]
        starts_anew = self.model_has_labels(other) and number == 0
        with self.unchanged():
            for method in ["partial_fit"] if starts_anew else ["fit", "partial_fit"]:
                if hasattr(self.model, method):
                    refused = self.call(method, batch.X, own, **how, **batch.about)
                    assert refused, (method, own, how)

    def model_has_labels(self, other: Any) -> bool:
        known = len(getattr(self.model, "classes_", []))
        return bool(self.kind.has_labels and known and _labels([other]))

    # ------------------------------------------------------------------------- reading

    @rule(data=st.data())
    def ask(self, data: st.DataObject) -> None:
        """Law: nothing changes."""
        batch = self.batch(data)
        with self.unchanged():
            self.answers(self.model, batch)

    # ------------------------------------------------------------------ other instances

    @precondition(lambda self: self.is_fitted)
    @rule(data=st.data())
    def save_and_load(self, data: st.DataObject) -> None:
        with self.same_again(data):
            self.model = load(io.BytesIO(file_of(self.model)))

    @rule(data=st.data(), how=st.sampled_from([copy.copy, copy.deepcopy, pickle.dumps]))
    def copy(self, data: st.DataObject, how: Callable[[Any], Any]) -> None:
        with self.same_again(data):
            made = how(self.model)
            self.model = pickle.loads(made) if how is pickle.dumps else made

    @rule()
    def clone(self) -> None:
        with self.unchanged():
            made = clone(self.model)
        assert repr(made.get_params()) == repr(self.model.get_params())
        assert isinstance(file_of(made), list)

    @rule(data=st.data())
    def set_params(self, data: st.DataObject) -> None:
        """Law: parameters of learning change no prediction."""
        batch, before = self.batch(data), self.model
        self.model = copy.deepcopy(self.model)
        names = sorted(self.subject.params.keys())
        name = data.draw(st.sampled_from(names), label="parameter")
        value = data.draw(st.sampled_from(self.subject.params[name]), label="value")
        self.model.set_params(**{name: value})
        assert self.model.get_params()[name] == value
        assert bits(self.answers(self.model, batch)) == bits(self.answers(before, batch))
        self.twin.set_params(**{name: value})

    @rule(data=st.data())
    def learn_twin(self, data: st.DataObject) -> None:
        batch = self.batch(data)
        method = "partial_fit" if hasattr(self.twin, "partial_fit") else "fit"
        self.call(method, batch.X, batch.y, on=self.twin, **batch.about)

    @rule(data=st.data(), how=WAYS, keep=st.booleans())
    def merge(self, data: st.DataObject, how: str, keep: bool) -> None:
        """Law (promise 6): the same bits in either order; the parts are as they were."""
        both = [self.model, self.twin]
        with self.unchanged(*both):
            one, error = self.asked(lambda: merge(both, how))
            other, refused = self.asked(lambda: merge(both[::-1], how))
        assert (error is None) == (refused is None), (error, refused)
        if error is None:
            batch = self.batch(data)
            assert bits(self.answers(one, batch)) == bits(self.answers(other, batch))
            if keep:
                self.model = one


def _labels(y: Any) -> set[Any]:
    """All labels in answers, one or many for a thing."""
    return {label for own in y for label in (own if isinstance(own, list | tuple) else [own])}


def _distributions(found: Any, batch: Batch) -> list[Any]:
    """The probabilities that sum to one: of each row, token, node or group."""
    if isinstance(found, dict):  # of one row
        return [list(found.values())]
    if "group" in batch.about:
        return np.split(found, np.cumsum(batch.about["group"])[:-1])
    if isinstance(found, list):
        rows = [row for own in found for row in own]
        return [list(row.values()) if isinstance(row, dict) else row for row in rows]
    return list(found)
