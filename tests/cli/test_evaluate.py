"""`surelearn evaluate`: what it prints, plain and as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib import image

from command import TEST
from command import plain_run as run
from surelearn import SureTextClassifier, evaluate, load

#: Words of good and of bad texts; they share some.
GOOD = ["great", "fine", "film", "plot", "odd"]
BAD = ["dull", "poor", "film", "plot", "odd"]


@pytest.fixture(autouse=True)
def inside(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(models)


def expected(**more: Any) -> Any:
    texts, y = zip(*TEST, strict=True)
    return evaluate(load("two.sure"), texts, y, **more)


def test_an_evaluation_is_printed() -> None:
    result = run("evaluate", "two.sure", "test.jsonl")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == f"{expected()}\n"
    assert result.stdout.startswith("4 rows, 2 classes\n\naccuracy           0.7500 (95 % ")
    assert max(map(len, result.stdout.splitlines())) <= 80


@pytest.mark.parametrize("jobs", [1, 3, -1, -2])
def test_the_number_of_threads_changes_nothing(jobs: int) -> None:
    result = run("evaluate", "two.sure", "test.jsonl", "--jobs", jobs)
    assert result.stdout == f"{expected()}\n"


def test_an_evaluation_as_json() -> None:
    result = run("evaluate", "two.sure", "test.jsonl", "--json")
    assert result.stdout.count("\n") == 1
    assert json.loads(result.stdout) == expected().to_dict()


def test_two_models() -> None:
    result = run("evaluate", "two.sure", "test.jsonl", "--against", "old.sure")
    found = expected(rival=load("old.sure"))
    rival = found.comparison.rival_accuracy
    assert f"Accuracy: two.sure 75.0 %, old.sure {100 * rival:.1f} %." in result.stdout
    assert "Only two.sure is right on " in result.stdout
    plain = json.loads(
        run("evaluate", "two.sure", "test.jsonl", "--against", "old.sure", "--json").stdout
    )
    assert plain["comparison"]["names"] == ["two.sure", "old.sure"]
    assert plain["comparison"]["p_value"] == found.comparison.p_value


def test_the_coverage_at_a_risk() -> None:
    result = run("evaluate", "two.sure", "test.jsonl", "--risk", "0.3")
    assert result.stdout == f"{expected(risk=0.3)}\n"
    at = expected(risk=0.3).decisions.coverage_at_risk
    assert f"coverage at 30 %   {at:.4f} (seen here, not promised)\n" in result.stdout
    plain = json.loads(run("evaluate", "two.sure", "test.jsonl", "--risk", "0.3", "--json").stdout)
    assert (plain["risk"], plain["coverage_at_risk"]) == (0.3, at)
    refused = run("evaluate", "two.sure", "test.jsonl", "--risk", "5")
    assert refused.exit_code == 1
    assert "risk must be in (0, 1), got 5" in refused.output


def test_the_area_beside_a_rival(tmp_path: Path) -> None:
    rival, saved = SureTextClassifier(random_state=0).fit(*zip(*TEST, strict=True)), tmp_path / "r"
    rival.save(saved)
    result = run("evaluate", "two.sure", "test.jsonl", "--against", saved)
    found = expected(rival=rival).decisions
    assert f"area less rival's  {found.area_difference:+.4f} +- {found.area_error:.4f}" in (
        result.stdout
    )
    told = run("evaluate", "two.sure", "test.jsonl", "--against", saved, "--json").stdout
    assert json.loads(told)["area_error"] == found.area_error


def test_a_promise_and_sets_of_a_saved_model(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    good = random.random(700) < 0.5
    texts = [" ".join(random.choice(GOOD if one else BAD, 4)) for one in good]
    y = np.where(good, "good", "bad").tolist()
    clf = SureTextClassifier(random_state=0).fit(texts[:200], y[:200])
    clf.choose_abstention(texts[200:400], y[200:400], risk=0.2)
    clf.choose_sets(texts[200:400], y[200:400]).save(tmp_path / "sure.sure")
    pairs = zip(texts[400:], y[400:], strict=True)
    lines = [json.dumps({"text": text, "label": label}) for text, label in pairs]
    (tmp_path / "rows.jsonl").write_text("\n".join(lines))
    result = run("evaluate", tmp_path / "sure.sure", tmp_path / "rows.jsonl")
    found = evaluate(clf, texts[400:], y[400:])
    assert result.stdout == f"{found}\n"
    share = np.mean([one is not None for one in clf.predict(texts[400:], abstain=True)])
    assert f"\nanswered           {share:.4f}\n" in result.stdout
    assert "promised risk      0.2, with probability 0.9" in result.stdout
    assert "Sets of labels for 95 % coverage, by class:\nlabel" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80
    told = run("evaluate", tmp_path / "sure.sure", tmp_path / "rows.jsonl", "--json").stdout
    assert json.loads(told) == found.to_dict()


def test_columns_and_bad_lines() -> None:
    result = run("evaluate", "two.sure", "test.jsonl", "--text", "text", "--label", "kind")
    assert result.stdout == f"{expected()}\n"
    result = run("evaluate", "two.sure", "bad.jsonl", "--skip-bad")
    assert result.stdout.startswith("4 rows, 1 skipped as bad, 2 classes\n")


def test_columns_that_were_learnt(tmp_path: Path) -> None:
    records = [json.dumps({"body": text, "kind": label}) for text, label in TEST]
    (tmp_path / "named.jsonl").write_text("\n".join(records))
    model = SureTextClassifier(random_state=0)
    model.fit_stream(tmp_path / "named.jsonl", text="body", label="kind").save(tmp_path / "m.sure")
    result = run("evaluate", tmp_path / "m.sure", tmp_path / "named.jsonl")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("4 rows, 3 classes\n")
    (tmp_path / "new.jsonl").write_text('{"body": "great"}\n')
    assert run("predict", tmp_path / "m.sure", tmp_path / "new.jsonl").exit_code == 0
    again = run("evaluate", tmp_path / "m.sure", "test.jsonl", "--text", "text", "--label", "label")
    assert again.stdout.startswith("4 rows, 3 classes\n")
    shown = run("info", tmp_path / "m.sure").stdout
    assert (
        f"stream                 {tmp_path / 'named.jsonl'}, at the end of pass 3 of 3\n" in shown
    )


def test_a_picture(tmp_path: Path) -> None:
    target = tmp_path / "confusion.png"
    result = run("evaluate", "two.sure", "test.jsonl", "--picture", target)
    assert result.stdout == f"{expected()}\n\nThe picture is in {target}.\n"
    assert image.imread(target).shape[0] > 400
    plain = run("evaluate", "two.sure", "test.jsonl", "--picture", target, "--json")
    json.loads(plain.stdout)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("two.sure", "test.jsonl", "--picture", "x.gif"), 2, "picture must end in .png, .svg"),
        (("two.sure", "test.jsonl", "--picture", "no/x.png"), 2, "picture must be in a folder"),
        (("two.sure",), 2, "Missing argument"),
        (("numbers.sure", "test.jsonl"), 1, "source must hold rows of numbers for a SureClassif"),
        (("two.sure", "test.jsonl", "--label", "body"), 1, "must have a column 'body'"),
        (("two.sure", "test.jsonl", "--against", "no.sure"), 1, "no.sure: No such file"),
        (
            ("two.sure", "unlabelled.jsonl"),
            1,
            "unlabelled.jsonl must have labels, got none. Name their column by --label.",
        ),
        (
            ("two.sure", "counted.jsonl"),
            1,
            "labels of the same type as before, such as 'bad', got 3",
        ),
    ],
)
def test_what_evaluate_refuses(
    arguments: tuple[str, ...], code: int, message: str, models: Path
) -> None:
    (models / "unlabelled.jsonl").write_text('{"text": "great"}\n')
    (models / "counted.jsonl").write_text('{"text": "great", "label": 3}\n')
    result = run("evaluate", *arguments)
    assert result.exit_code == code
    assert message in " ".join(result.stderr.split())
    assert code == 2 or len(result.stderr.splitlines()) == 1
    assert result.stdout == ""


def test_lists_of_labels_are_scored(topics: Path) -> None:
    done = run("evaluate", topics / "topics.sure", topics / "test.jsonl")
    assert done.exit_code == 0, done.output
    model = load(topics / "topics.sure")
    by_hand = evaluate(model, str(topics / "test.jsonl"))
    assert done.stdout == f"{by_hand}\n"
    assert (
        f"micro F1           {by_hand.micro_f1:.4f} +- {by_hand.micro_f1_error:.4f}" in done.stdout
    )
    as_json = run("evaluate", topics / "topics.sure", topics / "test.jsonl", "--json")
    assert json.loads(as_json.stdout) == by_hand.to_dict()
    rival = run(
        "evaluate", topics / "topics.sure", topics / "test.jsonl",
        "--against", topics / "topics.sure",
    )  # fmt: skip
    assert "is right on 0 rows" in " ".join(rival.stdout.split())  # a long path breaks the line


def test_a_confusion_matrix_of_many_labels_is_refused(topics: Path, tmp_path: Path) -> None:
    picture = tmp_path / "a.png"
    done = run("evaluate", topics / "topics.sure", topics / "test.jsonl", "--picture", picture)
    assert done.exit_code == 2
    assert "picture needs a model of one label a row" in " ".join(done.output.split())


@pytest.mark.parametrize("cell", ["topic 0", ""])
def test_csv_without_its_separator_names_the_remedy(
    topics: Path, tmp_path: Path, cell: str
) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"text,label\nw01 film,{cell}\nw01 w11,topic 0;topic 1\n")
    refused = run("evaluate", topics / "topics.sure", path)
    said = " ".join(refused.output.split())
    assert "must have a list of labels for each row, as the model has learnt, got one" in said
    assert "In csv, --label-separator names what separates labels." in said
    assert run("evaluate", topics / "topics.sure", path, "--label-separator", ";").exit_code == 0
