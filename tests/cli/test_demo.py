"""`surelearn demo`: run once for real, and on a few rows."""

from __future__ import annotations

import json
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib import image
from typer.testing import CliRunner

from command import run
from surelearn import SureTextClassifier, rules
from surelearn.cli import _app, demo
from surelearn.plot import LearningCurveDisplay


@pytest.fixture(scope="module")
def picture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo") / "curve.png"


@pytest.fixture(scope="module")
def story(picture: Path) -> Any:
    """The demo, run once for real."""
    return run("demo", "-o", picture, "--seed", 0)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> demo._Data:
    """A corpus of 4 classes that is learnt in no time; its texts are hostile to markup."""
    random = np.random.default_rng(0)
    labels = np.arange(320) % 4
    noise = random.choice(["one", "two", "six", "ten"], 320)
    words = [f"[bold]x[/nonsense] :smile: “é”\n\n{'abcd'[k] * 3} {word}" for k, word in
             zip(labels, noise, strict=True)]  # fmt: skip
    y = np.array(["a.a", "b.b", "c.c", "d.d"])[labels]
    data = demo._Data(words[:240], y[:240], words[240:], y[240:])
    monkeypatch.setattr(demo, "_load", lambda seed: data)
    return data


def test_help_of_demo_names_its_options() -> None:
    result = run("demo", "--help")
    assert result.exit_code == 0
    assert "--output" in result.output
    assert "--seed" in result.output


# ----------------------------------------------------------------- demo, for real


def accuracies(output: str) -> dict[str, tuple[float, float]]:
    """One pass and five passes of each learner, from the table."""
    found = re.findall(r"^ +(\S+) +\S+\(.*?\) .*?([\d.]+)%.*?([\d.]+)%", output, re.MULTILINE)
    return {name: (float(one), float(five)) for name, one, five in found}


@pytest.mark.slow
def test_demo_ends_well(story: Any) -> None:
    assert story.exception is None
    assert story.exit_code == 0
    assert story.stderr == ""


@pytest.mark.slow
def test_demo_prints_accuracies(story: Any) -> None:
    table = accuracies(story.output)
    assert list(table) == ["CW", "AROW", "Passive-aggressive", "Perceptron"]
    for one, five in table.values():
        assert 60 < one < 100
        assert 60 < five < 100
    for name in ("Passive-aggressive", "Perceptron"):
        assert table[name][0] + 5 < table[name][1]
    for name in ("CW", "AROW"):  # one pass is enough
        assert table[name][0] > 85


@pytest.mark.slow
def test_demo_confidence_wins(story: Any) -> None:
    table = accuracies(story.output)
    assert table["CW"][0] > table["Perceptron"][0] + 5
    assert table["CW"][0] > 80


@pytest.mark.slow
def test_demo_is_more_often_right_when_surer(story: Any) -> None:
    surer, other = re.findall(r"([\d.]+)% on the (?:surer half|other)", story.output)
    assert float(surer) > 95 > float(other)


@pytest.mark.slow
def test_demo_shows_the_words_of_a_package(story: Any) -> None:
    assert re.search(r"numpy\.ma\n +.*masked \d\.\d \(0\.\d\)", story.output)


@pytest.mark.slow
def test_demo_fits_eighty_columns(story: Any, picture: Path) -> None:
    *lines, last = story.output.splitlines()
    assert max(len(line) for line in lines) <= 80
    assert not any(line.endswith("\x1b[0m") for line in lines)
    assert last == f"The picture is in {picture}. Next, try another split: surelearn demo --seed 1"


@pytest.mark.slow
def test_demo_leaves_a_picture(story: Any, picture: Path) -> None:
    pixels = image.imread(picture)
    assert pixels.shape[:2] == (750, 1200)
    assert 0.01 < np.mean(pixels[..., :3].min(axis=2) < 0.9) < 0.5


# ------------------------------------------------------------- demo, on few rows


@pytest.mark.usefixtures("small")
def test_texts_are_shown_as_they_are_in_plain_letters(tmp_path: Path) -> None:
    result = run("demo", "--output", tmp_path / "small.svg")
    assert result.exit_code == 0
    assert "        [bold]x[/nonsense] :smile: ???\n" in result.output
    assert "aaa one" not in result.output
    assert (tmp_path / "small.svg").stat().st_size > 1000


@pytest.mark.usefixtures("small")
def test_the_surest_texts_and_the_largest_weights_come_first(tmp_path: Path) -> None:
    output = run("demo", "--output", tmp_path / "small.svg").output
    sure = [float(found) for found in re.findall(r"^ *(\d+\.\d)  \w\.\w: ", output, re.MULTILINE)]
    assert len(sure) == 6
    assert sure == sorted(sure, reverse=True)
    words = re.findall(r"^  (\w)\.\w\n +(\w+) (\S+) \(.*?\), \w+ (\S+) \(", output, re.MULTILINE)
    assert {name for name, *_ in words} == {"c", "d"}  # spread over the end of the list
    for name, first, largest, next_one in words:
        assert first == 3 * name
        assert float(largest) > max(0.0, float(next_one))


@pytest.mark.usefixtures("small")
def test_demo_in_json(tmp_path: Path) -> None:
    target = tmp_path / "small.png"
    result = run("demo", "--output", target, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    found = json.loads(result.stdout)
    assert (found["train"], found["test"], found["classes"]) == (240, 80, 4)
    assert found["picture"] == str(target)
    assert target.stat().st_size > 1000
    lines = [(line["learner"], line["passes"]) for line in found["learners"]]
    assert lines == [(name, n) for name in ("CW", "AROW", "Passive-aggressive", "Perceptron")
                     for n in (1, 5)]  # fmt: skip
    assert all(0 <= line["accuracy"] <= 1 for line in found["learners"])


@pytest.mark.usefixtures("small")
def test_demo_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        demo, "find_spec", lambda name: None if name == "matplotlib" else find_spec(name)
    )
    result = run("demo", "--output", tmp_path / "never.png")
    assert result.exit_code == 0
    assert result.output.endswith("In a clone of surelearn, run: pip install '.[plot]'\n")
    assert "Perceptron" in result.output
    assert not (tmp_path / "never.png").exists()


@pytest.mark.usefixtures("small")
def test_narrow_plain_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    ascii_runner = CliRunner(charset="ascii")
    result = ascii_runner.invoke(_app.app, ["demo", "--output", str(tmp_path / "small.png")])
    assert result.exit_code == 0
    assert max(len(line) for line in result.output.splitlines()[:-1]) <= 50


def test_sureness_by_hand(small: demo._Data) -> None:
    model = SureTextClassifier("arow", random_state=0).fit(small.train, small.y_train)
    mean, variance = model.margin(small.test[:1])
    second, first = np.argsort(mean[0])[-2:]
    gap, spread = mean[0, first] - mean[0, second], variance[0, first] + variance[0, second]
    assert demo._sureness(model, small.test)[0] == pytest.approx(gap / spread**0.5)


def test_parameters_are_chosen_from_the_training_rows_only(small: demo._Data) -> None:
    chosen = demo._choose(small, seed=0)
    blind = demo._choose(small._replace(test=None, y_test=None), seed=0)  # type: ignore[arg-type]
    assert chosen == blind
    assert list(chosen) == ["CW", "AROW", "Passive-aggressive", "Perceptron"]
    assert isinstance(chosen["CW"], rules.Variance)


def test_title_says_how_many_texts_are_saved() -> None:
    display = LearningCurveDisplay(
        [100, 1000, 10_000], {"CW": [[0.5, 0.7, 0.9]], "Perceptron": [[0.3, 0.5, 0.7]]}
    )
    expected = "CW needs about 1,000 texts for what the perceptron learns from 10,000"
    assert demo._finding(display) == expected


def test_no_title_without_a_finding() -> None:
    display = LearningCurveDisplay([10, 100], {"CW": [[0.3, 0.4]], "Perceptron": [[0.3, 0.5]]})
    assert demo._finding(display) is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--output", "curve.txt"), "output must end in .png, .svg or .pdf, got 'curve.txt'."),
        (("--output", "no/curve.png"), "output must be in a folder that exists, got"),
        (("--seed", "-1"), "Invalid value for '--seed'"),
        (("--seed", "one"), "Invalid value for '--seed'"),
    ],
)
def test_bad_options_are_refused_before_the_work(
    arguments: tuple[str, ...], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "_load", lambda seed: pytest.fail("started to work"))
    result = run("demo", *arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_sureness_is_the_lead_over_the_next_best_label() -> None:
    class Model:
        def margin(self, texts: list[str]) -> tuple[Any, Any]:
            mean = np.array([[3.0, 0.0, 1.0], [-1.0, -4.0, -1.5]])
            return mean, np.array([[0.5, 9.0, 0.5], [2.0, 9.0, 2.0]])

    found = demo._sureness(Model(), ["a", "b"])  # type: ignore[arg-type]
    np.testing.assert_allclose(found, [2.0, 0.25])
