"""A conditional random field on CoNLL-2000: CRFTagger beside CRFsuite's L-BFGS, one thread each.

Both have the same 19 features of a token, a window of five words and parts of speech, and weights
for those pairs of feature and tag, and of two tags, that occur in the training part. CRFsuite has
no weights for the first and last tag; it gets a feature of the first and of the last token in their
place. Both minimise the log loss plus c2 |w|^2 with c2 = 1, which is l2 = 2 here: the same function
of the same weights. CRFsuite stops by itself. Ours is given the fewest iterations after which its
objective is no higher; its defaults stand beside that.

Learning is timed from features that are made already (see tagger.py): what `TokenFeatures.learn`
takes is taken off the time of `fit`, and what CRFsuite takes to get its features from Python
(`append`) is not counted. What ours takes to compute the variances of its weights counts.

Peak memory is that of a fresh process: CRFsuite's reads names of features from a file, a sentence
at a time, ours reads words. What it had before it read anything stands beside it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from _measure import Claim, interleaved, ratio_claim, show, write
from _objective import fewest, quietly
from tagger import Part, f1

from surelearn import CRFTagger
from surelearn.templates import TokenFeatures

C2 = 1.0
GOAL, NEAR = 4, 0.05
REPEATS = 1
_PEAK = """
import json, resource, sys, time
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
"""
_THEIRS = """
import pycrfsuite
before = peak()
trainer = pycrfsuite.Trainer("lbfgs", verbose=False)
trainer.set("c2", float(sys.argv[3]))
with open(sys.argv[1], encoding="utf-8") as lines:
    for line in lines:
        trainer.append(*json.loads(line))
begin = time.perf_counter()
trainer.train(sys.argv[2])
last = trainer.logparser.last_iteration
print(json.dumps({"seconds": time.perf_counter() - begin, "objective": last["loss"],
                  "iterations": last["num"], "MB": peak(), "MB before": before}))
"""
_OURS = """
import warnings
from surelearn import CRFTagger, read
before = peak()
warnings.simplefilter("ignore")
batches = list(read.sentences(sys.argv[1]))
X, y = [x for b in batches for x in b.X], [list(t) for b in batches for t in b.y]
del batches
CRFTagger(l2=float(sys.argv[2]), max_iter=int(sys.argv[3]), tol=1e-9, n_jobs=1).fit(X, y)
print(json.dumps({"MB": peak(), "MB before": before}))
"""


def apart(script: str, *arguments: object) -> dict[str, float]:
    """What a script prints, run in a process with one thread."""
    command = [sys.executable, "-c", _PEAK + script, *map(str, arguments)]
    alone = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=alone)
    found: dict[str, float] = json.loads(run.stdout)
    return found


def bounded(items: list[list[str]]) -> list[list[str]]:
    """The features of a sentence, with those of its first and last token."""
    found = [list(token) for token in items]
    found[0].append("first")
    found[-1].append("last")
    return found


def theirs(train: Part, test: Part, folder: Path) -> dict[str, float]:
    """CRFsuite's run, and its F1."""
    import pycrfsuite

    items, model = folder / "items.jsonl", str(folder / "model")
    with items.open("w", encoding="utf-8") as out:
        for tokens, tags in zip(train.items, train.y, strict=True):
            out.write(json.dumps([bounded(tokens), tags]) + "\n")
    found = apart(_THEIRS, items, model, C2)
    tagger = pycrfsuite.Tagger()
    tagger.open(model)
    found["F1"] = f1(test, [tagger.tag(bounded(tokens)) for tokens in test.items])
    return found


def fitted(train: Part, **options: Any) -> CRFTagger:
    tagger = CRFTagger(l2=2 * C2, n_jobs=1, **options)
    found: CRFTagger = quietly(lambda: tagger.fit(train.X, train.y))
    return found


def ours(train: Part, test: Part, target: float) -> dict[str, dict[str, float]]:
    """Our runs: to the target, and with defaults."""
    enough = partial(fitted, train, tol=1e-9)
    iterations = fewest(enough, target, 250)
    runs = {
        "CRFTagger": partial(enough, max_iter=iterations),
        "CRFTagger, defaults": partial(fitted, train),
    }
    times = interleaved(runs, REPEATS, warm=False)
    making = interleaved({"": lambda: TokenFeatures().learn(train.X)}, REPEATS)[""].best
    found = {}
    for who, run in runs.items():
        tagger = run()
        found[who] = {
            "seconds": times[who].best - making,
            "seconds to fit": times[who].best,
            "objective": tagger.objective_,
            "iterations": tagger.n_iter_,
            "F1": f1(test, tagger.predict(test.X)),
        }
    words = Path(os.environ["SURELEARN_DATA"]) / "conll2000" / "train.txt.xz"
    found["CRFTagger"] |= apart(_OURS, words, 2 * C2, iterations)
    return found


def claims_of(found: dict[str, dict[str, float]]) -> list[Claim]:
    crf, own, default = found.values()
    work, peer = "CRF on CoNLL-2000", "CRFsuite L-BFGS"
    return [
        ratio_claim(
            f"{work}, to the same objective", peer, crf["seconds"] / own["seconds"], GOAL
        ),
        Claim(
            f"{work}, F1 at that objective", f"{peer}, {crf['F1']:.2f}", f"{own['F1']:.2f}",
            f"within {NEAR}", abs(own["F1"] - crf["F1"]) <= NEAR,
        ),
        Claim(
            f"{work}, F1 with defaults and l2 = 2", f"{peer}, {crf['F1']:.2f}",
            f"{default['F1']:.2f}", f"within {NEAR}", abs(default["F1"] - crf["F1"]) <= NEAR,
        ),
        Claim(
            f"{work}, peak memory of the process", f"{peer}, {crf['MB']:.0f} MB",
            f"{own['MB']:.0f} MB ({own['MB before']:.0f} before training, "
            f"{crf['MB before']:.0f} for CRFsuite)",
            "not above", own["MB"] <= crf["MB"],
        ),
    ]  # fmt: skip


def main() -> None:
    train, test = Part.of("train.txt.xz"), Part.of("test.txt.xz")
    with tempfile.TemporaryDirectory() as name:
        crf = theirs(train, test, Path(name))
    print({key: round(x, 2) for key, x in crf.items()}, flush=True)
    found = {"CRFsuite": crf, **ours(train, test, crf["objective"])}
    lines = [
        [who, *(f"{line.get(what, float('nan')):.2f}" for what in ("seconds", "F1", "MB")),
         f"{line['iterations']:.0f}", f"{line['objective']:.2f}"]
        for who, line in found.items()
    ]  # fmt: skip
    show("CoNLL-2000, CRF", ["", "seconds", "F1", "MB", "iterations", "objective"], lines)
    figures = {who: {k: round(x, 2) for k, x in line.items()} for who, line in found.items()}
    write("crf", figures, claims_of(found), repeats=REPEATS, c2=C2)


if __name__ == "__main__":
    main()
