"""Tables, pages and claims as files."""

from __future__ import annotations

from experiments.papers import Claim, Entry, pages


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


def test_an_entry_has_its_tables_claims_and_pictures_on_a_page(tmp_path):
    draw = lambda rows, folder: (folder / "figure.png").write_bytes(b"")  # noqa: E731
    rows = [{"a": "1", "b": "x"}, {"a": "2", "b": "y"}]
    claims = pages.write_entry(entry(draw=draw), rows, tmp_path)
    assert [claim.verdict for claim in claims] == ["held", "not decided"]
    assert pages.read_csv(tmp_path / "table1.csv") == rows
    assert pages.read_csv(tmp_path / "table2.csv") == rows[:1]
    page = (tmp_path / "README.md").read_text()
    assert page.startswith("# A title\n\nNew York University")
    assert "What was done." in page
    assert "![figure](figure.png)" in page
    assert "| a | b |\n| --- | --- |\n| 1 | x |\n| 2 | y |\n" in page
    assert "| It is so. | 1 | 2 | +3 | 1 | **held** |" in page
    assert "- It is not. Since." in page


def test_the_index_has_all_claims_of_the_folder_by_document(tmp_path):
    for name in ("stdev-b", "lecture-one", "stdev-a"):
        (tmp_path / name).mkdir()
        pages.write_entry(entry(name), [{"a": "1"}], tmp_path / name)
    pages.write_index(tmp_path, quick=True)
    lines = pages.read_csv(tmp_path / "claims.csv")
    assert [line["entry"] for line in lines[::2]] == ["stdev-a", "stdev-b", "lecture-one"]
    page = (tmp_path / "README.md").read_text()
    assert page.index("## Crammer, Dredze & Pereira 2008") < page.index("## New York University")
    assert "| [a](stdev-a/README.md) | It is so. | 1 | 2 | +3 | 1 | **held** |" in page
    assert "`python -m experiments.papers --quick`" in page


def test_an_entry_without_claims_has_an_empty_list(tmp_path):
    one = Entry(
        name="lecture-none", title="", cases=lambda quick: {}, tables=lambda rows: {"All": rows}
    )
    assert pages.write_entry(one, [{"a": 1}], tmp_path) == ()
    assert pages.read_csv(tmp_path / "claims.csv") == []
