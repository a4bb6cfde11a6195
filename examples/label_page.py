"""The pictures of the labelling page: two hundred reviews labelled in a real browser.

    export SURELEARN_DATA=...           # the folder with the data sets
    pip install selenium                # and Debian's chromium and chromium-driver
    python -m examples.label_page       # from the root; writes docs/label.png, docs/tutorial/label_*.png

The pool is half of the Amazon reviews of two products, without those that do not fit on the
screen. Whoever answers knows the product and presses its key. In the end the model and
scikit-learn's LogisticRegression on tf-idf of the same answers are compared on the other half.
"""  # noqa: E501

from __future__ import annotations

import json
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from experiments import sets
from surelearn.label import Session, Store, read_sentences, read_texts
from surelearn.label.spans import span_tags

DOCS = Path(__file__).parents[1] / "docs"
TOKEN = "examples"
LABELS = ["dvd", "kitchen"]
ANSWERS = 200
#: Share of the questions drawn at random: enough of them for an error among the answers.
EXPLORE = 0.2
#: Sentences for the picture of spans, with their spans.
SENTENCES = [
    ("Ada Lovelace wrote the first program in London .", "B-PER I-PER O O O O O B-LOC O"),
    ("Grace Hopper taught at Vassar College in New York .",
     "B-PER I-PER O O B-ORG I-ORG O B-LOC I-LOC O"),
    ("The Royal Society elected Alan Turing .", "O B-ORG I-ORG O B-PER I-PER O"),
    ("Emmy Noether moved from Erlangen to Bryn Mawr College .",
     "B-PER I-PER O O B-LOC O B-ORG I-ORG I-ORG O"),
    ("In Paris Marie Curie led the Radium Institute .",
     "O B-LOC B-PER I-PER O O B-ORG I-ORG O"),
]  # fmt: skip


class Page:
    """A browser on the page of a session."""

    def __init__(self, address: str, *, width: int = 1280, height: int = 960) -> None:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium") or ""
        for flag in ("--headless=new", "--no-sandbox", "--hide-scrollbars"):
            options.add_argument(flag)
        service = Service(shutil.which("chromedriver"))
        self.driver = webdriver.Chrome(options=options, service=service)
        self.look(width, height)
        self.driver.get(f"{address}?token={TOKEN}")
        name = self.driver.find_element("id", "name")
        name.clear()
        name.send_keys("Ann", "\ue007")
        self.wait(lambda: self.driver.find_elements("id", "work"))

    def look(self, width: int, height: int, *, dark: bool = False) -> None:
        """Change the size of the window, and the colours."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        theme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": theme})

    def press(self, *keys: str) -> None:
        from selenium.webdriver import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    def extend(self, key: str) -> None:
        """Press a key with Shift."""
        from selenium.webdriver import ActionChains

        ActionChains(self.driver).key_down("\ue008").send_keys(key).key_up("\ue008").perform()

    def wait(self, is_true: Callable[[], Any]) -> None:
        while not is_true():
            time.sleep(0.01)

    def item(self) -> int:
        return int(
            self.driver.execute_script("return document.querySelector('#work').dataset.item")
        )

    def answer(self, *keys: str) -> None:
        before = self.item()
        self.press(*keys)
        self.wait(lambda: self.item() != before)

    def save(self, name: str) -> None:
        time.sleep(0.5)  # for the panel
        self.driver.save_screenshot(str(DOCS / name))


@contextmanager
def page(session: Session, **more: Any) -> Iterator[Page]:
    """Serve a session, and open it."""
    import uvicorn

    from surelearn.label.app import application
    from surelearn.label.serve import bound

    listener = bound("127.0.0.1", 19500)
    port = listener.getsockname()[1]
    app = application(session, token=TOKEN, port=port)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    found = Page(f"http://127.0.0.1:{port}/", **more)
    try:
        yield found
    finally:
        found.driver.quit()
        server.should_exit = True
        thread.join()


def reviews(folder: Path) -> tuple[Path, dict[str, str], list[dict[str, str]]]:
    """A pool as a file, the right answers, and reviews to test on."""
    records = [r for r in sets.records("amazon-raw-4domains.jsonl.xz") if r["domain"] in LABELS]
    pool = [record for record in records[::2] if len(record["text"]) < 450]
    path = folder / "pool.jsonl"
    path.write_text("".join(json.dumps({"text": r["text"]}) + "\n" for r in pool))
    return path, {r["text"]: r["domain"] for r in pool}, records[1::2]


def label_reviews(folder: Path) -> None:
    """The pictures of texts, and what the model has learnt."""
    path, truth, test = reviews(folder)
    items = read_texts(path)
    with Store(folder / "a.db") as store:
        session = Session(items, store, LABELS, explore=EXPLORE)
        with page(session) as shown:
            shown.save("tutorial/label_first.png")
            answer_rightly(shown, items, truth, ANSWERS - 60)
            shown.press("w")
            answer_rightly(shown, items, truth, 60)
            shown.save("label.png")
            shown.driver.get(shown.driver.current_url + "review")
            shown.save("tutorial/label_review.png")
            shown.driver.back()
            shown.look(420, 860, dark=True)
            shown.driver.refresh()
            shown.save("tutorial/label_narrow.png")
        compare(session, test)


def answer_rightly(shown: Page, items: Any, truth: dict[str, str], n: int) -> None:
    for _ in range(n):
        label = truth[items.text(shown.item())]
        shown.answer(str(1 + LABELS.index(label)))


def compare(session: Session, test: Sequence[dict[str, str]]) -> None:
    """Accuracy of the model, and of another one that has learnt the same answers."""
    texts, labels = zip(*[(session.items.text(s.item), s.label) for s in session.lessons()],
                        strict=True)  # fmt: skip
    other = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(texts, labels)
    X, y = [r["text"] for r in test], [r["domain"] for r in test]
    print(f"{len(texts)} answers: accuracy {session.learner.model.score(X, y):.1%} on {len(X):,} "
          f"other reviews, LogisticRegression {other.score(X, y):.1%}")  # fmt: skip


def label_spans(folder: Path) -> None:
    """The picture of a sentence."""
    path = folder / "sentences.conll"
    path.write_text("\n\n".join(s.replace(" ", "\n") for s, _ in SENTENCES) + "\n")
    with Store(folder / "s.db") as store:
        tags = span_tags(["PER", "LOC", "ORG"])
        session = Session(read_sentences(path), store, tags, kind="tags", explore=0.0)
        for item, (_, given) in enumerate(SENTENCES[:-1]):
            session.choose("Ann", item)
            session.answer("Ann", item, given.split())
        with page(session, height=640) as shown:
            shown.press("\ue011", "o", "\ue014", "2", "\ue014")  # home; right, twice
            shown.extend("\ue014")
            shown.press("1")
            shown.save("tutorial/label_spans.png")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        label_reviews(Path(folder))
        label_spans(Path(folder))


if __name__ == "__main__":
    main()
