"""Damaged files for the readers: each gives batches or `BadInput`, and nothing else, ever.

    python tests/fuzz/readers.py READER SECONDS [SEED]

READER is jsonl, csv, conll, conllu, groups (svmlight and vw) or parquet (and Arrow files). Files of
tests/corpus/READER are damaged at random; what comes out of all but parquet is compared with a slow
reader. Bytes that do harm are written to the same folder, where the next run looks at them first.
"""

from __future__ import annotations

import hashlib
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from reading import grouped, without_core  # noqa: E402
from reference import groups, sentences  # noqa: E402
from reference import readers as slow  # noqa: E402
from surelearn import read  # noqa: E402
from surelearn.read import _lines, _stores  # noqa: E402
from surelearn.text import HashingVectorizer  # noqa: E402

#: What is put into files, besides random bytes.
TOKENS = {
    "jsonl": rb"""{ } [ ] : , " \ \\ \" \ud800 \u0000 \n }{ null true NaN -1 1.5 1e999
        9223372036854775808 "text": "label": {"text":"a","label":"b"} {"text":"a","label":1}""",
    "csv": rb""", " "" ," ", a,1 0 -0 007 9223372036854775808 text,label""",
    "conll": rb"""-DOCSTART- a NN B-NP # O \xa0 """ + "\xa0 \u2003 é".encode(),
    "conllu": rb"""# 1 2-3 1.1 _ -1 NOUN form""",
    "groups": rb"""1 -1 0 qid: qid:1 qid:2 # | |f shared 1:0 2:1.5 1: :1 3:1 61:1 0:1 a b:2 3e38""",
    "parquet": b"\x7f \xff\xff\xff\xff \x00\x00\x00\x80 PAR1 ARROW1",
}
MARKS = [b"\n", b"\n\n", b"\r", b"\r\n", b"\t", b" ", b"\xef\xbb\xbf", b"\xff", b"\x00"]


def damaged(data: bytes, others: list[bytes], tokens: list[bytes], random: random.Random) -> bytes:
    """A file after one to five accidents."""
    for _ in range(random.randint(1, 5)):
        at = random.randint(0, len(data))
        size = min(random.choice([1, 1, 2, 8, 64]), len(data) - at)
        match random.randrange(7):
            case 0:
                data = data[:at] + random.choice(tokens) + data[at:]
            case 1:
                data = data[:at] + random.choice(tokens) + data[at + size :]
            case 2:
                data = data[:at] + data[at + size :]
            case 3:
                data = data[:at] + data[at : at + size] * random.randint(2, 4) + data[at + size :]
            case 4:
                data = data[:at] + random.randbytes(size) + data[at + size :]
            case 5:
                other = random.choice(others)
                data = data[:at] + other[random.randint(0, len(other)) :]
            case 6:
                flipped = bytes(byte ^ 1 << random.randrange(8) for byte in data[at : at + size])
                data = data[:at] + flipped + data[at + size :]
    return data


def outcome(path: Path, *, skip_bad: bool) -> tuple[list[str], list, int] | str:
    """What comes out of a file: texts, labels and how many were left out, or an error."""
    if path.suffix in SLOW_SENTENCES:
        return of_sentences(path, skip_bad=skip_bad)
    if path.suffix in SLOW_GROUPS:
        return of_groups(path, skip_bad=skip_bad)
    texts, labels, n_bad = [], [], 0
    columns = (
        {"text": "text", "label": "label"} if path.suffix not in (".parquet", ".arrow") else {}
    )
    try:
        for batch in read.batches(path, skip_bad=skip_bad, **columns):
            n_bad += batch.n_bad
            if batch.labels is not None:
                labels += batch.y if isinstance(batch.y, list) else batch.y.tolist()
            if isinstance(batch.X, np.ndarray):
                assert np.isfinite(batch.X).all()
                continue
            texts += batch.X.to_pylist()
            rows = VECTORIZER.transform(batch.X)  # our native code sees what readers give
            assert rows.shape[0] == len(batch)
    except read.BadInput as error:
        return str(error)
    return texts, labels, n_bad


def of_sentences(path: Path, *, skip_bad: bool) -> tuple[list, list, int] | str:
    X, y, n_bad = [], [], 0
    try:
        for batch in read.sentences(path, format=path.suffix[1:], skip_bad=skip_bad):
            X, y, n_bad = X + batch.X, y + batch.y, n_bad + batch.n_bad
            batch.tagged([["X"] * len(tags) for tags in batch.y])
    except read.BadInput as error:
        return str(error)
    return X, y, n_bad


def of_groups(path: Path, *, skip_bad: bool) -> tuple[list, list, int] | str:
    found, n_bad = [], 0
    try:
        for batch in read.groups(path, n_features=N_FEATURES, skip_bad=skip_bad):
            assert np.isfinite(batch.X.data).all()
            found, n_bad = found + grouped(batch), n_bad + batch.n_bad
    except read.BadInput as error:
        return str(error)
    return found, [], n_bad


def slow_groups(path: Path) -> tuple[list, list, range]:
    data = path.read_bytes()
    text = data.removeprefix(b"\xef\xbb\xbf")
    if slow.is_wide(data) or not text.strip():
        raise slow.NoColumns
    found, n_bad = SLOW_GROUPS[path.suffix](text, N_FEATURES)
    nonzero = [
        (key, [(y, name, {j: x for j, x in row.items() if x}) for y, name, row in rows])
        for key, rows in found
    ]
    return nonzero, [], range(n_bad)


SLOW_GROUPS = {".svm": groups.svmlight, ".vw": groups.candidates}
N_FEATURES = 60
SLOW_SENTENCES = {".conll": sentences.conll, ".conllu": sentences.conllu}
VECTORIZER = HashingVectorizer(n_features=2**10, ngram_range=(1, 2))


def check(path: Path) -> None:
    """Raise if a reader does anything but give batches or `BadInput`, or the wrong ones."""
    found = {skip_bad: outcome(path, skip_bad=skip_bad) for skip_bad in (False, True)}
    data = path.read_bytes()
    if path.suffix == ".jsonl":
        with without_core():
            others = {skip_bad: outcome(path, skip_bad=skip_bad) for skip_bad in (False, True)}
        assert others == found, f"the core must read what others read, got {found} for {others}"
        # pyarrow reads these and Python does not; that is on purpose, see JsonLines.
        if not re.search(rb"Inf|[0-9]{4300}|[{\[]{200}", data):
            compare(found, lambda: slow.jsonl(data))
    elif path.suffix in (".csv", ".tsv"):
        compare(found, lambda: slow.table(data, "," if path.suffix == ".csv" else "\t"))
    elif path.suffix in SLOW_SENTENCES:
        compare(found, lambda: SLOW_SENTENCES[path.suffix](data))
    elif path.suffix in SLOW_GROUPS:
        compare(found, lambda: slow_groups(path))


def compare(found: dict, judge) -> None:
    try:
        texts, labels, bad = judge()
    except slow.NoColumns:
        assert isinstance(found[False], str), found[False]
        assert isinstance(found[True], str), found[True]
        return
    assert found[True] == (texts, labels, len(bad)), (found[True], texts, labels, bad)
    assert [type(x) for x in found[True][1]] == [type(x) for x in labels]
    if bad:
        assert isinstance(found[False], str), found[False]
    else:
        assert found[False] == found[True]


def fuzz(reader: str, seconds: float, seed: int, candidate: Path) -> None:
    """Damage files until the time is over; the one at work is in `candidate`, whatever happens."""
    generator = random.Random(seed)
    kept = sorted((ROOT / "corpus" / reader).iterdir())
    assert kept, reader
    for path in kept:
        check(path)
    files = [path.read_bytes() for path in kept]
    tokens = [*TOKENS[reader].split(), *MARKS]
    end, n = time.monotonic() + seconds, 0
    block, block_rows = _lines.BLOCK, _stores.BLOCK
    while time.monotonic() < end:
        i = generator.randrange(len(files))
        path = candidate.with_suffix(kept[i].suffix)
        candidate.write_text(path.name)
        path.write_bytes(damaged(files[i], files, tokens, generator))
        check(path)
        if n % 4 == 0:
            # In small blocks the first one may say otherwise what the columns are: no comparison.
            _lines.BLOCK = _stores.BLOCK = generator.choice([8, 60, 200])
            outcome(path, skip_bad=True)
            _lines.BLOCK, _stores.BLOCK = block, block_rows
        n += 1
    print(f"{reader}: {n} damaged files, seed {seed}: 1 passed")


def main(reader: str, seconds: str, seed: str = "0") -> int:
    """Fuzz in another process, since it may be one that ends it that is looked for."""
    with tempfile.TemporaryDirectory() as folder:
        candidate = Path(folder) / "candidate"
        command = [sys.executable, __file__, reader, seconds, seed, str(candidate)]
        status = subprocess.run(command).returncode
        if status and candidate.exists():
            path = candidate.parent / candidate.read_text()
            name = hashlib.sha256(path.read_bytes()).hexdigest()[:12] + path.suffix
            (ROOT / "corpus" / reader / name).write_bytes(path.read_bytes())
            print(f"{reader}: see tests/corpus/{reader}/{name}, seed {seed}")
        return status


if __name__ == "__main__":
    if len(sys.argv) == 5:
        fuzz(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
    else:
        sys.exit(main(*sys.argv[1:]))
