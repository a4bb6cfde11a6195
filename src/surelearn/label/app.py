"""Routes of the page: requests in, HTML out; must not know how anything is chosen or learnt."""

from __future__ import annotations

import getpass
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, unquote

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from surelearn.label import export, pages
from surelearn.label.guard import App, Guard
from surelearn.label.html import Html, tag
from surelearn.label.panel import panel_part
from surelearn.label.parts import question_part
from surelearn.label.progress import Goal, report
from surelearn.label.rebuild import EVERY, leave_mark
from surelearn.label.session import Session
from surelearn.label.store import NotSaved

_STATIC = Path(__file__).parent / "static"
#: The header of requests by the page's script, which wants a part and not a page.
_PART = "x-part"

Form = dict[str, list[str]]
Person = str


def application(
    session: Session,
    *,
    token: str,
    host: str = "127.0.0.1",
    port: int = 80,
    goal: Goal | None = None,
) -> App:
    """The page as an ASGI application.

    Parameters
    ----------
    session : Session
    token : str
        What a browser must bring, see `Guard`.
    host, port : str, int
        Where it is served.
    goal : Goal, optional
        When to suggest to stop.
    """
    page = Page(session, goal or Goal(), cookie=f"surelearn-name-{port}")
    return Guard(page.app(), token=token, host=host, port=port)


class Page:
    """The routes over one session."""

    def __init__(self, session: Session, goal: Goal, *, cookie: str) -> None:
        self._session, self._goal, self._cookie = session, goal, cookie
        self._marked = session.n_events

    def app(self) -> Starlette:
        """All routes."""
        shown: dict[str, Callable[[Request, Person], Response]] = {
            "/": self._label,
            "/panel": self._panel,
            "/review": self._review,
            "/search": self._search,
            "/agreement": self._agreement,
            "/export": self._export,
            "/text/{item}": self._text,
            "/export/model.sure": self._model,
            "/export/labels.{kind}": partial(self._labels, agreed=True),
            "/export/answers.{kind}": partial(self._labels, agreed=False),
        }
        done: dict[str, Callable[[Person, Form], None]] = {
            "/answer": self._answer,
            "/skip": lambda person, form: self._session.skip(person, _item(form)),
            "/undo": lambda person, form: self._session.undo(person),
            "/labels": self._add_label,
            "/strategy": self._ask_about,
            "/choose": lambda person, form: self._session.choose(person, _item(form)),
            "/change": self._change,
            "/settle": self._settle,
        }
        routes: list[Any] = [Route(path, partial(self._get, f)) for path, f in shown.items()]
        routes += [
            Route(path, partial(self._post, f), methods=["POST"]) for path, f in done.items()
        ]
        routes += [Route("/enter", self._enter, methods=["POST"])]
        return Starlette(routes=[*routes, Mount("/static", StaticFiles(directory=_STATIC))])

    # ------------------------------------------------------------------ who and how

    async def _get(self, page: Callable[[Request, Person], Response], request: Request) -> Response:
        person = self._person(request)
        if not person:
            return HTMLResponse(pages.enter_page(_user(), self._pool_facts()))
        try:
            return await run_in_threadpool(page, request, person)
        except (NotSaved, ValueError) as error:
            return _error_response(error, request, person)

    async def _post(self, act: Callable[[Person, Form], None], request: Request) -> Response:
        """Do it, then show the next question: as a part for the script, else as a page."""
        person = self._person(request)
        if not person:
            return PlainTextResponse("Enter your name first: load the page again.", 403)
        form = parse_qs((await request.body()).decode("utf-8", "replace"), keep_blank_values=True)
        try:
            await run_in_threadpool(act, person, form)
        except (NotSaved, ValueError) as error:
            return _error_response(error, request, person)
        if _PART not in request.headers:
            return RedirectResponse(_back(request), status_code=303)
        try:
            return HTMLResponse(await run_in_threadpool(question_part, self._session, person))
        except NotSaved as error:
            text = f"This one is saved, but the next cannot be asked: {error.__cause__}."
            return PlainTextResponse(f"{text} Free some space, then load the page again.", 507)

    async def _enter(self, request: Request) -> Response:
        form = parse_qs((await request.body()).decode("utf-8", "replace"))
        try:
            name = await run_in_threadpool(self._session.enter, form.get("name", [""])[0])
        except (NotSaved, ValueError) as error:
            return _error_response(error, request, "")
        response = RedirectResponse("/", status_code=303)
        response.set_cookie(self._cookie, quote(name), httponly=True, samesite="strict")
        return response

    def _person(self, request: Request) -> Person:
        name = unquote(request.cookies.get(self._cookie, ""))
        return name if name in self._session.ledger.people else ""

    # ------------------------------------------------------------------------ pages

    def _label(self, request: Request, person: Person) -> Response:
        main = tag("main", question_part(self._session, person), self._panel_html(), id="main")
        page = pages.layout("Label · surelearn", main, path="/", person=person)
        return HTMLResponse(page)

    def _panel(self, request: Request, person: Person) -> Response:
        """The panel, which loads after the text: marking the log here delays no answer."""
        if self._session.n_events >= self._marked + EVERY:
            self._marked = self._session.n_events
            with suppress(NotSaved):  # the answers themselves are saved
                leave_mark(self._session)
        return HTMLResponse(self._panel_html())

    def _panel_html(self) -> Html:
        return panel_part(report(self._session, self._goal), what=self._session.items.plural)

    def _review(self, request: Request, person: Person) -> Response:
        query = request.query_params
        chosen = pages.Filter(
            query.get("label", ""),
            query.get("person", ""),
            bool(query.get("doubted")),
            bool(query.get("skipped")),
            _number(query.get("page")),
        )
        return HTMLResponse(pages.review_page(self._session, person, chosen))

    def _search(self, request: Request, person: Person) -> Response:
        words, page = request.query_params.get("q", ""), _number(request.query_params.get("page"))
        return HTMLResponse(pages.search_page(self._session, person, words, page))

    def _agreement(self, request: Request, person: Person) -> Response:
        return HTMLResponse(pages.agreement_page(self._session, person))

    def _export(self, request: Request, person: Person) -> Response:
        return HTMLResponse(pages.export_page(self._session, person, self._pool_facts()))

    def _pool_facts(self) -> list[str]:
        """What is in the pool, and what was left out."""
        return [f"in the pool: {len(self._session.items):,}", *self._session.told()]

    # ------------------------------------------------------------------------ files

    def _text(self, request: Request, person: Person) -> Response:
        """A whole text, however long, as nothing but text."""
        item = _whole(request.path_params["item"])
        if item is None or item >= len(self._session.items):
            return PlainTextResponse("There is no such text.", 404)
        return PlainTextResponse(self._session.items.text(item).encode("utf-8", "replace"))

    def _labels(self, request: Request, person: Person, *, agreed: bool) -> Response:
        kind = request.path_params["kind"]
        if kind not in export.formats(self._session.kind, agreed=agreed):
            return PlainTextResponse("There is no such format.", 404)
        data = export.exported(self._session, kind, agreed=agreed)
        return _download(data, request.url.path.rpartition("/")[2], export.FORMATS[kind])

    def _model(self, request: Request, person: Person) -> Response:
        if not self._session.learner.decides:
            raise ValueError("the model needs two labels first, got fewer.")
        return _download(self._session.model_bytes(), "model.sure", "application/octet-stream")

    # ------------------------------------------------------------------------- acts

    def _answer(self, person: Person, form: Form) -> None:
        self._session.answer(person, _item(form), self._label_of(form))

    def _change(self, person: Person, form: Form) -> None:
        self._session.change(person, _item(form), self._label_of(form))

    def _settle(self, person: Person, form: Form) -> None:
        item = _item(form)
        if "as" in form:
            given = self._session.ledger.given.get(item, {}).get(form["as"][0])
            if given is None:
                raise ValueError(
                    "a disagreement must be settled with one of its answers, got another."
                )
            self._session.settle(person, item, given.label)
        else:
            self._session.settle(person, item, self._label_of(form))

    def _add_label(self, person: Person, form: Form) -> None:
        self._session.add_label(person, form.get("label", [""])[0])

    def _ask_about(self, person: Person, form: Form) -> None:
        self._session.ask_about(person, form.get("strategy", [""])[0])

    def _label_of(self, form: Form) -> Any:
        """The label of a form, as the kind of task has it."""
        given = form.get("label", [])
        if self._session.kind == "many":
            return given
        if self._session.kind == "tags":
            return given[0].split(" ") if given else []
        return given[0] if given else ""


def _item(form: Form) -> int:
    text = form.get("item", [""])[0]
    item = _whole(text)
    if item is None:
        raise ValueError(f"item must be a number, got {text[:40]!r}.")
    return item


def _whole(text: str) -> int | None:
    """A whole number of a request, or None; Python itself refuses those of very many digits."""
    return int(text) if text.isdecimal() and len(text) <= 12 else None


def _number(text: str | None) -> int:
    return min(_whole(text or "") or 0, 10**6)


def _back(request: Request) -> str:
    """Where a form without the script leads: to the list it was in, or to the question."""
    place = {"/change": "/review", "/settle": "/agreement"}.get(request.url.path, "/")
    came = request.headers.get("referer", "")
    query = came.partition("?")[2] if place == "/review" and "/review?" in came else ""
    return f"{place}?{query}" if query else place


def _download(data: bytes, name: str, kind: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(data, media_type=kind, headers=headers)


def _error_response(error: Exception, request: Request, person: Person) -> Response:
    """Say on the screen what did not work; nothing has changed."""
    status = 507 if isinstance(error, NotSaved) else 409
    text = str(error)
    if _PART in request.headers:
        return PlainTextResponse(text.encode("utf-8", "backslashreplace"), status)
    return HTMLResponse(pages.message_page(text, person=person), status)


def _user() -> str:
    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):
        return ""
