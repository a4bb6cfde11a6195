"""The tables of docs/theory/shards.md from result.csv, cost.csv and rates.csv.

    python -m experiments.shards.page

copies the speeds it needs from the results of the benchmarks to rates.csv and puts the tables
between the marks of the page.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from experiments import tables
from experiments.shards.projection import projected

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PAGE = ROOT / "docs" / "theory" / "shards.md"
BENCHMARKS = ROOT / "benchmarks" / "results"
#: The benchmark of the same shards on one and on two cores.
TWO_CORES = "two_cores"
#: The contestant of the benchmark of a binary pass whose speed is projected.
ONE_PASS = "Variance(phi=0.1)"
VARIANCE, PA = "Variance, phi", "PA1, C"
SHARDS = ("10", "50", "100")
WAYS = {
    "average": "one shard's model",
    "uniform": "`uniform`",
    "weighted": "`weighted`, `kl`",
    "bayes": "`bayes`",
}

Line = dict[str, str]
Found = dict[tuple[str, ...], Line]


def results() -> Found:
    """Lines of the result by set, values, all that was set, shards and way."""
    keys = ("set", "values", "rule", "passes", "intercept", "chosen for", "shards", "way")
    return {tuple(line[key] for key in keys): line for line in tables.lines(HERE / "result.csv")}


def figures(name: str) -> dict[tuple[str, str], float]:
    """Figures of cost.csv or rates.csv by what they are about and what they are."""
    return {
        (line["about"], line["what"]): float(line["figure"]) for line in tables.lines(HERE / name)
    }


# ------------------------------------------------------------------------ accuracy


def _accuracies(found: Found) -> Iterator[list[str]]:
    """One pass of Variance, one parameter chosen for the single model."""
    for name, values in dict.fromkeys(key[:2] for key in found):
        one = (name, values, VARIANCE, "1", "yes", "one model")
        single = found[*one, "1", "single"]
        pa = found[name, values, PA, "1", "yes", "one model", "1", "single"]
        ways = (" / ".join(found[*one, n, way]["accuracy %"] for n in SHARDS) for way in WAYS)
        about = f"{name}, {single['classes']} classes, {int(single['rows learnt']):,} rows"
        yield [about, values, pa["accuracy %"], single["accuracy %"], *ways]


def _losses(found: Found) -> Iterator[list[str]]:
    """Every rule and number of passes: 100 shards by `bayes` and `weighted` beside the single."""
    for key in found:
        if key[-2:] != ("100", "bayes"):
            continue
        name, values, rule, passes, intercept, whose = key[:6]
        single, line = found[*key[:6], "1", "single"], found[key]
        other = found.get((*key[:7], "weighted"))
        yield [
            name,
            values,
            rule.split(",")[0],
            passes,
            intercept,
            whose,
            single["accuracy %"],
            f"{line['to single']} ± {line['standard error']}",
            f"{other['to single']} ± {other['standard error']}" if other else "",
            f"{_span(single['parameters'])}; {_span(line['parameters'])}"
            if whose == "shards"
            else _span(line["parameters"]),
        ]


def _span(parameters: str) -> str:
    """The parameters of the splits, each once."""
    return ", ".join(sorted(set(parameters.split()), key=float))


def accuracy() -> list[str]:
    """Both tables of accuracy."""
    found = results()
    head = ("set", "values", "PA1, single", "Variance, single", *WAYS.values())
    losses = ("set", "values", "rule", "passes", "intercept", "chosen for", "single")
    return [
        "Accuracy in percent after one pass; three figures are those of 10 / 50 / 100 shards:\n",
        *tables.table(head, _accuracies(found)),
        "Points that 100 shards are before (+) or behind (-) the single model of the same settings,"
        " ± one standard error over the four splits, and the parameters that were chosen (where the"
        " shards have their own: of the single model; of the shards):\n",
        *tables.table((*losses, "`bayes`", "`weighted`", "parameter"), _losses(found)),
    ]


def _in_rounds(lines: list[Line]) -> Iterator[list[str]]:
    """Each set and rule: how far shards are from one model of equal passes."""
    keys = ("set", "rule", "passes", "merged", "way")
    found: dict[tuple[str, ...], list[Line]] = {}
    for line in lines:
        found.setdefault(tuple(line[key] for key in keys), []).append(line)
    columns = [
        ("10", "each pass", "evidence"),
        ("10", "each pass", "bayes"),
        *((passes, "once", way) for passes in ("10", "1") for way in ("evidence", "bayes")),
        ("10", "never", "mean of the parts"),
    ]
    for name, rule in dict.fromkeys((line["set"], line["rule"]) for line in lines):
        one = found[name, rule, *columns[0]][0]
        about = f"{name}, {one['classes']} classes, {int(one['rows learnt']):,} rows"
        cells = (found[name, rule, *column] for column in columns)
        figures = (" / ".join(line["to one model"] for line in cell) for cell in cells)
        yield [about, rule, one["one model %"], *figures]


def rounds() -> list[str]:
    """Shards merged after each pass, and once, beside one model."""
    head = (
        "set",
        "rule",
        "one model",
        "rounds, `evidence`",
        "rounds, `bayes` (10)",
        "once after ten passes, `evidence`",
        "`bayes`",
        "once after one pass, `evidence`",
        "`bayes`",
        "mean of the parts",
    )
    return [
        "Points before (+) or behind (-) one model of equal passes, 10 / 50 shards, rows of"
        " length 1, parameters as they come; accuracy of one model after ten passes in percent,"
        " and the mean of the parts after ten passes:\n",
        *tables.table(head, _in_rounds(tables.lines(HERE / "rounds.csv"))),
    ]


# ------------------------------------------------------------------------ cost


def _passes(found: dict[tuple[str, str], float]) -> Iterator[list[str]]:
    for name in dict.fromkeys(about for about, what in found if what == "PA1"):
        pa = found[name, "PA1"]
        others = (found[name, who] for who in ("Variance", "AROW"))
        yield [name, f"{pa:.3g} ms", *(f"{t:.3g} ms, {t / pa:.2f}x" for t in others)]


def _bytes(found: dict[tuple[str, str], float]) -> Iterator[list[str]]:
    for about in dict.fromkeys(about for about, _ in found):
        if (about, "bytes of a leaf") not in found:
            continue
        total = found.get((about, "bytes of a sum")) or found[about, "bytes of the sum"]
        seconds = found.get((about, "seconds to add two sums"))
        yield [
            about,
            *(f"{n / 1e6:.3g} MB" for n in (found[about, "bytes of a leaf"], total)),
            "" if seconds is None else f"{seconds:.2g} s",
        ]


def cost() -> list[str]:
    """Time of a pass, and bytes of states."""
    found = figures("cost.csv")
    return [
        "Milliseconds of one pass, rows of length 1 in memory, best of 15 rounds in turns"
        " (processor time), and the ratio to PA1:\n",
        *tables.table(("set", "PA1", "Variance", "AROW"), _passes(found)),
        "Bytes of a pickled state, and seconds to add two sums. The first four hold every"
        " feature, which is the most there can be; the others are tweets:\n",
        *tables.table(("", "one model", "two or more, added", "to add two"), _bytes(found)),
    ]


def cores() -> list[str]:
    """What benchmarks/two_cores.py has found, if it was run."""
    lines = [line for line in tables.lines(HERE / "rates.csv") if line["source"] == TWO_CORES]
    if not lines:
        return ["Not measured yet: `benchmarks/two_cores.py`.\n"]
    rows = [(line["about"], line["what"], line["figure"]) for line in lines]
    return tables.table(("work", "against", "measured"), rows)


# ------------------------------------------------------------------------ the page


def rates() -> Iterator[tuple[str, str, str, Any]]:
    """Source, what about, what and figure, of the benchmarks."""
    for line in _benchmark("binary_pass")["figures"]:
        if line["contestant"] == ONE_PASS and line["dtype"] == "float32":
            for what in ("rows/s", "features/s"):
                yield "binary_pass", line["order"], what, line[what]
    for line in _benchmark("file_to_model")["figures"]:
        if line["contestant"] == "surelearn":
            yield "file_to_model", "two cores", "MB/s", line["mb_of_jsonl_a_second"]
    if (BENCHMARKS / f"{TWO_CORES}.json").exists():
        for claim in _benchmark(TWO_CORES)["claims"]:
            yield TWO_CORES, claim["work"], claim["against"], claim["figure"]


def _benchmark(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((BENCHMARKS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def projection() -> list[str]:
    """A thousand workers and 10^10 rows, on paper."""
    speeds = {
        (line["about"], line["what"]): float(line["figure"])
        for line in tables.lines(HERE / "rates.csv")
        if line["source"] != TWO_CORES
    }
    return tables.table(("what", "arithmetic", "comes to"), projected(speeds, figures("cost.csv")))


def renewed(page: str) -> str:
    """The page with its tables made anew."""
    for make in (rounds, accuracy, cost, cores, projection):
        page = tables.placed(page, f"{make.__name__} in experiments/shards/page.py", make())
    return page


def main() -> None:
    with (HERE / "rates.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("source", "about", "what", "figure"))
        writer.writerows(rates())
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
