"""The vectorizer beside scikit-learn's: the same bits for every text there is."""

from __future__ import annotations

import io
import pickle
import re
import warnings
from concurrent.futures import ThreadPoolExecutor
from threading import Thread

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.feature_extraction.text import HashingVectorizer as ScikitLearns
from sklearn.utils import estimator_checks, murmurhash3_32

from surelearn import _core
from surelearn.text import HashingVectorizer

#: What has gone wrong in tokenizers: capitals whose small form depends on the neighbours or is two
#: characters, marks, joiners, spaces that are none in ASCII, letters beyond the first plane.
TRICKY = (
    "ΑΣ ΣΑ Σ σς İI ıi ẞß ﬁ ℡ K Å e\u0301 é \u0345 \u200d\u200b\ufeff\u00ad 👍🏽 🇩🇪 東京都 한국 "
    "\u00a0\u2003\u3000\u2028\x1c\x1f\x85 \t\r\n \0 _a_ 4² ½ Ⅷ ۴۲ 𝒜𝓑 𐐀 ǅ a-b don't x"
)
LETTERS = st.one_of(
    st.sampled_from(TRICKY),
    st.characters(codec="ascii"),
    st.characters(exclude_categories=["Cs"]),
)
TEXTS = st.lists(st.text(LETTERS, max_size=40), min_size=1, max_size=4)
OPTIONS = st.fixed_dictionaries(
    {
        "analyzer": st.sampled_from(["word", "char", "char_wb"]),
        "ngram_range": st.sampled_from([(1, 1), (1, 2), (2, 2), (1, 3), (3, 5), (4, 9)]),
        "lowercase": st.booleans(),
        "strip_accents": st.sampled_from([None, "ascii", "unicode"]),
        "binary": st.booleans(),
        "norm": st.sampled_from([None, "l1", "l2"]),
        "alternate_sign": st.booleans(),
        "n_features": st.sampled_from([1, 2, 7, 1000, 2**10, 2**20, 2**31 - 2]),
        "dtype": st.sampled_from([np.float32, np.float64]),
    }
)


def assert_same(ours, theirs):
    assert type(ours) is type(theirs)
    assert ours.shape == theirs.shape
    for part in ("indptr", "indices", "data"):
        a, b = getattr(ours, part), getattr(theirs, part)
        assert a.dtype == b.dtype
        assert a.tobytes() == b.tobytes()


# ------------------------------------------------------------------ the same bits


@given(texts=TEXTS, options=OPTIONS, n_jobs=st.sampled_from([None, 1, 2, 3]))
@example(
    [TRICKY, TRICKY.upper(), TRICKY.swapcase()], {"analyzer": "char", "ngram_range": (1, 4)}, 2
)
@example([TRICKY, TRICKY.upper(), TRICKY.swapcase()], {"analyzer": "char_wb"}, None)
@example([TRICKY, TRICKY.upper(), TRICKY.swapcase()], {}, None)
def test_rows_are_those_of_scikit_learn(texts, options, n_jobs):
    ours = HashingVectorizer(**options, n_jobs=n_jobs).transform(texts)
    assert_same(ours, ScikitLearns(**options).transform(texts))


@given(
    texts=st.lists(
        st.text(st.one_of(LETTERS, st.characters(categories=["Cs"])), max_size=20),
        min_size=1,
        max_size=4,
    ),
    options=OPTIONS,
    keep_names=st.booleans(),
)
def test_a_text_with_a_lone_surrogate_is_refused(texts, options, keep_names):
    """scikit-learn takes it where no n-gram has it."""
    ours = HashingVectorizer(**options, keep_names=keep_names, n_jobs=2)
    bad = [i for i, text in enumerate(texts) if re.search("[\ud800-\udfff]", text)]
    if bad:
        with pytest.raises(ValueError, match=f"^text {bad[0]} must have no lone surrogate, got"):
            ours.transform(texts)
    else:
        assert_same(ours.transform(texts), ScikitLearns(**options).transform(texts))


@given(
    texts=TEXTS,
    stop_words=st.lists(st.text(LETTERS, min_size=1, max_size=4), max_size=4),
    ngram_range=st.sampled_from([(1, 1), (1, 2), (2, 3)]),
)
@pytest.mark.filterwarnings("ignore:Your stop_words may be inconsistent")
def test_stop_words_are_left_out_before_ngrams(texts, stop_words, ngram_range):
    words = [*stop_words, *(word for text in texts for word in text.split()[:2])]
    options = {"stop_words": words, "ngram_range": ngram_range}
    ours = HashingVectorizer(**options).transform(texts)
    assert_same(ours, ScikitLearns(**options).transform(texts))


@pytest.mark.parametrize("length", [1, 2, 3, 63, 64, 65, 127, 128, 129, 5000, 100_000])
@pytest.mark.parametrize("letters", ["ab c", "aB_9", "a é", "ab\ncd  "])
def test_texts_of_any_length(length, letters):
    text = (letters * length)[:length]
    for analyzer in ("word", "char", "char_wb"):
        options = {"analyzer": analyzer, "ngram_range": (1, 2)}
        ours = HashingVectorizer(**options).transform([text, text[::-1]])
        assert_same(ours, ScikitLearns(**options).transform([text, text[::-1]]))


def test_many_features_in_one_text():
    """Texts with more tokens than one digit of the sort has values."""
    random = np.random.default_rng(0)
    text = " ".join(map(str, random.integers(10, 60_000, 100_000)))
    for n_features in (2**20, 2**31 - 2, 999_983):
        ours = HashingVectorizer(n_features=n_features).transform([text])
        assert_same(ours, ScikitLearns(n_features=n_features).transform([text]))


def test_the_least_hash_has_a_place():
    """|-2^31| is no 32-bit number; scikit-learn puts it where 2^31 belongs."""
    word = "akqlrggi"  # its hash is -2^31
    assert murmurhash3_32(word) == -(2**31)
    for n_features in (2**20, 1000, 2**31 - 2):
        ours = HashingVectorizer(n_features=n_features).transform([word])
        assert_same(ours, ScikitLearns(n_features=n_features).transform([word]))


def test_english_stop_words():
    texts = ["This is the first of all of them", "and nobody was there"]
    options = {"stop_words": "english", "ngram_range": (1, 2)}
    assert_same(
        HashingVectorizer(**options).transform(texts), ScikitLearns(**options).transform(texts)
    )


# ------------------------------------------------------------------ what goes in

DOCS = ["One and TWO", "", "naïve Ünïcode ΑΣ", "drei"]


def columns():
    pandas, polars, pyarrow = map(pytest.importorskip, ("pandas", "polars", "pyarrow"))
    whole = pyarrow.array(["cut off", *DOCS, "too"])
    return [
        DOCS,
        tuple(DOCS),
        (text for text in DOCS),
        np.array(DOCS, dtype=object),
        np.array(DOCS),
        [text.encode() for text in DOCS],
        [DOCS[0], DOCS[1].encode(), np.str_(DOCS[2]), DOCS[3]],
        pandas.Series(DOCS),
        pandas.Series(DOCS, dtype=object),
        polars.Series(DOCS),
        pyarrow.array(DOCS),
        pyarrow.array(DOCS, pyarrow.large_string()),
        whole[1:-1],
        pyarrow.chunked_array([DOCS[:1], DOCS[1:]]),
        pyarrow.chunked_array([DOCS]),
        pyarrow.array(DOCS, pyarrow.string_view()),
    ]


@pytest.mark.parametrize("analyzer", ["word", "char"])
def test_texts_from_anywhere(analyzer):
    want = ScikitLearns(analyzer=analyzer).transform(DOCS)
    for column in columns():
        assert_same(HashingVectorizer(analyzer=analyzer).transform(column), want)


def test_no_texts_are_no_rows():
    pandas, polars, pyarrow = map(pytest.importorskip, ("pandas", "polars", "pyarrow"))
    chunks = pyarrow.chunked_array([], pyarrow.string())
    nothing = [
        [],
        (),
        np.array([], dtype=object),
        pandas.Series([], dtype=object),
        polars.Series([], dtype=polars.String),
        pyarrow.array([], pyarrow.string()),
        chunks,
    ]
    for none in nothing:
        assert HashingVectorizer().transform(none).shape == (0, 2**20)


def test_files_and_their_names(tmp_path):
    paths = [tmp_path / str(i) for i in range(len(DOCS))]
    for path, text in zip(paths, DOCS, strict=True):
        path.write_bytes(text.encode("utf-16"))
    want = ScikitLearns().transform(DOCS)
    named = HashingVectorizer(input="filename", encoding="utf-16")
    assert_same(named.transform(paths), want)
    files = [io.BytesIO(text.encode("utf-16")) for text in DOCS]
    assert_same(named.set_params(input="file").transform(files), want)


@pytest.mark.parametrize("decode_error", ["ignore", "replace"])
def test_bytes_that_do_not_decode(decode_error):
    texts = [b"good", b"b\xffd na\xc3\xafve"]
    options = {"decode_error": decode_error, "analyzer": "char"}
    ours = HashingVectorizer(**options).transform(texts)
    assert_same(ours, ScikitLearns(**options).transform(texts))
    with pytest.raises(UnicodeDecodeError) as caught:
        HashingVectorizer().transform(texts)
    assert "This is text 1." in caught.value.__notes__[0]


def test_callables_go_the_way_of_scikit_learn():
    texts = ["a-b c", "d-e"]
    for options in (
        {"tokenizer": str.split, "token_pattern": None},
        {"preprocessor": str.upper},
        {"analyzer": lambda text: list(text)},
        {"token_pattern": r"[a-z]-[a-z]"},
        {"strip_accents": lambda text: text.replace("b", "B")},
        {"dtype": np.int64, "norm": None},
    ):
        theirs = ScikitLearns(**options).transform(texts)
        assert_same(HashingVectorizer(**options).transform(texts), theirs)
        column = pytest.importorskip("pyarrow").array(texts)
        assert_same(HashingVectorizer(**options).transform(column), theirs)
        one = HashingVectorizer(**options).transform_one(texts[0])
        assert one[1].tolist() == theirs[0].indices.tolist()


@given(texts=TEXTS, binary=st.booleans(), norm=st.sampled_from([None, "l1", "l2"]))
def test_log_counts(texts, binary, norm):
    options = {"log_counts": True, "n_features": 32, "binary": binary, "norm": norm}
    counts = ScikitLearns(n_features=32, norm=None).transform(texts)
    c = counts.data
    logs = np.sign(c) * (1 + np.log(np.maximum(np.abs(c), 1)))
    counts.data = np.ones_like(c) if binary else logs
    rows = counts.toarray()
    if norm is not None:
        size = np.linalg.norm(rows, 1 if norm == "l1" else 2, axis=1, keepdims=True)
        rows = rows / np.where(size == 0, 1, size)
    ours = HashingVectorizer(**options).transform(texts)
    by_hand = HashingVectorizer(**options, tokenizer=_tokens, token_pattern=None).transform(texts)
    np.testing.assert_allclose(ours.toarray(), rows, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(by_hand.toarray(), rows, rtol=1e-12, atol=1e-300)


def _tokens(text):
    return ScikitLearns().build_tokenizer()(text)


# ------------------------------------------------------------------ names


@given(
    batches=st.lists(TEXTS, min_size=1, max_size=3),
    n_features=st.sampled_from([3, 50, 2**20]),
    analyzer=st.sampled_from(["word", "char_wb"]),
    n_jobs=st.sampled_from([1, 2, 3]),
)
def test_the_first_word_of_a_feature_names_it(batches, n_features, analyzer, n_jobs):
    options = {"n_features": n_features, "analyzer": analyzer, "ngram_range": (1, 2)}
    ours = HashingVectorizer(**options, keep_names=True, n_jobs=n_jobs)
    analyze = ScikitLearns(**options).build_analyzer()
    feature_of = ScikitLearns(**options)._get_hasher()
    first, met = {}, {}
    for batch in batches:
        ours.transform(batch)
        for word in (word for text in batch for word in analyze(text)):
            feature = int(feature_of.transform([[word]]).indices[0])
            first.setdefault(feature, word)
            met.setdefault(feature, set()).add(word)
    assert ours.names(first) == list(first.values())
    assert ours.n_names_ == len(first)
    assert ours.n_clashes_ == sum(len(words) > 1 for words in met.values())
    absent = next(feature for feature in range(n_features + 1) if feature not in first)
    assert ours.names([absent]) == [None]
    twin = pickle.loads(pickle.dumps(ours))
    assert twin.names(first) == list(first.values())
    assert twin.n_clashes_ == ours.n_clashes_


@pytest.mark.parametrize("analyzer", ["word", "char_wb"])
def test_threads_share_the_arrays_of_many_texts(analyzer):
    """Enough texts for many turns of each thread; they have more n-grams than is expected."""
    random = np.random.default_rng(0)
    texts = [" ".join(map(str, random.integers(10, 9000, n))) for n in range(800)]
    made = {}
    for n_jobs in (1, 2, 5):
        ours = HashingVectorizer(analyzer=analyzer, keep_names=True, n_jobs=n_jobs)
        made[n_jobs] = ours.transform(texts), ours.names_met()
    assert_same(made[1][0], ScikitLearns(analyzer=analyzer).transform(texts))
    for n_jobs in (2, 5):
        assert_same(made[n_jobs][0], made[1][0])
        for ours, of_one in zip(made[n_jobs][1], made[1][1], strict=True):
            assert bytes(ours) == bytes(of_one)


def test_names_are_asked_for_in_advance():
    with pytest.raises(ValueError, match="keep_names must be True for this, got False"):
        HashingVectorizer().names([1])
    with pytest.raises(ValueError, match="keep_names must be False if Python makes the n-grams"):
        HashingVectorizer(tokenizer=str.split, keep_names=True).transform(["a"])


def test_other_settings_start_other_names():
    vectorizer = HashingVectorizer(n_features=8, keep_names=True)
    vectorizer.transform(["one two three"])
    vectorizer.set_params(n_features=2**10)
    assert vectorizer.n_names_ == 0


# ------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("options", "texts", "error", "message"),
    [
        ({}, "a single string", ValueError, "Iterable over raw text documents expected, string"),
        ({}, b"bytes", ValueError, "Iterable over raw text documents expected, string"),
        ({}, ["a", None], TypeError, "text 1 must be str or bytes, got None"),
        ({}, ["a", 3.5], TypeError, "text 1 must be str or bytes, got 3.5"),
        ({}, ["a", np.nan], TypeError, "text 1 must be str or bytes, got nan"),
        ({}, np.array([["a"], ["b"]]), ValueError, r"texts must have one dimension, got shape \(2"),
        (
            {"n_features": 0},
            ["a"],
            ValueError,
            "'n_features' parameter .* must be an int in the ra",
        ),
        ({"n_features": -5}, ["a"], ValueError, "'n_features' parameter"),
        ({"ngram_range": (1, float("inf"))}, ["a"], TypeError, "must be a whole number, got inf"),
        ({"ngram_range": (1, 10**400)}, ["a"], ValueError, "ngram_range must be at most 46116"),
        ({"ngram_range": (1, 2, 3)}, ["a"], TypeError, "ngram_range must be two whole numbers"),
        ({"ngram_range": {1, 2}}, ["a"], ValueError, "'ngram_range' parameter"),
        ({"ngram_range": "12"}, ["a"], ValueError, "'ngram_range' parameter"),
        ({"ngram_range": (2, 1)}, ["a"], ValueError, "lower boundary larger than the upper"),
        ({"norm": "l3"}, ["a"], ValueError, "'norm' parameter"),
        ({"n_jobs": 0}, ["a"], ValueError, "n_jobs must be None, negative or at least 1, got 0"),
        ({"analyzer": "syllable"}, ["a"], ValueError, "'analyzer' parameter"),
    ],
)
def test_texts_that_cannot_be(options, texts, error, message):
    with pytest.raises(error, match=message):
        HashingVectorizer(**options).transform(texts)


def test_frames_and_nulls():
    pandas, polars, pyarrow = map(pytest.importorskip, ("pandas", "polars", "pyarrow"))
    with pytest.raises(ValueError, match=r"texts must be one column, got a frame .*\['text'\]"):
        HashingVectorizer().transform(pandas.DataFrame({"text": ["a"]}))
    columns = [polars.Series(["a", None]), pyarrow.array(["a", None])]
    columns += [pandas.Series(["a", hole], dtype=object) for hole in (None, np.nan, pandas.NA)]
    kinds = ("str", "string", "category", pandas.ArrowDtype(pyarrow.string()))
    columns += [pandas.Series(["a", None], dtype=kind) for kind in kinds]
    message = r"text 1 must be str or bytes, got (nan|None|<NA>|a null)\. Drop rows without"
    for column in (*columns, np.array(["a", np.nan], dtype=object), ["a", float("nan")]):
        for options in ({}, {"token_pattern": r"\w+"}, {"dtype": np.int64, "norm": None}):
            with pytest.raises(TypeError, match=message):
                HashingVectorizer(**options).transform(column)


def test_a_clone_is_as_good(recwarn):
    vectorizer = HashingVectorizer(ngram_range=(1, 2), n_jobs=2, log_counts=True)
    assert_same(clone(vectorizer).fit_transform(DOCS), vectorizer.transform(DOCS))
    assert not recwarn.list


def test_warnings_are_those_of_scikit_learn():
    with warnings.catch_warnings(record=True) as ours:
        warnings.simplefilter("always")
        HashingVectorizer(stop_words=["don't"]).fit_transform(["don't"])
    assert "Your stop_words may be inconsistent" in str(ours[0].message)


@pytest.mark.parametrize(
    "check",
    [
        estimator_checks.check_estimator_cloneable,
        estimator_checks.check_estimator_repr,
        estimator_checks.check_get_params_invariance,
        estimator_checks.check_no_attributes_set_in_init,
        estimator_checks.check_parameters_default_constructible,
        estimator_checks.check_set_params,
        estimator_checks.check_valid_tag_types,
    ],
)
def test_scikit_learn_accepts_it(check):
    """Its other checks hand in numbers."""
    check("HashingVectorizer", HashingVectorizer())


# ------------------------------------------------------------------ rough handling


def test_a_large_bound_costs_nothing():
    for analyzer in ("char", "char_wb", "word"):
        options = {"analyzer": analyzer, "ngram_range": (1, 10**9)}
        ours = HashingVectorizer(**options).transform(["ab cd ef"])
        assert_same(ours, ScikitLearns(**options).transform(["ab cd ef"]))


def test_it_can_be_looked_at():
    plain = HashingVectorizer()
    assert "n_names_" not in [name for name in dir(plain) if hasattr(plain, name)]
    assert "HashingVectorizer" in plain._repr_html_()


def test_a_list_may_change_while_it_is_read():
    texts = [f"word{i} abc " * 200 for i in range(300)]
    want = HashingVectorizer().transform(texts)
    for _ in range(5):
        again, found = list(texts), []
        reader = Thread(target=lambda own, out: out.append(HashingVectorizer().transform(own)),
                        args=(again, found))  # fmt: skip
        reader.start()
        again.clear()
        reader.join()
        assert found[0].shape[0] in (0, 300)
        assert found[0].shape[0] == 0 or (found[0] != want).nnz == 0


def test_threads_share_one_from_its_first_text_on():
    texts = [f"naïve wörd{i} über " * 50 for i in range(40)]
    want = HashingVectorizer().transform(texts)
    shared = HashingVectorizer(keep_names=True)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: shared.transform(texts), range(16)))
    for one in found:
        assert_same(one, want)
    assert shared.n_names_ == 42


def test_names_of_refused_texts_are_not_kept():
    vectorizer = HashingVectorizer(analyzer="char", keep_names=True)
    vectorizer.transform(["ab"])
    with pytest.raises(ValueError, match="text 1 must have no lone surrogate"):
        vectorizer.transform(["xyz", "\ud800"])
    assert vectorizer.n_names_ == 2


@pytest.mark.parametrize("unit", [0, 1, 2])
@pytest.mark.parametrize("run", ["transform32", "transform64", "transform_apart"])
def test_a_hasher_without_alphabets_refuses_what_needs_them(unit, run):
    """It read them through a null pointer, which ended the interpreter."""
    hasher = _core.Hasher(unit, 1, 1, [], 16, True, False, False, 0)
    threads = () if run == "transform_apart" else (2,)
    beyond = _core.texts_of(["plain", "caf\u00e9"], False)
    with pytest.raises(ValueError, match="use_alphabets must be called before"):
        getattr(hasher, run)(beyond, *threads)
    plain = _core.texts_of(["plain"], False)
    if unit == 0:
        assert getattr(hasher, run)(plain, *threads)[0].tolist() == [0, 1]
    else:
        with pytest.raises(ValueError, match="use_alphabets must be called before"):
            getattr(hasher, run)(plain, *threads)


def test_paths_in_a_column_are_paths(tmp_path):
    pandas = pytest.importorskip("pandas")
    (tmp_path / "a").write_text("some words")
    ours = HashingVectorizer(input="filename").transform(pandas.Series([str(tmp_path / "a")]))
    assert_same(ours, ScikitLearns().transform(["some words"]))


def test_columns_of_other_things():
    polars, pyarrow = map(pytest.importorskip, ("polars", "pyarrow"))
    for column in (polars.Series([12, 13]), pyarrow.array([True]), pyarrow.array([1.5])):
        with pytest.raises(TypeError, match="text 0 must be str or bytes, got"):
            HashingVectorizer().transform(column)
    for column in (polars.Series([b"ab \xe9cc"]), pyarrow.array([b"ab \xe9cc"])):
        ours = HashingVectorizer(encoding="latin-1").transform(column)
        assert_same(ours, ScikitLearns(encoding="latin-1").transform([b"ab \xe9cc"]))


def test_settings_of_other_types():
    options = {"lowercase": np.False_, "n_features": np.int64(32), "stop_words": [1, "de"]}
    ours = HashingVectorizer(**options, n_jobs=np.int64(2)).transform(["Ab de CC"])
    assert_same(ours, ScikitLearns(**options).transform(["Ab de CC"]))
