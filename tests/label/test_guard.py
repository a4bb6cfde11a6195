from __future__ import annotations

import pytest

from labelling import HERE, TOKEN, client, session, stranger
from surelearn.label.guard import HEADERS, LARGEST_BODY, Guard, cookies

PATHS = ("/", "/panel", "/review", "/search?q=a", "/export/labels.jsonl", "/static/page.js")


@pytest.mark.parametrize("path", PATHS)
def test_without_a_token_nothing_is_shown(tmp_path, path):
    found = stranger(session(tmp_path)).get(path)
    assert found.status_code == 403
    assert "link" in found.text
    assert "film" not in found.text


def test_the_token_becomes_a_cookie_that_scripts_and_other_sites_cannot_use(tmp_path):
    found = stranger(session(tmp_path)).get(f"/review?token={TOKEN}&page=2")
    assert (found.status_code, found.headers["location"]) == (303, "/review?page=2")
    cookie = found.headers["set-cookie"]
    assert cookie.startswith(f"surelearn-8765={TOKEN};")
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie


def test_a_token_leads_to_this_site_only(tmp_path):
    found = stranger(session(tmp_path)).get(f"{HERE}//evil.example/?token={TOKEN}")
    assert found.headers["location"] == "/evil.example/"


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("/\\evil.example/", "/%5Cevil.example/"),  # browsers read a backslash as a slash
        ("/\\\\evil.example", "/%5C%5Cevil.example"),
        ("/%09/evil.example", "/%09/evil.example"),
        ("/%E2%82%AC", "/%E2%82%AC"),
        ("/%FF", "/%EF%BF%BD"),
        ("/review", "/review"),
    ],
)
def test_a_token_leads_to_a_path_whatever_its_letters(tmp_path, path, place):
    import asyncio
    from urllib.parse import unquote

    sent = []

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": unquote(path), "query_string": b"token=t",
             "headers": [(b"host", b"localhost")]}  # fmt: skip
    asyncio.run(Guard(None, token="t")(scope, None, send))
    assert sent[0]["status"] == 303
    assert dict(sent[0]["headers"])[b"location"] == place.encode()


@pytest.mark.parametrize("token", ["stale", "", TOKEN[:-1]])
def test_a_stale_token_is_refused_in_address_and_cookie(tmp_path, token):
    found = stranger(session(tmp_path))
    answer = found.get(f"/?token={token}")
    assert answer.status_code == 403
    found.cookies.set("surelearn-8765", token)
    assert found.get("/").status_code == 403


HOSTS = ["evil.example", "evil.example:8765", "127.0.0.1:9", "127.0.0.1.evil.example:8765", "[", ""]


@pytest.mark.parametrize("host", HOSTS)
def test_another_host_is_refused(tmp_path, host):
    browser = client(session(tmp_path))
    assert browser.get("/", headers={"host": host}).status_code == 421


def test_the_loopback_has_three_names(tmp_path):
    browser = client(session(tmp_path))
    for name in ("localhost:8765", "127.0.0.1:8765", "[::1]:8765"):
        headers = {"host": name, "origin": f"http://{name}"}
        assert browser.get("/", headers=headers).status_code == 200


ORIGINS = ["http://evil.example", "null", "http://127.0.0.1:9999", "http://localhost:8765",
           "http://[", "http://127.0.0.1:8765@evil.example"]  # fmt: skip


@pytest.mark.parametrize("origin", ORIGINS)
def test_another_origin_changes_and_sees_nothing(tmp_path, origin):
    found = session(tmp_path)
    browser = client(found)
    item = found.question("ann").item
    data = {"item": item, "label": "good"}
    assert browser.post("/answer", data=data, headers={"origin": origin}).status_code == 403
    assert browser.get("/", headers={"origin": origin}).status_code == 403
    assert found.ledger.given == {}
    assert browser.post("/answer", data=data).status_code == 303


def test_a_request_without_origin_changes_nothing(tmp_path):
    found = session(tmp_path)
    browser = client(found)
    del browser.headers["origin"]
    item = found.question("ann").item
    assert browser.post("/answer", data={"item": item, "label": "good"}).status_code == 403
    assert browser.get("/").status_code == 200


def test_every_answer_has_strict_headers(tmp_path):
    for found in (client(session(tmp_path)).get("/"), client_refused(tmp_path)):
        for name, value in HEADERS.items():
            assert found.headers[name] == value
    assert "default-src 'none'" in HEADERS["content-security-policy"]
    assert "unsafe" not in HEADERS["content-security-policy"]


def client_refused(tmp_path):
    (tmp_path / "b").mkdir()
    return stranger(session(tmp_path / "b")).get("/")


def test_large_bodies_are_refused_whatever_their_header_says(tmp_path):
    browser = client(session(tmp_path))
    big = b"x" * (LARGEST_BODY + 1)
    assert browser.post("/answer", content=big).status_code == 413

    def parts():
        for _ in range(5):
            yield b"x" * (LARGEST_BODY // 4)

    assert browser.post("/answer", content=parts()).status_code == 413
    for length in ("many", "9" * 5000):
        bad = browser.post("/answer", content=b"", headers={"content-length": length})
        assert bad.status_code == 413


def test_another_machine_is_reached_by_address_or_by_its_name():
    guard = Guard(None, token="t", host="0.0.0.0", port=80)
    assert guard._is_ours("192.168.0.7")
    assert guard._is_ours("localhost:80")
    assert not guard._is_ours("evil.example")
    named = Guard(None, token="t", host="labels.lan", port=8000)
    assert named._is_ours("labels.lan:8000")
    upper = Guard(None, token="t", host="MyHost.local", port=8000)
    assert upper._is_ours("myhost.local:8000")  # browsers write names in lower case
    assert upper._is_ours("MyHost.local:8000")


#: Cookies that other programs on this machine have set: browsers share them between ports.
FOREIGN = ['prefs={"dark":true}', "user@id=1", "a", "=", "x=\xff\xfe", 'q="a; b', ";;",
           "surelearn-9=t", "surelearn-8765=stale", " surelearn-87650 = t"]  # fmt: skip


@pytest.mark.parametrize("other", FOREIGN)
def test_cookies_of_other_programs_lock_nobody_out(tmp_path, other):
    browser = stranger(session(tmp_path))
    for header in (f"{other}; surelearn-8765={TOKEN}", f"surelearn-8765={TOKEN};{other}"):
        assert browser.get("/", headers={"cookie": header.encode("latin-1")}).status_code == 200
    alone = browser.get("/", headers={"cookie": other.encode("latin-1")})
    assert alone.status_code == 403


def test_only_cookies_of_the_own_name_count():
    assert cookies("a=1; b=2; a = 3=4 ;a", "a") == ["1", "3=4", ""]
    assert cookies("\x00=;;;", "a") == []


def test_sockets_are_refused(tmp_path):
    from starlette.websockets import WebSocketDisconnect

    browser = client(session(tmp_path))
    with pytest.raises(WebSocketDisconnect), browser.websocket_connect("/static/page.js"):
        pass
