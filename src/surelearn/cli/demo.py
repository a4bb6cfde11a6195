"""`surelearn demo`: compares four rules on a small corpus; must not know how they learn.

Heavy modules are imported inside the functions, so that ``surelearn --help`` does not load them.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from surelearn.cli._options import Json, check_picture, print_json

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from rich.console import Console
    from rich.progress import Progress
    from rich.table import Table

    from surelearn import SureTextClassifier, rules
    from surelearn.plot import LearningCurveDisplay

_PASSES = (1, 5)
_N_ORDERS = 8
_N_TEXTS = 6
_N_CLASSES = 5
_N_WORDS = 3
_INDENT = " " * 8
_CUT = " ..."
_WIDTH = 79


class _Data(NamedTuple):
    train: list[str]
    y_train: NDArray[Any]
    test: list[str]
    y_test: NDArray[Any]


class _Run(NamedTuple):
    model: SureTextClassifier
    accuracy: float
    seconds: float


def demo(
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", dir_okay=False, help="Picture to write: .png, .svg or .pdf."
        ),
    ] = Path("demo.png"),
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 2, help="Random seed for the split and all orders.")
    ] = 0,
    as_json: Json = False,
) -> None:
    """Learn which package a docstring comes from; print results and draw a picture.

    The texts are the docstrings of the installed numpy, scipy, scikit-learn and Python itself, so
    nothing is downloaded. The demo takes about ten seconds.
    """
    check_picture(output, "--output")
    from rich.console import Console

    # Docstrings are full of brackets and colons that rich would take for markup.
    console = Console(highlight=False, markup=False, emoji=False, stderr=as_json)
    with _progress(console) as progress:
        with _stage(progress, "Reading docstrings"):
            data = _load(seed)
        with _stage(progress, "Choosing parameters"):
            chosen = _choose(data, seed)
        with _stage(progress, "Training"):
            runs = {name: _train(data, rule, seed) for name, rule in chosen.items()}
        if not as_json:
            _report(console, data, runs)
        last = _picture(progress, data, chosen, output=output, seed=seed)
    if as_json:
        print_json(_plain(data, runs, output))
    else:
        console.print(last, soft_wrap=True)


# --------------------------------------------------------------------- learning


def _load(seed: int) -> _Data:
    """Docstrings, split into training texts and a test set of a fifth of every class."""
    from sklearn.model_selection import train_test_split

    from surelearn.datasets import load_docstrings

    texts, labels = load_docstrings(return_X_y=True)
    train, test, y_train, y_test = train_test_split(
        texts, labels, test_size=0.2, stratify=labels, random_state=seed
    )
    return _Data(train, y_train, test, y_test)


def _choose(data: _Data, seed: int) -> dict[str, rules.Rule]:
    """Each rule with its best parameter for one pass, by the error on rows kept back."""
    from surelearn import SureTextClassifier, rules, tune

    grids: dict[str, list[rules.Rule]] = {
        "CW": [rules.Variance(phi=phi) for phi in (0.3, 1.0, 3.0, 10.0)],
        "AROW": [rules.AROW(r=r) for r in (0.1, 0.3, 1.0, 3.0)],
        "Passive-aggressive": [rules.PA1(C=C) for C in (0.1, 0.3, 1.0, 3.0)],
    }
    best: dict[str, rules.Rule] = {}
    for name, grid in grids.items():
        one_pass = SureTextClassifier(passes=1, random_state=seed)
        best[name] = tune(one_pass, data.train, data.y_train, {"rule": grid}).best.rule
    return {**best, "Perceptron": rules.Perceptron()}


def _train(data: _Data, rule: rules.Rule, seed: int) -> list[_Run]:
    """One model for each number of passes, with the fastest time of three runs."""
    from surelearn import SureTextClassifier

    runs = []
    for passes in _PASSES:
        model = SureTextClassifier(rule, passes=passes, random_state=seed)
        seconds = min(_seconds_to_fit(model, data) for _ in range(3))
        runs.append(_Run(model, model.score(data.test, data.y_test), seconds))
    return runs


def _seconds_to_fit(model: SureTextClassifier, data: _Data) -> float:
    start = perf_counter()
    model.fit(data.train, data.y_train)
    return perf_counter() - start


def _sureness(model: SureTextClassifier, texts: list[str]) -> NDArray[Any]:
    """Margin between the two best labels of each text, in standard deviations of that margin."""
    import numpy as np

    mean, variance = model.margin(texts)
    best = np.argsort(mean, axis=1)[:, -2:]
    gap = np.diff(np.take_along_axis(mean, best, axis=1))[:, 0]
    return np.asarray(gap / np.sqrt(np.take_along_axis(variance, best, axis=1).sum(axis=1)))


# --------------------------------------------------------------------- printing


@contextmanager
def _progress(console: Console) -> Iterator[Progress]:
    """Progress bars, one a stage, removed at the end; nothing outside a terminal."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description:<20}"), BarColumn(), TimeElapsedColumn())
    hidden = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden) as progress:
        yield progress


@contextmanager
def _stage(progress: Progress, name: str) -> Iterator[None]:
    task = progress.add_task(name, total=None)
    yield
    progress.remove_task(task)


def _report(console: Console, data: _Data, runs: dict[str, list[_Run]]) -> None:
    n_classes = len(set(data.y_train))
    sure = runs["CW"][-1].model
    n_words = sure.vectorizer_.n_names_
    console.print(
        f"Which of {n_classes} packages does a docstring come from?\n"
        f"{len(data.train):,} training texts, {n_words:,} words, {len(data.test):,} test texts.\n"
    )
    console.print(_accuracy_table(runs))
    console.print(
        "Parameters: chosen by the error of one pass on training rows kept back.\n"
        "Times: fastest of three runs, from raw texts.\n"
    )
    _report_texts(console, data, sure)
    _report_words(console, sure)


def _plain(data: _Data, runs: dict[str, list[_Run]], output: Path) -> dict[str, Any]:
    """The table and the path of the picture, as JSON has them."""
    learners = [
        {"learner": name, "rule": repr(run.model.rule), "passes": passes,
         "accuracy": run.accuracy, "seconds": round(run.seconds, 4)}
        for name, pair in runs.items()
        for passes, run in zip(_PASSES, pair, strict=True)
    ]  # fmt: skip
    counts = {"train": len(data.train), "test": len(data.test), "classes": len(set(data.y_train))}
    has_picture = find_spec("matplotlib") is not None
    return {**counts, "learners": learners, "picture": str(output) if has_picture else None}


def _accuracy_table(runs: dict[str, list[_Run]]) -> Table:
    from rich import box
    from rich.table import Table

    title = "Accuracy on the test texts, and training time"
    table = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        collapse_padding=True,  # long times of a slow machine still fit in 80 columns
    )
    table.add_column("learner", overflow="fold")
    table.add_column("rule", overflow="fold")
    for passes in _PASSES:
        header = "1 pass" if passes == 1 else f"{passes} passes"
        table.add_column(header, justify="right", overflow="fold")
        table.add_column("time", justify="right", overflow="fold")
    for name, pair in runs.items():
        cells = [(f"{run.accuracy:.1%}", f"{1000 * run.seconds:.0f} ms") for run in pair]
        table.add_row(name, repr(pair[0].model.rule), *chain.from_iterable(cells))
    return table


def _report_texts(console: Console, data: _Data, model: SureTextClassifier) -> None:
    """Print test texts from the surest to the least sure, and the accuracy of each half."""
    import numpy as np

    answers, sureness = model.predict(data.test), _sureness(model, data.test)
    order = np.argsort(-sureness, kind="stable")
    title = "How sure CW is: margin between its two best labels, in standard deviations"
    console.print(title, style="bold")
    for row in order[np.linspace(0, len(order) - 1, _N_TEXTS).astype(int)]:
        true = data.y_test[row]
        right = answers[row] == true
        verdict = "right" if right else f"wrong, it is {true}"
        console.print(
            f"{sureness[row]:6.1f}  {answers[row]}: {verdict}", style="green" if right else "red"
        )
        console.print(_one_line(data.test[row].partition("\n\n")[0], console.width))
    surer, other = np.array_split(answers[order] == data.y_test[order], 2)
    console.print(
        f"Accuracy: {surer.mean():.1%} on the surer half, {other.mean():.1%} on the other.\n"
    )


def _report_words(console: Console, model: SureTextClassifier) -> None:
    """Print the words with the largest weights, for a few classes spread over the list."""
    import numpy as np

    title = "Words with the largest weights: weight (and its standard deviation)"
    console.print(title, style="bold")
    for row in np.linspace(2, len(model.classes_) - 1, _N_CLASSES).astype(int):
        mean, deviation = model.coef_[row], np.sqrt(model.sigma_[row])
        best = np.argsort(-mean, kind="stable")[:_N_WORDS]
        names = zip(best, model.vectorizer_.names(best), strict=True)
        words = [f"{name} {mean[j]:.1f} ({deviation[j]:.1f})" for j, name in names]
        console.print(f"  {model.classes_[row]}", style="green")
        console.print(_one_line(", ".join(words), console.width))
    console.print()


def _one_line(text: str, width: int) -> str:
    """The text on one indented line, in ASCII, which every terminal can show."""
    plain = text.encode("ascii", "replace").decode()
    room = max(min(width, _WIDTH) - len(_INDENT), len(_CUT))
    return _INDENT + textwrap.shorten(plain, room, placeholder=_CUT)


# ---------------------------------------------------------------------- picture


def _picture(
    progress: Progress, data: _Data, chosen: dict[str, rules.Rule], *, output: Path, seed: int
) -> str:
    """Draw the picture, and return the last line to print."""
    from surelearn._check import install

    if find_spec("matplotlib") is None:
        return f"No picture without matplotlib. {install('plot')}"
    from surelearn import SureTextClassifier
    from surelearn.plot import LearningCurveDisplay

    task = progress.add_task("Drawing the picture", total=None)
    display = LearningCurveDisplay.from_estimators(
        {name: SureTextClassifier(rule) for name, rule in chosen.items()},
        data.train,
        data.y_train,
        X_test=data.test,
        y_test=data.y_test,
        n_repeats=_N_ORDERS,
        random_state=seed,
        progress=lambda done, total: progress.update(task, completed=done, total=total),
    )
    display.save(output, title=_finding(display), unit="texts")
    return f"The picture is in {output}. Next, try another split: surelearn demo --seed {seed + 1}"


def _finding(display: LearningCurveDisplay) -> str | None:
    """The title: how few texts CW needs for the perceptron's final accuracy, if fewer."""
    everything = display.sizes_[-1]
    needed = display.rows_needed("CW", display.mean("Perceptron")[-1])
    if needed > everything:
        return None
    about = float(f"{needed:.2g}")
    return f"CW needs about {about:,.0f} texts for what the perceptron learns from {everything:,}"
