"""A conditional random field on CoNLL-2000: CRFTagger beside CRFsuite's L-BFGS, one thread each.

Both have the same 19 features of a token, a window of five words and parts of speech, and weights
for those pairs of feature and tag, and of two tags, that occur in the training part. CRFsuite has
no weights for the first and last tag; it gets a feature of the first and of the last token in their
place. Both minimise the log loss plus c2 |w|^2 with c2 = 1, which is l2 = 2 here: the same function
of the same weights. CRFsuite stops by itself. Ours is given the fewest iterations after which its
objective is no higher, to six digits.

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
from pathlib import Path

from _measure import Claim, ratio_claim, show, write
from _objective import SAME, fewest
from tagger import Part, f1

from surelearn import CRFTagger

C2 = 1.0
GOAL, NEAR = 4, 0.05
PARTS = ("train", "test")
_PEAK = """
import json, re, sys, time
from pathlib import Path
def peak():
    # Not ru_maxrss, which begins with what the parent had.
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1000
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
from surelearn.evaluation import chunk_scores
from surelearn.templates import TokenFeatures
before = peak()
warnings.simplefilter("ignore")
def words(path):
    batches = list(read.sentences(path))
    return [x for b in batches for x in b.X], [list(t) for b in batches for t in b.y]
X, y = words(sys.argv[1])
begin = time.perf_counter()
tagger = CRFTagger(l2=float(sys.argv[3]), max_iter=int(sys.argv[4]), tol=1e-6, n_jobs=1).fit(X, y)
took, most = time.perf_counter() - begin, peak()
begin = time.perf_counter()
TokenFeatures().learn(X)
making = time.perf_counter() - begin
X, y = words(sys.argv[2])
print(json.dumps({"seconds": took - making, "seconds to fit": took, "MB": most,
                  "objective": tagger.objective_, "iterations": tagger.n_iter_,
                  "F1": 100 * chunk_scores(y, tagger.predict(X)).f1, "MB before": before}))
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


def ours(train: Part, target: float) -> dict[str, float]:
    """Our run with the fewest iterations that reach the target."""
    tagger = CRFTagger(l2=2 * C2, n_jobs=1, tol=1e-6)
    iterations = fewest(lambda **more: tagger.set_params(**more).fit(train.X, train.y), target)
    parts = (Path(os.environ["SURELEARN_DATA"]) / "conll2000" / f"{part}.txt.xz" for part in PARTS)
    return apart(_OURS, *parts, 2 * C2, iterations)


def claims_of(crf: dict[str, float], own: dict[str, float]) -> list[Claim]:
    work, peer = "CRF on CoNLL-2000", "CRFsuite L-BFGS"
    same = own["objective"] <= crf["objective"] * (1 + SAME)
    return [
        ratio_claim(
            f"{work}, to the same objective", peer,
            crf["seconds"] / own["seconds"] if same else 0.0, GOAL,
        ),
        Claim(
            f"{work}, F1", f"{peer}, {crf['F1']:.2f}", f"{own['F1']:.2f}", f"within {NEAR}",
            abs(own["F1"] - crf["F1"]) <= NEAR,
        ),
        Claim(
            f"{work}, peak memory of the process", f"{peer}, {crf['MB']:.0f} MB",
            f"{own['MB']:.0f} MB ({own['MB before']:.0f} before training, "
            f"{crf['MB before']:.0f} for CRFsuite)",
            "not above", own["MB"] <= crf["MB"],
        ),
    ]  # fmt: skip


def main() -> None:
    train, test = (Part.of(f"{part}.txt.xz") for part in PARTS)
    with tempfile.TemporaryDirectory() as name:
        crf = theirs(train, test, Path(name))
    print({key: round(x, 2) for key, x in crf.items()}, flush=True)
    found = {"CRFsuite": crf, "CRFTagger": ours(train, crf["objective"])}
    shown = ("seconds", "F1", "MB", "iterations", "objective")
    lines = [[who, *(f"{line[what]:.2f}" for what in shown)] for who, line in found.items()]
    show("CoNLL-2000, CRF", ["", *shown], lines)
    figures = {who: {k: round(x, 2) for k, x in line.items()} for who, line in found.items()}
    write("crf", figures, claims_of(*found.values()), c2=C2)


if __name__ == "__main__":
    main()
