"""A real browser on a page that is served from this process: shared by the slow tests."""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest

from surelearn.label import Session

TOKEN = "token-of-the-tests"
_FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
          "--no-first-run", "--disable-background-networking", "--hide-scrollbars")  # fmt: skip

#: Texts whose contrast with what is behind them is too small, by the rule of WCAG 2.
CONTRAST = """
const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
function parse(color) {
  canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
  const d = canvas.getImageData(0, 0, 1, 1).data;
  return [d[0], d[1], d[2], d[3] / 255];
}
const over = (top, base) => [0, 1, 2].map((i) => top[i] * top[3] + base[i] * (1 - top[3])).concat(1);
function light(c) {
  const [r, g, b] = c.map((x) => x / 255).map((x) => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function behind(element) {
  const layers = [];
  for (let e = element; e; e = e.parentElement) layers.push(parse(getComputedStyle(e).backgroundColor));
  return layers.reverse().reduce((base, top) => over(top, base), [255, 255, 255, 1]);
}
const found = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.textContent.trim() || !element.checkVisibility() || element.closest(":disabled")) continue;
  const style = getComputedStyle(element);
  const ground = behind(element);
  const ink = over(parse(element instanceof SVGElement ? style.fill : style.color), ground);
  const [a, b] = [light(ink), light(ground)].sort((x, y) => y - x);
  const ratio = (a + 0.05) / (b + 0.05);
  const large = parseFloat(style.fontSize) >= 24;
  if (ratio < (large ? 3 : 4.5)) found.push([walker.currentNode.textContent.trim().slice(0, 40), ratio.toFixed(2)]);
}
return found;
"""  # noqa: E501


@contextmanager
def served(session: Session, **more: Any) -> Iterator[str]:
    """The address of a page that serves these items and answers."""
    import uvicorn

    from surelearn.label.app import application
    from surelearn.label.serve import bound

    listener = bound("127.0.0.1", 19100)
    port = listener.getsockname()[1]
    app = application(session, token=TOKEN, port=port, **more)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{port}/"
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


class Browser:
    """One window of Debian's chromium; closed, it checks what it has seen."""

    def __init__(self, width: int = 1280, height: int = 900, *, dark: bool = False) -> None:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        chromium, chromedriver = shutil.which("chromium"), shutil.which("chromedriver")
        if chromium is None or chromedriver is None:
            pytest.skip("needs Debian's chromium and chromium-driver")
        options = webdriver.ChromeOptions()
        options.binary_location = chromium
        for flag in _FLAGS:
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(chromedriver))
        self.resize(width, height)
        theme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": theme})

    def resize(self, width: int, height: int) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def enter(self, address: str, name: str = "ann") -> None:
        self.address = address
        self.driver.get(f"{address}?token={TOKEN}")
        field = self.one("#name")
        field.clear()
        field.send_keys(name)
        self.one("main .save").click()
        self.until(lambda: self.script("return !!document.querySelector('#work')"))

    def open(self, path: str) -> None:
        self.driver.get(self.address + path)

    def one(self, selector: str) -> Any:
        return self.driver.find_element("css selector", selector)

    def texts(self, selector: str) -> list[str]:
        # In one piece: the page may change between two calls.
        code = "return [...document.querySelectorAll(arguments[0])].map(e => e.innerText.trim())"
        found: list[str] = self.script(code, selector)
        return found

    def script(self, code: str, *values: Any) -> Any:
        return self.driver.execute_script(code, *values)

    def until(self, is_true: Callable[[], Any]) -> Any:
        end = time.monotonic() + 10
        while not (found := is_true()):
            assert time.monotonic() < end, "the page did not get there"
            time.sleep(0.01)
        return found

    @property
    def item(self) -> int | None:
        text = self.script("return document.querySelector('#work')?.dataset.item")
        return int(text) if text else None

    def keys(self, *keys: str) -> None:
        from selenium.webdriver import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    def shift(self, *keys: str) -> None:
        from selenium.webdriver import ActionChains
        from selenium.webdriver.common.keys import Keys

        chain = ActionChains(self.driver).key_down(Keys.SHIFT)
        chain.send_keys(*keys).key_up(Keys.SHIFT).perform()

    def and_next(self, act: Callable[[], Any]) -> int | None:
        """Do something that leads to another question; which one."""
        before = self.item
        act()
        self.until(lambda: self.item != before)
        return self.item

    def names(self) -> list[str]:
        """Roles of things to press or fill in that have no name for screen readers."""
        self.until(lambda: self._controls() != [])  # the browser makes the tree after the page
        return [
            node["role"]["value"]
            for node in self._controls()
            if not node.get("name", {}).get("value")
        ]

    def _controls(self) -> list[dict[str, Any]]:
        """What can be pressed or filled in, as screen readers are told."""
        nodes = self.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
        roles = {"button", "link", "textbox", "searchbox", "combobox", "checkbox", "img", "meter"}
        return [node for node in nodes if node.get("role", {}).get("value") in roles]

    def close(self) -> None:
        """Nothing went elsewhere, and nothing went wrong."""
        try:
            console = self.driver.get_log("browser")
            sent = [json.loads(entry["message"]) for entry in self.driver.get_log("performance")]
        finally:
            self.driver.quit()
        events = [entry["message"] for entry in sent]
        urls = [
            event["params"]["request"]["url"]
            for event in events
            if event["method"] == "Network.requestWillBeSent"
        ]
        assert urls
        assert {urlsplit(url).hostname for url in urls} == {"127.0.0.1"}, urls
        assert [entry["message"] for entry in console] == []
