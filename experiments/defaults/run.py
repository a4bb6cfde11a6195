"""What SureClassifier() and SureTextClassifier() are out of the box: see README.md.

Writes beside this file grid.csv (every setting on the part of every set that is chosen on),
parameters.csv (the best parameters of each rule), stability.csv (the choice without some sets),
result.csv (the best of each rule, as chosen and as reported) and defaults.png.
"""

from __future__ import annotations

import csv
from itertools import chain
from pathlib import Path
from typing import Any

from experiments.defaults.choose import Candidate, Choice
from experiments.defaults.grid import GRID, PASSES, PROJECTIONS, Setting, name_of
from experiments.defaults.parts import EVERY, SPARSE, is_dense
from experiments.defaults.picture import draw
from experiments.defaults.report import Report
from surelearn import rules

HERE = Path(__file__).parent
CACHE = HERE.parents[1] / "build" / "defaults"

#: What a default is for, and the sets that choose it.
SCOPES = {"all": EVERY, "text": SPARSE}


def _as_it_comes(rule: rules.Rule, passes: int) -> Candidate:
    """No average; precision for sparse rows, covariance for dense."""
    ways = ("auto", "auto") if rule.first_order else PROJECTIONS
    return Candidate(*(Setting(rule, way, False) for way in ways), passes)


#: Parameters of the rules before this experiment.
FIRST = [
    rules.Variance(phi=0.3),
    rules.VarianceExact(phi=0.1),
    rules.Stdev(phi=0.5),
    rules.SCW1(phi=1, C=0.1),
    rules.SCW2(phi=1, C=1),
    rules.AROW(r=1),
    rules.Probit(noise=1),
    rules.NHERD(C=0.1),
    rules.PA1(C=1),
    rules.PA2(C=1),
]


#: Reported beside the best of each rule: the first default, neighbours of the best, and the floor.
BESIDE = [
    _as_it_comes(rules.AROW(r=1), 3),
    *(_as_it_comes(rules.Probit(noise=n), passes) for n in (0.1, 0.3, 1) for passes in (3, 10)),
    *(
        Candidate(*[Setting(rules.Perceptron(), "auto", average)] * 2, passes)
        for average in (False, True)
        for passes in PASSES
    ),
]


def candidates(choice: Choice, names: tuple[str, ...]) -> list[Candidate]:
    """All of them; where no set is dense, with the usual projection of dense rows only."""
    every = choice.candidates()
    if any(is_dense(name) for name in names):
        return every
    return [c for c in every if c.dense.projection in ("auto", "covariance")]


def leaders(choice: Choice, names: tuple[str, ...]) -> list[Candidate]:
    """The best candidate of each rule, best first."""
    every = candidates(choice, names)
    best = [
        choice.best([c for c in every if type(c.sparse.rule) is make], names)[0] for make in GRID
    ]
    return choice.best(best, names)


def stability(choice: Choice, scope: str) -> list[dict[str, Any]]:
    """What would have been chosen without each family of sets."""
    found = choice.without_each(candidates(choice, SCOPES[scope]), SCOPES[scope])
    return [{**_about(candidate, scope), "without": family} for family, candidate in found.items()]


def parameters(choice: Choice, report: Report, scope: str) -> list[dict[str, Any]]:
    """For each rule the best values of its parameters, all else as it comes."""
    names = SCOPES[scope]
    return [
        {
            "scope": scope,
            **{f"{n}": _best_of(choice, first, names, passes=n) for n in PASSES},
            "1, 3 and 10": name_of(serving),
            **_served(choice, report, serving, names=names),
            "first": name_of(first),
            **{f"first {k}": v for k, v in _served(choice, report, first, names=names).items()},
        }
        for first, serving in zip(FIRST, servants(choice, names), strict=True)
    ]


def _best_of(choice: Choice, like: rules.Rule, names: tuple[str, ...], *, passes: int) -> str:
    usual = [c for c in _usual_of(choice, like) if c.passes == passes]
    return name_of(choice.best(usual, names)[0].sparse.rule)


def _served(
    choice: Choice, report: Report, rule: rules.Rule, *, names: tuple[str, ...]
) -> dict[str, str]:
    """After 1, 3 and 10 passes: sets failed and mean rank as chosen, accuracy as reported."""
    ways = [_as_it_comes(rule, n) for n in PASSES]
    last = ways[-1]
    return {
        "failed": "/".join(str(len(choice.failures(way, names))) for way in ways),
        "mean rank": "/".join(f"{choice.mean_rank(way, names):.0f}" for way in ways),
        "accuracy": "/".join(
            _percent(report.of(last, names, f"accuracy {n}").mean()) for n in PASSES
        ),
    }


def _usual_of(choice: Choice, like: rules.Rule) -> list[Candidate]:
    return [c for c in choice.candidates() if type(c.sparse.rule) is type(like) and _usual(c)]


def servants(choice: Choice, names: tuple[str, ...]) -> list[rules.Rule]:
    """Of each rule with parameters the value that serves any number of passes best."""
    return [_serves_all(choice, _usual_of(choice, like), names) for like in FIRST]


def _usual(candidate: Candidate) -> bool:
    return candidate == _as_it_comes(candidate.sparse.rule, candidate.passes)


def _serves_all(choice: Choice, usual: list[Candidate], names: tuple[str, ...]) -> rules.Rule:
    """The rule with the fewest failures, then the best mean rank, over all numbers of passes."""
    values = list(dict.fromkeys(c.sparse.rule for c in usual))

    def worth(rule: rules.Rule) -> tuple[int, float]:
        some = [c for c in usual if c.sparse.rule == rule]
        failed = sum(len(choice.failures(c, names)) for c in some)
        return failed, sum(choice.mean_rank(c, names) for c in some)

    return min(values, key=worth)


def line(
    choice: Choice, report: Report, candidate: Candidate, *, first: Candidate, scope: str
) -> dict[str, Any]:
    """One line of result.csv; differences are to the first of the scope, errors over the sets."""
    names = SCOPES[scope]
    difference = report.of(candidate, names, "accuracy") - report.of(first, names, "accuracy")
    error = difference.std(ddof=1) / len(names) ** 0.5
    return {
        **_about(candidate, scope),
        "sets failed": len(choice.failures(candidate, names)),
        "below the averaged perceptron": len(choice.failures(candidate, names, "below_average")),
        "mean rank": f"{choice.mean_rank(candidate, names):.0f}",
        "mean rank of families": f"{choice.family_rank(candidate, names):.0f}",
        "chosen on": _percent(choice.of(candidate, names, "accuracy").mean()),
        **{
            f"after {n}": _percent(report.of(candidate, names, f"accuracy {n}").mean())
            for n in PASSES
        },
        "difference": _percent(difference.mean()),
        "standard error": _percent(error),
        **_probabilities(report, candidate, names),
        **{name: _percent(*report.of(candidate, [name], "accuracy")) for name in EVERY},
    }


def _about(candidate: Candidate, scope: str) -> dict[str, Any]:
    return {
        "scope": scope,
        "rule": name_of(candidate.sparse.rule),
        "sparse": candidate.sparse.projection,
        "dense": candidate.dense.projection if scope == "all" else "",
        "average": candidate.sparse.average,
        "passes": candidate.passes,
    }


def _probabilities(report: Report, candidate: Candidate, names: tuple[str, ...]) -> dict[str, str]:
    by = "accuracy by probability"
    out = {
        name: _percent(report.of(candidate, names, name).mean())
        for name in (by, f"{by}, calibrated")
    }
    for name in ("log loss", "log loss, calibrated"):
        out[name] = f"{report.of(candidate, names, name).mean():.3f}"
    return out


def _percent(share: float) -> str:
    return f"{100 * share:.2f}"


def grid(choice: Choice) -> list[dict[str, Any]]:
    """Accuracy of every setting on the part of each set that was chosen on."""
    return [
        {
            "rule": name_of(setting.rule),
            "projection": setting.projection,
            "average": setting.average,
            "passes": passes,
            **{name: _percent(choice.sets[name].accuracy[row, column]) for name in EVERY},
        }
        for row, setting in enumerate(choice.every)
        for column, passes in enumerate(PASSES)
    ]


def write(lines: list[dict[str, Any]], name: str) -> None:
    with (HERE / name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, lines[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


def main() -> None:
    choice = Choice(CACHE)
    write(grid(choice), "grid.csv")
    write([one for scope in SCOPES for one in stability(choice, scope)], "stability.csv")
    chosen = {scope: leaders(choice, names) for scope, names in SCOPES.items()}
    values = [*FIRST, *(rule for names in SCOPES.values() for rule in servants(choice, names))]
    ways = [_as_it_comes(rule, max(PASSES)) for rule in dict.fromkeys(values)]
    report = Report([*chain.from_iterable(chosen.values()), *BESIDE, *ways], CACHE)
    write([one for scope in SCOPES for one in parameters(choice, report, scope)], "parameters.csv")
    lines = [
        line(choice, report, candidate, first=some[0], scope=scope)
        for scope, some in chosen.items()
        for candidate in dict.fromkeys((*some, *BESIDE))
    ]
    write(lines, "result.csv")
    for one in lines:
        print("  ".join(str(cell) for cell in list(one.values())[:19]))
    draw(choice, HERE / "defaults.png")


if __name__ == "__main__":
    main()
