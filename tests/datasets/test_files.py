"""Data files are found in the folder that SURELEARN_DATA names."""

from __future__ import annotations

import pytest

from surelearn.datasets import find


def test_a_file_is_found(tmp_path, monkeypatch):
    monkeypatch.setenv("SURELEARN_DATA", str(tmp_path))
    (tmp_path / "a.xz").write_bytes(b"")
    assert find("a.xz") == tmp_path / "a.xz"


def test_a_missing_folder_and_a_missing_file_are_named(tmp_path, monkeypatch):
    monkeypatch.setenv("SURELEARN_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"must name a folder with a\.xz, got "):
        find("a.xz")
    monkeypatch.delenv("SURELEARN_DATA")
    with pytest.raises(FileNotFoundError, match=r"must name the folder with a\.xz, got nothing"):
        find("a.xz")
