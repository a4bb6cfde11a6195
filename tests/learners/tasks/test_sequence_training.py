"""A tagger on its way through files: blocks, passes, going on, and what is refused."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reading import blocks_of
from surelearn import SureTagger, load, read
from surelearn.read import BadInput

WORDS = {"the": "D B-NP", "old": "A I-NP", "mill": "N I-NP", "dogs": "N B-NP", "bark": "V B-VP",
         "turns": "V B-VP", "soon": "R O", ".": ". O", "in": "P B-PP", "up": "P B-PRT"}  # fmt: skip


def text(n, seed=0, words=WORDS):
    """Sentences that are learnt in a moment, but not at once."""
    chance = random.Random(seed)
    made = []
    for i in range(n):
        own = chance.choices(list(words), k=chance.randint(1, 6))
        made.append("".join(f"{w}{i if w == 'dogs' else ''} {words[w]}\n" for w in own))
    return "\n".join(made)


@pytest.fixture
def path(tmp_path):
    made = tmp_path / "a.txt"
    late = {**WORDS, "oh": "U A-LATE", "my": "U A-NEW"}  # labels that come before the others
    made.write_text(text(60) + "\n" + text(20, seed=5, words=late))
    return made


@pytest.fixture(autouse=True)
def small_blocks():
    with blocks_of(400):
        yield


def tagger(**more):
    return SureTagger(**{"passes": 3, "random_state": 0, "n_jobs": 2} | more)


def saved(model, path):
    model.save(path)
    return path.read_bytes()


def same(one, other, folder):
    return saved(one, folder / "1.sure") == saved(other, folder / "2.sure")


# -------------------------------------------------------------------------- learning


@pytest.mark.parametrize("templates", [None, ["w[0]", "pos[0]", "B:pos[0]"]])
@pytest.mark.parametrize("rule", ["variance", "arow", "perceptron"])
def test_one_pass_is_what_partial_fit_learns(path, rule, templates, tmp_path):
    model = tagger(rule=rule, templates=templates, passes=1).fit_stream(path)
    other = tagger(rule=rule, templates=templates, passes=1)
    batches = list(read.sentences(path))
    assert len(batches) > 5
    assert not any("A-LATE" in tags for tags in batches[0].y)
    assert "A-LATE" in model.classes_
    for batch in batches:
        other.partial_fit(batch.X, batch.y)
    other.stream_ = model.stream_
    assert same(model, other, tmp_path)


@pytest.mark.parametrize("templates", [None, ["w[0]", "pos[0]", "B:pos[0]"]])
def test_threads_and_cache_never_change_the_result(path, templates, tmp_path):
    model = tagger(templates=templates).fit_stream(path)
    for n_jobs, room in [(1, 0), (1, 2**30), (3, 2000)]:
        other = tagger(templates=templates, n_jobs=n_jobs).fit_stream(path, cache_bytes=room)
        other.n_jobs = model.n_jobs
        assert same(model, other, tmp_path)


def test_later_passes_are_in_another_order_unless_told_otherwise(path, tmp_path):
    models = [tagger(random_state=seed, shuffle=shuffle).fit_stream(path)
              for seed in (0, 1) for shuffle in (True, False)]  # fmt: skip
    coefs = [model.coef_.tobytes() for model in models]
    assert len(set(coefs)) == 3
    assert coefs[1] == coefs[3]
    assert len(models[0].mistakes_) == 3
    assert models[0].mistakes_[0] > models[0].mistakes_[2]
    assert models[0].predict([[("the", "D"), ("mill", "N")]]) == [["B-NP", "I-NP"]]


def test_labels_can_be_declared(path):
    model = tagger(passes=1).fit_stream(path, classes=["X-1", "A-2"])
    assert {"X-1", "A-2"} < set(model.classes_.tolist())


def test_templates_call_columns_as_the_source_does(path, tmp_path):
    named = tagger(templates=["word[0]", "tag[-1]"])
    named.fit_stream(path, columns=["word", "tag", "chunk"], label="chunk")
    assert named.features_.columns == ("word", "tag")
    assert named.stream_.columns == {"columns": ["word", "tag", "chunk"], "label": "chunk"}
    other = tagger(templates=["w[0]", "t[-1]"], columns=["w", "t"]).fit_stream(path)
    assert other.features_.columns == ("w", "t")
    assert named.coef_.tobytes() == other.coef_.tobytes()
    named.save(tmp_path / "m.sure")
    again = load(tmp_path / "m.sure")
    assert again.stream_ == named.stream_
    assert again.predict([[("old", "A")]]) == named.predict([[("old", "A")]])
    one = tagger().fit_stream(path, columns=["word", "_", "chunk"])
    assert one.features_.columns == ("word",)


def test_progress_tells_where_a_pass_is(path):
    seen = []
    model = tagger(passes=2).fit_stream(path, progress=seen.append)
    assert [p.number for p in seen] == sorted(p.number for p in seen)
    assert seen[-1].number == seen[-1].passes == 2
    assert seen[-1].rows == 80
    assert seen[-1].n_bytes == seen[-1].total == path.stat().st_size
    assert seen[-1].mistakes == model.mistakes_[-1]


# ------------------------------------------------------------------------- going on


@settings(max_examples=20, deadline=None)
@given(stop=st.integers(1, 24), passes=st.integers(1, 3), cached=st.booleans())
def test_interrupted_anywhere_it_goes_on_to_the_same_bytes(tmp_path_factory, stop, passes, cached):
    tmp_path = tmp_path_factory.mktemp("resume")
    path = tmp_path / "a.txt"
    path.write_text(text(60))
    names = {"columns": ["word", "tag", "chunk"], "label": "chunk"}
    room = 2**30 if cached else 0

    class Stop(Exception):
        pass

    def progress(_):
        nonlocal stop
        stop -= 1
        if stop == 0:
            raise Stop

    whole = tagger(passes=passes).fit_stream(path, **names)
    begun = tagger(passes=passes)
    try:
        begun.fit_stream(path, progress=progress, cache_bytes=room, **names)
    except Stop:
        begun.save(tmp_path / "m.sure")
        begun = load(tmp_path / "m.sure")
        begun.fit_stream(path, resume=True, cache_bytes=room)
    assert same(begun, whole, tmp_path)


def test_a_file_that_has_grown_is_gone_on_with(path, tmp_path):
    model = tagger(passes=1).fit_stream(path)
    with open(path, "a") as file:
        file.write("\n" + text(20, seed=1, words={**WORDS, "new": "N B-NEW"}))
    model.fit_stream(path, passes=1, resume=True)
    assert model.stream_.rows == 100
    assert "B-NEW" in model.classes_
    assert len(model.mistakes_) == 1


def test_settings_cannot_change_when_going_on(path):
    model = tagger().fit_stream(path)
    model.set_params(templates=["w[0]"])
    with pytest.raises(ValueError, match=r"^templates must stay None in a fitted model"):
        model.fit_stream(path, resume=True)
    model.set_params(templates=None, average=False)
    with pytest.raises(ValueError, match=r"^average must stay True in a fitted model"):
        model.fit_stream(path, resume=True)


def test_a_new_model_forgets_the_temperature_of_the_old_one(path):
    model = tagger().fit_stream(path)
    model.calibrate([[("the", "D"), ("mill", "N")]], [["B-NP", "I-NP"]])
    model.fit_stream(path)
    assert not hasattr(model, "temperature_")


def test_fit_starts_anew_and_forgets_the_stream(path):
    model = tagger().fit_stream(path)
    model.fit([["a", "b"]], [["A", "B"]])
    assert not hasattr(model, "stream_")


# ------------------------------------------------------------------------ bad input


def test_the_old_model_is_left_if_the_first_block_is_refused(path, tmp_path):
    model = tagger().fit_stream(path)
    before = saved(model, tmp_path / "m.sure")
    bad = tmp_path / "bad.txt"
    bad.write_text("a A B\nb A\n\n" + text(50))
    for resume in (False, True):
        with pytest.raises(BadInput, match=r"bad.txt, line 2: expected 3 columns, got 2."):
            model.fit_stream(bad, resume=resume)
        assert saved(model, tmp_path / "m.sure") == before
    with pytest.raises(ValueError, match=r"templates\[0\]|template"):
        tagger(templates=["nowhere[0]"]).fit_stream(path)
    with pytest.raises(BadInput, match=r"a.txt must have labels, got none."):
        model.fit_stream(path, label=False)
    assert saved(model, tmp_path / "m.sure") == before


def test_what_was_learnt_before_a_bad_line_is_kept(path, tmp_path):
    n_lines = path.read_text().count("\n") + 1
    with open(path, "a") as file:
        file.write("\nbad line here now\n\n" + text(10))
    model = tagger(passes=1)
    with pytest.raises(BadInput, match=rf"a.txt, line {n_lines + 1}: expected 3 columns, got 4."):
        model.fit_stream(path, checkpoint=tmp_path / "m.sure")
    kept = load(tmp_path / "m.sure")
    assert 0 < kept.stream_.rows < 80
    assert same(kept, model, tmp_path)
    kept.fit_stream(path, resume=True, skip_bad=True, passes=1)
    assert kept.stream_.n_bad == 1
    assert kept.stream_.rows == 90


def test_one_label_or_nothing_is_refused(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("a A\n\nb A\n")
    with pytest.raises(ValueError, match="at least two"):
        tagger().fit_stream(path)
    path.write_text("a A B\n\nb A\n")
    with pytest.raises(BadInput, match=r"a.txt must have at least one record, got 2 that could"):
        tagger().fit_stream(path, format="conllu", skip_bad=True)


def test_a_source_is_opened_once(path):
    source = read.sentences(path)
    assert tagger().fit_stream(source).stream_.rows == 80
    with pytest.raises(TypeError, match=r"^a Source is opened already, got also \['label'\].$"):
        tagger().fit_stream(source, label="c2")
