"""Rankings from a label-dependent text file: SureRanker beside Vowpal Wabbit's csoaa_ldf.

Groups of Reuters: a headline, the twenty articles that share the rarest words with it, and how many
topics each shares with the headline's own article, which is left out. Features are the words of the
headline crossed with the first words of the article, hashed. Both read the same file into 2**18
weights, in one pass and in several, for which Vowpal Wabbit writes a cache. Otherwise both are as
they come; Vowpal Wabbit keeps no variances.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from _measure import Claim, Timing, interleaved, ratio_claim, records, show, stop, write
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize

from surelearn import SureRanker, read
from surelearn.candidates import by_shared_features, cross
from surelearn.evaluation import ranking_scores

REPEATS = 3
#: Passes over the file; the second number with a cache.
PASSES = (1, 5)
BITS = 18
#: First words of an article that are crossed with a headline, and candidates of a group.
WORDS, CANDIDATES = 40, 20
#: The ranker as it comes, and with the rule that suits words best.
OURS: dict[str, dict[str, Any]] = {"SureRanker": {}, "SureRanker, probit": {"rule": "probit"}}
#: Reductions of Vowpal Wabbit for features that depend on the label.
REDUCTIONS = ("m", "mc")


class Ranking(NamedTuple):
    """Candidates, their relevance, and where groups begin and end."""

    X: Any
    y: np.ndarray
    ends: np.ndarray

    def groups(self) -> Iterator[slice]:
        return (slice(a, b) for a, b in pairwise(self.ends))


def articles(sizes: tuple[int, int]) -> list[Ranking]:
    """Groups of the two sides of the split, so many of each."""
    found = [r for r in records("reuters-21578.jsonl.xz") if r["topics"] and r["title"]]
    bodies = [" ".join(re.findall(r"\w+", r["text"].split("\n", 1)[-1])[:WORDS]) for r in found]
    words = CountVectorizer(binary=True, stop_words="english", dtype=np.float32)
    words.fit([r["title"] for r in found] + bodies)
    return [
        _side(found, bodies, words, (side, n))
        for side, n in zip(("TRAIN", "TEST"), sizes, strict=True)
    ]


def _side(
    found: list[dict[str, Any]], bodies: list[str], words: Any, side: tuple[str, int]
) -> Ranking:
    name, n = side
    pool = np.array([i for i, r in enumerate(found) if r["lewissplit"] == name])
    asked = np.random.default_rng(0).permutation(pool)[:n]
    X = words.transform([found[i]["title"] for i in asked])
    Z = words.transform([bodies[i] for i in pool])
    lists = by_shared_features(X, Z, most=CANDIDATES + 1)
    lists = [own[pool[own] != i][:CANDIDATES] for own, i in zip(lists, asked, strict=True)]
    pairs = [(i, pool[j]) for own, i in zip(lists, asked, strict=True) for j in own]
    y = [len({*found[i]["topics"]} & {*found[j]["topics"]}) for i, j in pairs]
    rows = normalize(cross(X, Z, lists, n_features=2**BITS))
    return Ranking(rows.tocsr(), np.array(y), np.cumsum([0, *map(len, lists)]))


def written(data: Ranking, path: Path) -> Path:
    """The groups as text; the cost of a candidate is what its relevance lacks to the best grade."""
    X, cost = data.X, data.y.max() - data.y
    with path.open("w", encoding="utf-8") as file:
        for rows in data.groups():
            for number, i in enumerate(range(rows.start, rows.stop), start=1):
                own = slice(X.indptr[i], X.indptr[i + 1])
                entries = zip(X.indices[own].tolist(), X.data[own].tolist(), strict=True)
                words = " ".join(f"{j}:{x:.5g}" for j, x in entries)
                file.write(f"{number}:{cost[i]} | {words}\n")
            file.write("\n")
    return path


# ------------------------------------------------------------------- contestants


def ours(path: Path, passes: int, params: dict[str, Any]) -> SureRanker:
    return SureRanker(random_state=0, n_jobs=-1, **params).fit_stream(path, passes=passes)


def our_scores(ranker: SureRanker, path: Path) -> np.ndarray:
    batches = read.groups(path, n_features=ranker.n_features_in_)
    return np.concatenate([ranker.decision_function(batch.X) for batch in batches])


def vowpal_wabbit(path: Path, passes: int, reduction: str, model: Path) -> None:
    from vowpalwabbit import Workspace

    several = f"-c -k --passes {passes} --holdout_off" if passes > 1 else ""
    Workspace(
        f"--quiet --no_stdin --csoaa_ldf {reduction} -b {BITS} {several} --data {path} -f {model}"
    ).finish()


def wabbit_scores(model: Path, path: Path) -> np.ndarray:
    """Negative costs, from lines of ``label:cost``, in the order of the file."""
    from vowpalwabbit import Workspace

    said = model.with_suffix(".said")
    Workspace(f"--quiet --no_stdin -t -i {model} --data {path} -r {said}").finish()
    words = said.read_text(encoding="utf-8").split()
    return np.array([-float(word.partition(":")[2]) for word in words if ":" in word])


def runs(folder: Path) -> dict[str, tuple[Callable[[], object], Callable[[], np.ndarray]]]:
    """How each is trained, and how it scores the candidates to judge afterwards."""
    train, test = folder / "train.ldf", folder / "test.ldf"
    found: dict[str, tuple[Callable[[], object], Callable[[], np.ndarray]]] = {}
    for passes in PASSES:
        for who, params in OURS.items():
            found[_name(who, passes)] = (
                lambda *, args=(train, passes, params): ours(*args),
                lambda *, args=(train, passes, params): our_scores(ours(*args), test),
            )
        for reduction in REDUCTIONS:
            model = folder / f"{reduction}{passes}.model"
            found[_name(f"Vowpal Wabbit, csoaa_ldf {reduction}", passes)] = (
                lambda *, args=(train, passes, reduction, model): vowpal_wabbit(*args),
                lambda model=model: wabbit_scores(model, test),
            )
    return found


def _name(who: str, passes: int) -> str:
    return f"{who}, {'one pass' if passes == 1 else f'{passes} passes'}"


# -------------------------------------------------------------------- the figures


def ndcg(scores: np.ndarray, data: Ranking) -> np.ndarray:
    """Of each group that tells; Vowpal Wabbit says nothing of an empty one."""
    found = (
        ranking_scores(scores[own], data.y[own], group=[own.stop - own.start])
        for own in data.groups()
    )
    return np.array([one.ndcg for one in found if one.n])


def claims_of(passes: int, times: dict[str, Timing], scores: dict[str, np.ndarray]) -> list[Claim]:
    """Of the ranker as it comes against both reductions, and of `probit` against the better one."""
    made, (ours, probit) = [], (_name(who, passes) for who in OURS)
    for reduction in REDUCTIONS:
        peer = _name(f"Vowpal Wabbit, csoaa_ldf {reduction}", passes)
        against, _, said = peer.rpartition(", ")
        ratios = [getattr(times[peer], of) / getattr(times[ours], of) for of in Timing._fields]
        work = f"label-dependent text file to a ranker, {said}, two cores"
        made.append(ratio_claim(work, against, ratios[0], 1, median=ratios[1]))
        for own, how in ((ours, ""), (probit, ", rule probit"))[: 1 + (reduction == "mc")]:
            work = f"NDCG@10 on Reuters headlines{how}, {said}"
            made.append(_compared(work, against, scores[own], scores[peer]))
    return made


def _compared(work: str, against: str, ours: np.ndarray, theirs: np.ndarray) -> Claim:
    """A claim not to be worse by more than one standard error, on the same groups."""
    lead = ours - theirs
    error = lead.std() / np.sqrt(len(lead))
    figure = f"{ours.mean():.3f} and {theirs.mean():.3f}, lead {lead.mean():+.3f} ± {error:.3f}"
    return Claim(work, against, figure, "lead >= -1 error", bool(lead.mean() >= -error))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--groups", type=int, nargs=2, default=(4000, 1000))
    sizes = tuple(parser.parse_args().groups)
    try:
        import vowpalwabbit  # noqa: F401
    except ImportError:
        stop("vowpalwabbit must be installed to compare with, got none.")
    train, test = articles(sizes)
    with tempfile.TemporaryDirectory() as folder:
        path = written(train, Path(folder) / "train.ldf")
        written(test, Path(folder) / "test.ldf")
        size = path.stat().st_size
        all_runs = runs(Path(folder))
        times = interleaved({name: fit for name, (fit, _) in all_runs.items()}, REPEATS, warm=False)
        scores = {name: ndcg(score(), test) for name, (_, score) in all_runs.items()}
    figures = [
        {
            "contestant": name,
            "seconds": round(taken.best, 3),
            "mb_a_second": round(size / 1e6 / taken.best, 1),
            "ndcg": round(float(scores[name].mean()), 4),
            "standard_error": round(float(scores[name].std() / np.sqrt(len(scores[name]))), 4),
        }
        for name, taken in times.items()
    ]
    table = [
        [
            str(f["contestant"]),
            f"{f['seconds']:.2f}",
            f"{f['ndcg']:.4f} +- {f['standard_error']:.4f}",
        ]
        for f in figures
    ]
    show("A label-dependent text file to a ranker", ["contestant", "s", "NDCG@10"], table)
    made = [claim for passes in PASSES for claim in claims_of(passes, times, scores)]
    write("ranker", figures, made, repeats=REPEATS, bytes=size, groups=list(sizes))


if __name__ == "__main__":
    main()
