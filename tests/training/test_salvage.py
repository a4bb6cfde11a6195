"""A bad record in a stream: what is before it is learnt, kept and told of."""

from __future__ import annotations

import io
import json
import sys

import pyarrow as pa
import pytest

from surelearn import SureClassifier, SureTagger, SureTextClassifier, load, predict, read
from surelearn.prediction import predict_tags
from surelearn.read import _lines

N = 12
WORDS = ("good", "bad")


def arrow(rows):
    table = pa.table({"text": [text for text, _ in rows], "label": [label for _, label in rows]})
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=5)
    return sink.getvalue()


def jsonl(i):
    return json.dumps({"text": f"{WORDS[i % 2]} {i}", "label": WORDS[i % 2]}) + "\n"


def conllu(i):
    rest = "\t_" * 6
    return f"1\tthe\t_\tDET{rest}\n2\t{WORDS[i % 2]}\t_\tADJ{rest}\n\n"


#: Of each format: what makes a good record, a bad one, and the begin of the file.
LINES = {
    "jsonl": (jsonl, '{"text": \n', ""),
    "csv": (lambda i: f'"{WORDS[i % 2]}\n{i}",{i % 2}\n', "one,two,3\n", "text,label\n"),
    "tsv": (lambda i: f"{WORDS[i % 2]} {i}\t{i % 2}\n", "lonely\n", "text\tlabel\n"),
    "svmlight": (lambda i: f"{i % 2} {1 + i % 3}:1\n", "1 no:1\n", ""),
    "vw": (lambda i: f"{i % 2} | {WORDS[i % 2]}\n", "0.5.5 | a\n", ""),
    "conll": (lambda i: f"the D\n{WORDS[i % 2]} A\n\n", "the D\ncat\n\n", ""),
    "conllu": (conllu, "1\tthe\n\n", ""),
}

MORE = {"svmlight": {"n_features": 5}, "vw": {"n_features": 64}}


def estimator(kind):
    if kind in ("conll", "conllu"):
        return SureTagger(passes=1, random_state=0)
    return (SureClassifier if kind in MORE else SureTextClassifier)(passes=1, random_state=0)


def weights(model):
    """Means of the features there are; a table of sequences has room for more."""
    tagger = isinstance(model, SureTagger)
    means = model._model.described()[0] if tagger else model._model.weights.means
    return means.tobytes()


def streamed(kind, data, model, monkeypatch, **more):
    monkeypatch.setattr(sys, "stdin", type("Stdin", (), {"buffer": io.BytesIO(data)}))
    return model.fit_stream("-", format=kind, **MORE.get(kind, {}), **more)


@pytest.mark.parametrize("kind", LINES)
@pytest.mark.parametrize("good", [2, 5, N])
@pytest.mark.parametrize("block", [64, 1 << 21])
def test_what_is_before_a_bad_line_of_a_stream_is_learnt(kind, good, block, monkeypatch, tmp_path):
    """The rows of its block were lost, and a stream cannot be read again."""
    monkeypatch.setattr(_lines, "BLOCK", block)
    make, bad, head = LINES[kind]
    before = (head + "".join(make(i) for i in range(good))).encode()
    after = "".join(make(i) for i in range(good, N + 1)).encode()
    path = tmp_path / "m.sure"
    model = estimator(kind)
    with pytest.raises(read.BadInput, match=r"standard input, line \d+: expected") as caught:
        streamed(kind, before + bad.encode() + after, model, monkeypatch, checkpoint=path)
    whole = streamed(kind, before, estimator(kind), monkeypatch)
    records = "sentences" if "conll" in kind else "records"
    assert caught.value.__notes__ == [
        f"The {good} {records} before it were learnt; the model is saved in {path}, and "
        "resume=True continues."
    ]
    for learnt in (model, load(path)):
        assert learnt.stream_.rows == good
        assert weights(learnt) == weights(whole)


@pytest.mark.parametrize("kind", LINES)
def test_where_nothing_is_before_a_bad_line_nothing_is_learnt(kind, monkeypatch, tmp_path):
    make, bad, head = LINES[kind]
    data = (head + bad + make(0) + make(1)).encode()
    model = estimator(kind)
    with pytest.raises(read.BadInput, match="standard input, line") as caught:
        streamed(kind, data, model, monkeypatch, checkpoint=tmp_path / "m.sure")
    assert not hasattr(caught.value, "__notes__")
    assert not hasattr(model, "classes_")
    assert not (tmp_path / "m.sure").exists()


def test_what_is_before_a_bad_row_of_a_table_is_learnt(monkeypatch, tmp_path):
    rows = [(f"{WORDS[i % 2]} {i}", WORDS[i % 2]) for i in range(N)]
    model, path = estimator("arrow"), tmp_path / "m.sure"
    bad = [*rows[:8], (None, "good"), *rows[8:]]
    with pytest.raises(read.BadInput, match=r"standard input, row 9: 'text' must be") as caught:
        streamed("arrow", arrow(bad), model, monkeypatch, text="text")
    assert caught.value.__notes__ == ["The 8 records before it were learnt."]
    whole = streamed("arrow", arrow(rows[:8]), estimator("arrow"), monkeypatch, text="text")
    assert model.coef_.tobytes() == whole.coef_.tobytes()
    model.save(path)
    assert load(path).stream_.rows == 8


@pytest.mark.parametrize("kind", LINES)
def test_what_is_before_a_bad_line_of_a_stream_is_predicted(kind, monkeypatch):
    make, bad, head = LINES[kind]
    good = head + "".join(make(i) for i in range(6))
    model = streamed(kind, good.encode(), estimator(kind), monkeypatch)
    given = io.BytesIO((good + bad + make(0)).encode())
    monkeypatch.setattr(sys, "stdin", type("Stdin", (), {"buffer": given}))
    tags = "conll" in kind
    found = (predict_tags if tags else predict)(model, "-", format=kind)
    assert len(next(found).tags if tags else next(found).label) == 6
    with pytest.raises(read.BadInput, match="standard input, line"):
        next(found)


def test_a_bad_line_of_a_file_ends_before_its_block(tmp_path):
    """It can be mended, and training goes on to the bytes of one that was never disturbed."""
    path = tmp_path / "a.jsonl"
    path.write_text("".join(map(jsonl, range(6))) + "bad\n" + jsonl(6))
    model = estimator("jsonl")
    with pytest.raises(read.BadInput, match=r"a\.jsonl, line 7") as caught:
        model.fit_stream(path)
    assert not hasattr(caught.value, "__notes__")
    assert not hasattr(model, "classes_")
