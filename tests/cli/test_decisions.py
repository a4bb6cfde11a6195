"""`--risk`, `--set`, `--cost` and `--novel`: what commands promise, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command import run
from learners.deciding.test_keeping import write_groups, write_rows
from surelearn import SureClassifier, load
from surelearn.cli._decisions import promise_in_words, shortly, told


def said(*words: object) -> str:
    done = run(*words)
    assert done.exit_code == 0, done.output
    return str(done.stdout)


def refused(*words: object, code: int = 2) -> str:
    done = run(*words)
    assert done.exit_code == code, done.output
    return " ".join(done.stderr.replace("│", " ").split())


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows, a model with a promise and one without."""
    path = tmp_path_factory.mktemp("decisions")
    write_rows(path / "train.jsonl", 2000)
    write_rows(path / "new.jsonl", 60, seed=1)
    how = ("train", path / "train.jsonl", "--n-features", 2**12, "--passes", 2)
    said(*how, "-o", path / "sure.sure", "--risk", 0.1, "--novel", 0.05, "--delta", 0.2)
    said(*how, "-o", path / "plain.sure")
    return path


def test_the_report_says_what_was_promised(folder: Path) -> None:
    how = ("train", folder / "train.jsonl", "-o", folder / "new.sure", "--risk", 0.1)
    report = json.loads(said(*how, "--json"))["promise"]
    model = load(folder / "new.sure")
    assert report == {
        "risk": 0.1, "delta": 0.1, "coverage": model.coverage_, "risk_bound": model.risk_bound_,
        "certified_by": model.n_certified_,
    }  # fmt: skip
    last = said(*how).splitlines()[-1]
    assert last == (
        f"Certified by {model.n_certified_} kept-back rows: risk 10 % with confidence 90 %, "
        f"coverage {100 * model.coverage_:.3g} % (bound at this threshold "
        f"{100 * model.risk_bound_:.3g} %)."
    )


def test_info_shows_the_promise(folder: Path) -> None:
    shown = said("info", folder / "sure.sure")
    assert "promise                risk 10 % with confidence 80 %, coverage " in shown
    assert ", not the newest 5 %" in shown
    facts = json.loads(said("info", folder / "sure.sure", "--json"))
    assert facts["promise"] == told(load(folder / "sure.sure"))
    assert "promise" not in json.loads(said("info", folder / "plain.sure", "--json"))


def test_a_model_without_a_promise_says_why(folder: Path) -> None:
    few = write_rows(folder / "few.jsonl", 40)
    done = run("train", few, "-o", folder / "few.sure", "--risk", 0.05)
    assert done.exit_code == 0
    assert "needs at least 45 kept-back rows, got " in done.stderr
    assert done.stdout.endswith("No risk was certified, so the model makes no promise.\n")
    report = json.loads(said("train", few, "-o", folder / "few.sure", "--risk", 0.05, "--json"))
    assert report["promise"] is None


def test_answers_under_the_promise(folder: Path) -> None:
    found = lines(said("predict", folder / "sure.sure", folder / "new.jsonl", "--risk", 0.1))
    model = load(folder / "sure.sure")
    texts = [row["text"] for row in lines((folder / "new.jsonl").read_text())]
    assert [line["label"] for line in found] == model.predict(texts, abstain=True).tolist()
    assert {line["answered"] for line in found} == {True, False}
    for line in found:
        assert list(line) == ["label", "probability", "sureness", "answered", "why"]
        assert line["answered"] is (line["label"] is not None) is (line["why"] == "sure")
        assert line["why"] in ("sure", "unsure", "novel")
    plain = lines(said("predict", folder / "sure.sure", folder / "new.jsonl"))
    for line, other in zip(found, plain, strict=True):
        assert line["probability"] == other["probability"]
        assert line["sureness"] == other["sureness"]
        assert line["label"] in (None, other["label"])


def test_sets_of_labels(folder: Path) -> None:
    how = ("predict", folder / "sure.sure", folder / "new.jsonl", "--set", 0.9)
    found = lines(said(*how))
    model = load(folder / "sure.sure")
    texts = [row["text"] for row in lines((folder / "new.jsonl").read_text())]
    assert [tuple(line["set"]) for line in found] == model.predict_set(texts, 0.9)
    assert list(found[0]) == ["label", "probability", "sureness", "set"]
    more = lines(said(*how, "--risk", 0.1, "--proba", "--keep", "label"))[0]
    assert list(more) == [
        "kept_label", "label", "probability", "sureness", "answered", "why", "set", "probabilities",
    ]  # fmt: skip


def test_records_that_are_new(folder: Path) -> None:
    (folder / "odd.jsonl").write_text('{"text": "never seen"}\n{"text": "p0 p1 p2 p3 p4"}\n')
    found = lines(said("predict", folder / "sure.sure", folder / "odd.jsonl", "--novel", 0.05))
    assert [line["why"] for line in found] == ["novel", "sure"]
    assert [line["label"] for line in found] == [None, "a"]


def test_costs(folder: Path) -> None:
    def answers(costs: Any) -> list[dict[str, Any]]:
        (folder / "costs.json").write_text(json.dumps(costs))
        how = ("predict", folder / "plain.sure", folder / "new.jsonl")
        return lines(said(*how, "--cost", folder / "costs.json"))

    model = load(folder / "plain.sure")
    texts = [row["text"] for row in lines((folder / "new.jsonl").read_text())]
    found = answers({"a": {"b": 30}})
    expected = model.predict(texts, cost={("a", "b"): 30})
    assert [line["label"] for line in found] == expected.tolist()
    assert {line["why"] for line in found} == {"sure"}
    p = dict(zip(model.classes_, model.predict_proba(texts[:1])[0], strict=True))
    assert found[0]["probability"] == pytest.approx(p[found[0]["label"]], rel=1e-5)
    for costs in ({"a": {"": 0.2}, "b": {"": 0.2}}, {"": 0.2}):
        found = answers(costs)
        assert [line["label"] for line in found] == model.predict(texts, cost={None: 0.2}).tolist()
        assert {line["why"] for line in found} == {"sure", "cost"}
        assert all(line["probability"] > 0.5 for line in found)  # of the most probable label


def test_costs_of_labels_that_are_numbers(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(200, 2))
    clf = SureClassifier(random_state=0).fit(X, np.where(X[:, 0] > 0, 7, 8))
    clf.save(tmp_path / "n.sure")
    rows = "".join(json.dumps({"a": x, "b": y}) + "\n" for x, y in X.tolist())
    (tmp_path / "n.jsonl").write_text(rows)
    (tmp_path / "costs.json").write_text('{"7": {"8": 1000}}')
    how = ("predict", tmp_path / "n.sure", tmp_path / "n.jsonl")
    found = lines(said(*how, "--cost", tmp_path / "costs.json"))
    assert [line["label"] for line in found] == clf.predict(X, cost={(7, 8): 1000}).tolist()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "costs.json must hold"),
        ("[1]", ", got [1]."),
        ('{"a": 1}', "got 1 for 'a'."),
        ('{"a": {"x": 1}}', "got the answer 'x' beside 'a', 'b'"),
        ('{"a": {"": 1}}', "price of no answer for all true labels, got none for 'b'"),
        ('{"a": {"b": "much"}}', "cost[('a', 'b')] must be"),
    ],
)
def test_files_without_costs(folder: Path, text: str, message: str) -> None:
    path = folder / "wrong" / "costs.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    how = ("predict", folder / "plain.sure", folder / "new.jsonl", "--cost", path)
    assert message in refused(*how, code=1)


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        ("sure", ("--risk", 0.05), "which promises risk 10 % with"),
        ("plain", ("--risk", 0.1), "which promises none. Train with --risk"),
        ("plain", ("--set", 0.9), "which has none. Train with --risk, or call choose_sets"),
        ("plain", ("--novel", 0.1), "Train with --risk and --novel, or call choose_novelty"),
        ("sure", ("--cost", "missing.json"), "does not exist"),
    ],
)
def test_what_the_model_does_not_promise(
    folder: Path, model: str, options: Any, message: str
) -> None:
    how = ("predict", folder / f"{model}.sure", folder / "new.jsonl", *options)
    assert message in refused(*how)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--delta", 0.2), "delta needs --risk, got none"),
        (("--novel", 0.2), "novel needs --risk, got none"),
        (("--risk", 0.1, "--resume"), "got --resume. Train without it"),
        (("--risk", 0.1, "--tune"), "got --tune. Tune first"),
        (("--risk", 0.1, "--thresholds", "{file}"), "got --thresholds. Call choose_thresholds"),
    ],
)
def test_what_would_break_a_promise_is_refused(folder: Path, options: Any, message: str) -> None:
    file = folder / "train.jsonl"
    words = [str(word).format(file=file) for word in options]
    assert message in refused("train", file, "-o", folder / "no.sure", *words)
    assert not (folder / "no.sure").exists()


def test_wrong_levels_are_refused(folder: Path) -> None:
    how = ("train", folder / "train.jsonl", "-o", folder / "no.sure", "--risk")
    assert "risk must be in (0, 1), got 2" in refused(*how, 2, code=1)
    assert "'pa1'" in refused(*how, 0.1, "--rule", "pa1", code=1)
    how = ("predict", folder / "sure.sure", folder / "new.jsonl")
    assert "must be in (0, 1), got 1.5" in refused(*how, "--set", 1.5, code=1)


def test_rankers(tmp_path: Path) -> None:
    path, model = write_groups(tmp_path / "g.svm"), tmp_path / "g.sure"
    told = said("train", "--rank", path, "-o", model, "--risk", 0.3)
    assert "kept-back groups: risk 30 % with confidence" in told
    found = lines(said("predict", model, path, "--risk", 0.3, "--set", 0.8))
    assert list(found[0]) == ["qid", "best", "probability", "answered", "why", "set"]
    ranker = load(model)
    assert {line["why"] for line in found} <= {"sure", "unsure"}
    assert np.mean([line["answered"] for line in found]) == pytest.approx(ranker.coverage_, abs=0.1)
    for option in ("--cost", path), ("--novel", 0.1):
        assert "is for classifiers, got a ranker" in refused("predict", model, path, *option)
    new = ("train", "--rank", path, "-o", model, "--risk", 0.3, "--novel", 0.1)
    assert "novel is for classifiers, got a ranker" in refused(*new)


@pytest.mark.parametrize("kind", ["sure", "crf"])
def test_taggers(kind: str, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    with (tmp_path / "s.conll").open("w") as file:
        for _ in range(600):
            words = random.integers(20, size=int(random.integers(1, 5)))
            unsure = random.random() < 0.3
            tags = random.integers(2, size=len(words)) if unsure else words % 2
            for k, tag in zip(words, tags, strict=True):
                print(f"{'q' if unsure else 'w'}{k} {'NV'[tag]}", file=file)
            print(file=file)
    how = ("tag", "train", tmp_path / "s.conll", "-o", tmp_path / "t.sure", "--model", kind)
    report = json.loads(said(*how, "--risk", 0.12, "--json"))
    assert 0.4 < report["promise"]["coverage"] < 0.95
    assert "kept-back sentences: risk 12 %" in said(*how, "--risk", 0.12)
    again = ("tag", "predict", tmp_path / "t.sure", tmp_path / "s.conll")
    tags = [line.split()[-1] for line in said(*again, "--risk", 0.12).splitlines() if line]
    assert 0.05 < np.mean([tag == "_" for tag in tags]) < 0.6
    assert set(tags) == {"N", "V", "_"}
    assert "_" not in said(*again)
    assert "which promises risk 12 %" in refused(*again, "--risk", 0.1)
    assert "got --resume" in refused(*how, "--risk", 0.12, "--resume")


def test_a_risk_of_each_label_is_told() -> None:
    promise = {"risk": {"a": 0.1, 7: 0.2}, "delta": 0.1, "coverage": {"a": 0.5, 7: 0.25},
               "risk_bound": {"a": 0.09, 7: 0.19}, "certified_by": {"a": 80, 7: 80}}  # fmt: skip
    assert shortly(promise) == (
        "risk 10 % of a, 20 % of 7 with confidence 90 %, coverage 50 % of a, 25 % of 7 "
        "(bound at this threshold 9 % of a, 19 % of 7)"
    )
    words = promise_in_words(promise, SureClassifier.task)
    assert words == f"Certified by 80 kept-back rows: {shortly(promise)}."
