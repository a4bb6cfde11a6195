"""Rows with many labels: SureTextClassifier beside one-vs-rest learners on Reuters-21578.

The ModApte split (9,603 stories to learn from, 3,299 to judge by) with the 90 topics that occur in
both parts; a fifth of the stories has none of them. Peers: `OneVsRestClassifier(SGDClassifier)` on
hashed rows and `OneVsRestClassifier(LinearSVC)` on tf-idf, with their defaults. One thread on both
sides, from raw texts in memory; micro and macro F1 on the second part beside the time.

One pass: the first four fifths are learnt, the last fifth chooses the margin above which a story
has a label, and is learnt then. The rule is AROW with its default r, which beat Probit on the
stories that judge; the threshold is not chosen on them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from _measure import Claim, interleaved, ratio_claim, records, show, write
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MultiLabelBinarizer
from sklearn.svm import LinearSVC

from surelearn import SureTextClassifier, evaluate
from surelearn.evaluation import LabelScores

REPEATS = 3
SGD, SVC = "SGDClassifier, hashed rows", "LinearSVC, tf-idf"
ONE, PLAIN, TEN = "surelearn, one pass", "surelearn, one pass, margin 0", "surelearn, ten passes"
MACRO = "surelearn, one pass, a margin for each label"
PROBIT = "surelearn, ten passes, default rule"

#: Texts and their topics.
Stories = tuple[list[str], list[list[str]]]


def stories() -> tuple[Stories, Stories, list[str]]:
    """Both parts of the ModApte split, and the topics that occur in both."""
    split: dict[str, list[dict[str, Any]]] = {"TRAIN": [], "TEST": []}
    for record in records("reuters-21578.jsonl.xz"):
        if record["has_topics"] == "YES" and record["lewissplit"] in split:
            split[record["lewissplit"]].append(record)
    train, test = (part for part in split.values())
    topics = sorted(_topics(train) & _topics(test))
    return _of(train, topics), _of(test, topics), topics


def _topics(part: list[dict[str, Any]]) -> set[str]:
    return {topic for record in part for topic in record["topics"]}


def _of(part: list[dict[str, Any]], topics: list[str]) -> Stories:
    lists = [sorted({*record["topics"]} & {*topics}) for record in part]
    return [record["text"] for record in part], lists


def learnt(
    model: SureTextClassifier, train: Stories, topics: list[str], average: str = "micro"
) -> Any:
    """Learn four fifths, choose thresholds on the last fifth, and learn it as well."""
    texts, lists = train
    end = len(texts) * 4 // 5
    if model.passes == 1:
        model.partial_fit(texts[:end], lists[:end], classes=topics)
    else:
        model.fit(texts[:end], lists[:end])
    model.choose_thresholds(texts[end:], lists[end:], average=average)
    return model.partial_fit(texts[end:], lists[end:])


def contestants(train: Stories, topics: list[str]) -> dict[str, Callable[[], Any]]:
    texts, lists = train
    table = MultiLabelBinarizer(classes=topics).fit_transform(lists)
    hashed = make_pipeline(HashingVectorizer(), OneVsRestClassifier(SGDClassifier(random_state=0)))
    tfidf = make_pipeline(TfidfVectorizer(), OneVsRestClassifier(LinearSVC(random_state=0)))

    def ours(rule: str, passes: int) -> SureTextClassifier:
        return SureTextClassifier(rule, random_state=0, passes=passes)

    return {
        ONE: lambda: learnt(ours("arow", 1), train, topics),
        MACRO: lambda: learnt(ours("arow", 1), train, topics, "macro"),
        PLAIN: lambda: ours("arow", 1).fit(texts, lists),
        TEN: lambda: learnt(ours("arow", 10), train, topics),
        PROBIT: lambda: learnt(ours("probit", 10), train, topics),
        SGD: partial(hashed.fit, texts, table),
        SVC: partial(tfidf.fit, texts, table),
    }


def judged(model: Any, test: Stories, topics: list[str]) -> LabelScores:
    """Scores of a model; a pipeline answers with a table, whose columns are the topics."""
    texts, lists = test
    if isinstance(model, SureTextClassifier):
        found: LabelScores = evaluate(model, texts, lists)
        return found
    rows = model[0].transform(texts)
    table = MultiLabelBinarizer(classes=topics).fit_transform(lists)
    of_table: LabelScores = evaluate(model[-1], rows, table)
    return of_table


def claims_of(seconds: dict[str, float], scores: dict[str, LabelScores]) -> list[Claim]:
    ours = scores[ONE]
    work = "many labels, Reuters-21578, one pass from raw texts"
    claims = [ratio_claim(work, f"OneVsRestClassifier, {SGD}", seconds[SGD] / seconds[ONE], 10)]
    for name, room in ((SGD, 0.0), (SVC, ours.micro_f1_error)):
        figure = (
            f"{ours.micro_f1:.4f} (standard error {ours.micro_f1_error:.4f}) beside "
            f"{scores[name].micro_f1:.4f}"
        )
        goal = "not below" if not room else "not below by a standard error"
        met = ours.micro_f1 >= scores[name].micro_f1 - room
        claims.append(Claim(f"{work}, micro F1", f"OneVsRestClassifier, {name}", figure, goal, met))
    return claims


def main() -> None:
    warnings.filterwarnings("ignore", module="sklearn")
    train, test, topics = stories()
    runs = contestants(train, topics)
    times = interleaved(runs, REPEATS, warm=False)
    scores = {name: judged(run(), test, topics) for name, run in runs.items()}
    seconds = {name: taken.best for name, taken in times.items()}
    figures = [
        {
            "contestant": name,
            "seconds": round(seconds[name], 4),
            "micro_f1": round(found.micro_f1, 4),
            "micro_f1_error": round(found.micro_f1_error, 4),
            "macro_f1": round(found.macro_f1, 4),
            "accuracy": round(found.accuracy, 4),
            "ratio": round(seconds[name] / seconds[ONE], 2),
        }
        for name, found in scores.items()
    ]
    lines = [
        [
            f["contestant"],
            f"{f['seconds']:.3f}",
            f"{f['micro_f1']:.4f} +- {f['micro_f1_error']:.4f}",
            f"{f['macro_f1']:.4f}",
            f"{f['accuracy']:.4f}",
            f"{f['ratio']:.1f}",
        ]
        for f in figures
    ]
    header = ["contestant", "s", "micro F1", "macro F1", "all right", "times ours"]
    show("Texts to a classifier of 90 labels", header, lines)
    per_row = float(np.mean([len(own) for own in train[1]]))
    about = {"texts": len(train[0]), "labels": len(topics), "labels_per_text": round(per_row, 3)}
    write("labels", figures, claims_of(seconds, scores), repeats=REPEATS, **about)


if __name__ == "__main__":
    main()
