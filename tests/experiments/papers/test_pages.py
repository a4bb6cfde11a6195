"""Tables, pages and claims as files."""

from __future__ import annotations

import pytest

from experiments.papers import DOCUMENTS, Claim, Entry, entries, pages


def entry(name="lecture-one", **more):
    return Entry(
        name=name,
        title="A title",
        cases=lambda quick: {},
        tables=lambda rows: {"First": rows, "Second": rows[:1]},
        claims=lambda rows: [
            Claim(text="It is so.", theirs="1", ours="2", lead=3.0, error=1.0),
            Claim(text="It is not.", theirs="1", ours="2", lead=0.1, error=1.0, note="Since."),
        ],
        notes="What was done.",
        **more,
    )


def write(one, rows, folder):
    (folder / one.name).mkdir(exist_ok=True)
    return pages.write_entry(one, rows, folder)


def test_an_entry_has_its_tables_claims_and_pictures_on_a_page(tmp_path):
    draw = lambda rows, folder: (folder / "figure.png").write_bytes(b"")  # noqa: E731
    rows = [{"a": "1", "b": "x"}, {"a": "2", "b": "y"}]
    claims = write(entry(draw=draw), rows, tmp_path)
    assert [claim.verdict for claim in claims] == ["held", "not decided"]
    assert pages.read_csv(tmp_path / "lecture-one" / "table1.csv") == rows
    assert pages.read_csv(tmp_path / "lecture-one" / "table2.csv") == rows[:1]
    page = (tmp_path / "lecture.md").read_text()
    assert page.startswith("# New York University")
    assert "\n\n## A title\n\nEntry `lecture-one`.\n\nWhat was done.\n\n" in page
    assert "![figure](lecture-one/figure.png)" in page
    assert "| a | b |\n| --- | --- |\n| 1 | x |\n| 2 | y |\n" in page
    assert "| It is so. | 1 | 2 | +3 | 1 | **held** |" in page
    assert "- It is not. Since." in page


def test_the_index_has_all_claims_of_the_folder_by_document(tmp_path):
    for name in ("stdev-kernel", "lecture-one", "stdev-a"):
        write(entry(name), [{"a": "1"}], tmp_path)
    pages.write_index(tmp_path, quick=True)
    lines = pages.read_csv(tmp_path / "claims.csv")
    assert [line["entry"] for line in lines[::2]] == ["stdev-a", "stdev-kernel", "lecture-one"]
    page = (tmp_path / "README.md").read_text()
    assert page.index("## Crammer, Dredze & Pereira 2008") < page.index("## New York University")
    for where, link in (("a", "stdev.md"), ("kernel", "stdev.md#theorem-2-the-kernel-form")):
        assert f"| [{where}]({link}) | It is so. | 1 | 2 | +3 | 1 | **held** |" in page
    assert "`python -m experiments.papers --quick`" in page


def test_an_entry_without_claims_has_an_empty_list(tmp_path):
    one = Entry(
        name="lecture-none", title="", cases=lambda quick: {}, tables=lambda rows: {"All": rows}
    )
    assert write(one, [{"a": 1}], tmp_path) == ()
    assert pages.read_csv(tmp_path / "lecture-none" / "claims.csv") == []


def test_a_page_has_the_sections_of_a_document_in_the_order_of_its_entries(tmp_path):
    names = [one.name for one in entries("lecture")]
    for name in [*reversed(names), "lecture-other"]:
        write(entry(name), [{"a": name}], tmp_path)
    before = pages.sections((tmp_path / "lecture.md").read_text())
    assert list(before) == [*names, "lecture-other"]
    write(entry(names[1]), [{"a": "new"}], tmp_path)
    after = pages.sections((tmp_path / "lecture.md").read_text())
    assert list(after) == list(before)
    assert [name for name in after if after[name] != before[name]] == [names[1]]
    assert "| new |" in after[names[1]]


def test_notes_link_to_other_entries_by_name(tmp_path):
    one = entry("stdev-a")
    linked = Entry(**{**vars(one), "notes": "See [there](stdev-kernel) and [here](https://x.org)."})
    write(linked, [{"a": "1"}], tmp_path)
    page = (tmp_path / "stdev.md").read_text()
    assert "See [there](stdev.md#theorem-2-the-kernel-form) and [here](https://x.org)." in page


@pytest.mark.parametrize("document", DOCUMENTS)
def test_addresses_of_a_page_differ(document):
    names = [entry.name for entry in entries(document)]
    assert len({pages.address(name) for name in names}) == len(names)
