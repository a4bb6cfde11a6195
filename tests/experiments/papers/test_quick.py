"""All entries in quick mode on real data, and the committed pages beside their tables."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from experiments.papers import DOCUMENTS, chosen, entries, pages, reproduce
from experiments.papers.registry import document_of

FULL = Path(__file__).parents[3] / "experiments" / "reproduced"


def committed():
    """The claims of the full run, by document."""
    found = {document: [] for document in DOCUMENTS}
    for line in pages.read_csv(FULL / "claims.csv"):
        found[document_of(line["entry"])].append(line)
    return found


def test_the_page_has_what_the_command_has_written():
    text = (FULL / "README.md").read_text(encoding="utf-8")
    assert text == pages.index(committed(), quick=False), "run 'make papers'"


def test_the_page_has_every_entry_with_its_files():
    by_entry = defaultdict(list)
    for lines in committed().values():
        for line in lines:
            by_entry[line["entry"]].append(line)
    for name in chosen():
        assert pages.read_csv(FULL / name / "claims.csv") == by_entry[name]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_page_of_a_document_has_all_of_its_entries(document):
    text = (FULL / f"{document}.md").read_text(encoding="utf-8")
    found = pages.sections(text)
    assert list(found) == [entry.name for entry in entries(document)]
    assert text == pages.document_page(document, found), "run 'make papers'"
    for entry in entries(document):
        section, folder = found[entry.name], FULL / entry.name
        assert section.startswith(f"## {entry.title}\n\nEntry `{entry.name}`.\n\n")
        assert pages.with_links(entry.notes) in section
        tables = sorted(folder.glob("table*.csv"))
        assert tables
        for path in tables:
            assert pages.table(pages.read_csv(path)) in section
        for path in folder.glob("*.png"):
            assert f"![{path.stem}]({entry.name}/{path.name})" in section
        for line in pages.read_csv(folder / "claims.csv"):
            assert f"| {line['claim']} | {line['paper']} | {line['ours']} | " in section
            assert line["note"] in section


def test_links_lead_to_sections():
    text = (FULL / "README.md").read_text(encoding="utf-8")
    for entry in chosen().values():
        assert f"({pages.address(entry.name)})" in text
    for page in FULL.glob("*.md"):
        for target, anchor in re.findall(r"\]\((\w+\.md)(?:#([\w-]+))?\)", page.read_text()):
            titles = re.findall(r"^## (.*)$", (FULL / target).read_text(), re.MULTILINE)
            kept = [re.sub(r"[^\w\- ]", "", title.lower()) for title in titles]
            assert not anchor or anchor in [title.replace(" ", "-") for title in kept]


def clear_side(lead, error):
    """Of a lead beyond three standard errors; those of the few tasks of quick mode are rough."""
    return 0 if abs(lead) <= 3 * error else np.sign(lead)


@pytest.mark.slow
@pytest.mark.parametrize("document", DOCUMENTS)
def test_quick_mode_contradicts_no_verdict_of_the_full_run(document, tmp_path, data_folder):
    """Few rows may leave a claim open; identities are decided by any number of rows."""
    before = {(line["entry"], line["claim"]): line for line in committed()[document]}
    found = reproduce([document], folder=tmp_path, quick=True)
    for name, entry in chosen([document]).items():
        assert list((tmp_path / name).glob("table*.csv"))
        for claim in found[name]:
            line = before[name, claim.text]
            then = clear_side(float(line["lead"]), float(line["standard error"]))
            if entry.is_timed:  # other tests run at the same time
                continue
            if claim.error == 0:
                assert claim.verdict == line["verdict"], (name, claim)
            assert clear_side(claim.lead, claim.error) * then >= 0, (name, claim, line)
