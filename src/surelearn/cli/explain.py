"""`surelearn explain`: what a model knows, in words; must not know how that is found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from surelearn.cli import _options
from surelearn.cli._options import Json, Model

if TYPE_CHECKING:
    from surelearn.estimators import Explanation


def explain(
    model: Model,
    *,
    label: Annotated[
        str | None, typer.Option(help="What speaks for this label, the most first.")
    ] = None,
    text: Annotated[
        str | None, typer.Option(help="What the model says of this text, and why.")
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="How many lines.")] = 20,
    as_json: Json = False,
) -> None:
    """Show what a model has learnt, and how sure it is of it.

    Without options: the words whose weights it is surest of. With two classes a positive weight
    speaks for the label beside it, a negative one for the other.

    \b
    Examples:
      surelearn explain reviews.sure
      surelearn explain reviews.sure --label positive --top 10
      surelearn explain reviews.sure --text "slow start, great end"
    """
    import surelearn

    loaded = surelearn.load(model)
    wanted = None if label is None else _known(loaded.classes_.tolist(), label)
    if text is None:
        found = loaded.explain(label=wanted, top=top)
    else:
        _check_reads_texts(loaded)
        found = loaded.explain(text, label=wanted, top=top)
    if as_json:
        _options.print_json(_plain(loaded, found, text))
        return
    if text is not None:
        typer.echo(f"{_verdict(loaded, found, text)}\n")
        found = _narrow(found)
    typer.echo(str(found))


def _narrow(found: Explanation) -> Explanation:
    """With the columns that fit in a terminal."""
    from surelearn.estimators import Explanation

    kept = [name for name in found.columns if name not in ("probability", "variance")]
    return Explanation({name: getattr(found, name) for name in kept})


def _known(classes: list[Any], label: str) -> Any:
    """The label that is spelled so: a shell knows texts only."""
    return next((known for known in classes if str(known) == label), label)


def _check_reads_texts(model: Any) -> None:
    from surelearn import SureTextClassifier

    if not isinstance(model, SureTextClassifier):
        raise typer.BadParameter(
            f"text needs a model of texts, got a {type(model).__name__}.", param_hint="--text"
        )


def _verdict(model: Any, found: Any, text: str) -> str:
    label = found.verdict.label
    if not hasattr(model, "predict_proba"):
        return str(label)
    p = model.predict_proba([text])[0]
    return f"{label}, with probability {p[model.classes_ == label][0]:.4f}"


def _plain(model: Any, found: Any, text: str | None) -> dict[str, Any]:
    lines = [{k: _or_none(v) for k, v in line._asdict().items()} for line in found]
    if text is None:
        return {"weights": lines}
    plain: dict[str, Any] = {"label": found.verdict.label.item()}
    if hasattr(model, "predict_proba"):
        p = model.predict_proba([text])[0].tolist()
        plain["probabilities"] = dict(zip(map(str, model.classes_.tolist()), p, strict=True))
    return {**plain, "shares": lines}


def _or_none(value: Any) -> Any:
    return None if value != value else value
