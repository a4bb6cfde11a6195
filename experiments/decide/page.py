"""The tables of docs/theory/decisions.md and of docs/howto/costs.md, made of the results."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from experiments import tables

HERE = Path(__file__).parent
DOCS = HERE.parents[1] / "docs"
PAGE, GUIDE = DOCS / "theory/decisions.md", DOCS / "howto/costs.md"

Line = dict[str, str]
OURS = "surelearn"


def promise() -> list[str]:
    """How often a promised risk is broken."""
    lines = [line for line in _lines("promise") if line["promise"].startswith("risk")]
    columns = {
        "draws": "draws",
        "refused %": "refusals %",
        "above the stated risk, % of draws": "broken %",
        "allowed %": "allowed %",
        "answered %": "answered %",
        "wrong if all are answered %": "risk of all %",
    }
    rows = (
        [line["set"], f"{100 * float(line['promise'].removeprefix('risk ')):g}"]
        + [line[name] for name in columns.values()]
        for line in lines
    )
    return tables.table(["set", "stated risk %", *columns], rows)


def sets() -> list[str]:
    """Coverage and size of sets of 95 %."""
    asked = {
        "on average": "sets 0.95",
        "with delta = 0.1": "sets, delta 0.95",
        "by class": "sets by class 0.95",
    }
    found = {(line["set"], line["promise"]): line for line in _lines("promise")}
    head = ["set"]
    for name in asked:
        head += [f"{name}: covered %", "labels"]
        head += ["below 95 %, % of draws"] if "delta" in name else []
    rows = []
    for name in _sets(_lines("promise")):
        row = [name]
        for how, promised in asked.items():
            line = found[name, promised]
            row += [f"{line['covered %']} ± {line['error']}", line["labels"]]
            row += [line["broken %"]] if "delta" in how else []
        rows.append(row)
    return tables.table(head, rows)


def coverage() -> list[str]:
    """Shares of texts that are answered at 5 % risk."""
    rivals = ("LogisticRegression", "LogisticRegression, MAPIE")
    found = _by_who("coverage")
    head = ["set", OURS, *rivals, f"area: {OURS}", "area: LogisticRegression"]
    rows = []
    for name in _sets(_lines("coverage")):
        row = [name]
        for who in (OURS, *rivals):
            line = found[name, who, "answered"]
            row.append(_percent(line) if who == OURS else _with_error(line))
        for who in (OURS, rivals[0]):
            row.append(f"{float(found[name, who, 'area']['mean']):.4f}")
        rows.append(row)
    return tables.table(head, rows)


def sizes() -> list[str]:
    """Labels in sets that hold 95 % of the right ones."""
    found, scores = _by_who("coverage"), ("lac", "aps", "raps")
    rows = []
    for name in _sets(_lines("coverage")):
        row = [name, f"{100 * float(found[name, OURS, 'held']['mean']):.1f}"]
        row.append(f"{float(found[name, OURS, 'labels']['mean']):.2f}")
        for score in scores:  # MAPIE has one score for two classes
            line = found.get((name, f"MAPIE {score}", "labels"))
            row.append(
                "-" if line is None else f"{float(line['mean']):.2f} ± {float(line['error']):.2f}"
            )
        rows.append(row)
    head = ["set", "held by ours %", OURS, *(f"MAPIE, {score}" for score in scores)]
    return tables.table(head, rows)


def sureness() -> list[str]:
    """Areas under the risk-coverage curve by several scores."""
    lines = _lines("sureness")
    found = {(line["set"], line["score"]): line for line in lines}
    scores = list(dict.fromkeys(line["score"] for line in lines))
    rows = [[name, *(_area(found[name, score]) for score in scores)] for name in _sets(lines)]
    return tables.table(["set", *scores], rows)


def _area(line: Line) -> str:
    if float(line["error"]) == float(line["more than ours"]) == 0:
        return f"{float(line['area']):.4f}"
    return f"{float(line['more than ours']):+.4f} ± {float(line['error']):.4f}"


def novelty() -> list[str]:
    """Foreign questions that are found."""
    columns = {
        "right %": "right %",
        "found %": "found %",
        "points lost": "lost points",
        "found at exactly one point %": "found at -1 %",
        "AUROC": "AUROC",
    }
    lines = _lines("novelty")
    rows = (
        [line["features"], line["who"], *(line[name] for name in columns.values())]
        for line in lines
    )
    return tables.table(["features", "learner", *columns], rows)


def noise() -> list[str]:
    """Areas where no text decides the label."""
    lines = _lines("noise")
    names = list(dict.fromkeys(line["who"] for line in lines))
    found = {(line["label"], line["rows"], line["who"]): line for line in lines}
    rows = []
    for label, n in dict.fromkeys((line["label"], line["rows"]) for line in lines):
        own = [found[label, n, who] for who in names]
        less = [
            f"{line['area']} ({line['less LogisticRegression']} ± {line['error of it']})"
            if line["who"] != names[-1]
            else line["area"]
            for line in own
        ]
        rows.append([label, n, *less, *(line["answered at 10 % risk"] for line in own)])
    head = ["label", "rows", *(f"area: {who}" for who in names)]
    return tables.table([*head, *(f"answered: {who}" for who in names)], rows)


def costs() -> list[str]:
    """The mean cost of a row, with the paired difference to the defaults."""
    lines = _lines("costs")
    found = {(line["set"], line["who"]): line for line in lines}
    names = _sets(lines)
    rows = []
    for who in dict.fromkeys(line["who"] for line in lines):
        own = (found.get((name, who)) for name in names)
        rows.append([_named(who), *("-" if line is None else _cost(line) for line in own)])
    return tables.table(["learner", *names], rows)


def _named(who: str) -> str:
    """A contestant as the guide calls it."""
    names = {"no costs": "default rule, no costs"}
    return names.get(who, who.replace("default", "default rule"))


def _cost(line: Line) -> str:
    if float(line["error"]) == 0:
        return f"**{float(line['cost']):.3f}**"
    more, error = float(line["more than ours"]), float(line["error"])
    return f"{float(line['cost']):.3f} ({more:+.3f} ± {error:.3f})"


def _with_error(line: Line) -> str:
    more, error = 100 * float(line["less ours"]), 100 * float(line["error"])
    return f"{_percent(line)} ({more:+.1f} ± {error:.1f})"


def _percent(line: Line) -> str:
    return f"{100 * float(line['mean']):.1f}"


def _lines(name: str) -> list[Line]:
    return tables.lines(HERE / f"{name}.csv")


def _by_who(name: str) -> dict[tuple[str, str, str], Line]:
    return {(line["set"], line["who"], line["what"]): line for line in _lines(name)}


def _sets(lines: Iterable[Line]) -> list[str]:
    return list(dict.fromkeys(line["set"] for line in lines))


TABLES: dict[str, Callable[[], list[str]]] = {
    made.__name__: made
    for made in (sureness, promise, sets, coverage, sizes, noise, novelty, costs)
}


def renewed(page: str) -> str:
    """A page with the figures of the results, for each table that it has a place for."""
    for name, made in TABLES.items():
        maker = f"{name} in experiments/decide/page.py"
        if f"<!-- made by {maker} -->" in page:
            page = tables.placed(page, maker, made())
    return page


if __name__ == "__main__":
    for path in (PAGE, GUIDE):
        path.write_text(renewed(path.read_text()))
