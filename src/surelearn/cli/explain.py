"""`surelearn explain`: weights of a model, in words; must not know how they are computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from surelearn.cli import _options
from surelearn.cli._options import Json, Model

if TYPE_CHECKING:
    from surelearn.learners import Explanation


def explain(
    model: Model,
    *,
    label: Annotated[
        str | None, typer.Option(help="Show the evidence for this label, strongest first.")
    ] = None,
    text: Annotated[
        str | None, typer.Option(help="Predict the label of this text, and show why.")
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Number of features to print.")] = 20,
    intercept: Annotated[
        bool, typer.Option("--intercept", help="Print intercepts as well, after the features.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show what a model has learnt, and how sure it is.

    Without options, prints the words whose weights the model is surest of. With two classes, a
    positive weight is evidence for the label beside it, a negative weight for the other label.
    With --text and more classes, prints what speaks for the label, then for the next best one.

    \b
    Examples:
      surelearn explain reviews.sure
      surelearn explain reviews.sure --label positive --top 10
      surelearn explain reviews.sure --text "slow start, great end"
    """
    from surelearn.learners.file import load

    how: dict[str, Any] = {"top": top}
    loaded = load(model)
    if not hasattr(loaded, "explain"):
        raise ValueError(
            f"{model} must be a model with a weight for each feature, got a "
            f"{type(loaded).__name__}."
        )
    _options.check_takes(loaded, {}, label=label, text=text)
    if intercept:
        _check_has_intercept(loaded)
        how["intercept"] = True
    if label is not None:
        how["label"] = _known(loaded.classes_.tolist(), label)
    if text is None:
        explained = [loaded.explain(**how)]
    else:
        _check_reads_texts(loaded)
        explained = [loaded.explain(text, **one) for one in _asked(loaded, text, how)]
    if as_json:
        _options.print_json(_plain(loaded, explained, text))
        return
    if text is not None:
        from surelearn.table import word

        verdict = word(_verdict(loaded, explained, text), widest=10_000)
        note = explained[0].note
        typer.echo(f"{verdict}\n{note}\n" if note else f"{verdict}\n")
        explained = [part for found in explained for part in _by_label(_narrow(found))]
    typer.echo("\n\n".join(map(str, explained)))


def _asked(model: Any, text: str, how: dict[str, Any]) -> list[dict[str, Any]]:
    """What to explain of a text: of a row with many labels, each of them, or else the nearest."""
    if not model.model_.many_labels or "label" in how:
        return [how]
    own = model.predict_one(text)
    nearest = model.classes_[model.decision_function([text])[0].argmax()]
    return [{**how, "label": label} for label in own or [nearest]]


def _narrow(found: Explanation) -> Explanation:
    """The explanation without the columns that do not fit in a terminal."""
    from surelearn.learners.explain.explanation import Explanation

    kept = [name for name in found.columns if name not in ("probability", "variance")]
    return Explanation({name: getattr(found, name) for name in kept})


def _by_label(found: Explanation) -> list[Explanation]:
    """The explanation of each label, in their order."""
    if "label" not in found.columns or not len(found):
        return [found]
    from surelearn.learners.explain.explanation import Explanation

    own = [found.label == label for label in dict.fromkeys(found.label.tolist())]
    return [Explanation({name: getattr(found, name)[at] for name in found.columns}) for at in own]


def _known(classes: list[Any], label: str) -> Any:
    """The class spelled like this text; a shell passes the label 3 as '3'."""
    return next((known for known in classes if str(known) == label), label)


def _check_reads_texts(model: Any) -> None:
    from surelearn.learners.text_classifier import SureTextClassifier

    if not isinstance(model, SureTextClassifier):
        raise typer.BadParameter(
            f"text needs a text classifier, got a {type(model).__name__}.", param_hint="--text"
        )


def _check_has_intercept(model: Any) -> None:
    if "fit_intercept" not in model.get_params():
        raise typer.BadParameter(
            f"intercept needs a model with one, got a {type(model).__name__}.",
            param_hint="--intercept",
        )


def _verdict(model: Any, explained: list[Any], text: str) -> str:
    labels = [explained[0].verdict.label]
    if model.model_.many_labels:
        labels = list(model.predict_one(text))
    if not hasattr(model, "predict_proba"):
        return ", ".join(map(str, labels)) or "no label"
    p = model.predict_proba([text])[0]
    said = [f"{x}, with probability {p[model.classes_ == x][0]:.4f}" for x in labels]
    if len(p) > 2 and not model.model_.many_labels:
        rival = explained[0].verdict.rival
        said += [f"next best: {rival}, {p[model.classes_ == rival][0]:.4f}"]
    return "; ".join(said) or f"no label; the nearest is {explained[0].verdict.label}"


def _plain(model: Any, explained: list[Any], text: str | None) -> dict[str, Any]:
    lines = [
        {k: _or_none(v) for k, v in line._asdict().items()} for found in explained for line in found
    ]
    if text is None:
        return {"weights": lines}
    plain: dict[str, Any] = {"label": explained[0].verdict.label.item()}
    if model.model_.many_labels:
        plain = {"labels": list(model.predict_one(text))}
    if hasattr(model, "predict_proba"):
        p = model.predict_proba([text])[0].tolist()
        plain["probabilities"] = dict(zip(map(str, model.classes_.tolist()), p, strict=True))
    return {**plain, "known": explained[0].verdict.n_known, "shares": lines}


def _or_none(value: Any) -> Any:
    return None if value != value else value  # NaN, which JSON lacks
