"""Results as files: written and read again."""

from __future__ import annotations

from experiments import tables


def test_a_result_has_the_columns_of_all_lines_in_their_order(tmp_path):
    path = tmp_path / "result.csv"
    tables.save(path, [{"set": "é", "risk": 0.1}, {"set": "b", "labels": 2, "risk": ""}])
    assert path.read_bytes().decode() == "set,risk,labels\né,0.1,\nb,,2\n"
    assert tables.lines(path)[1] == {"set": "b", "risk": "", "labels": "2"}
