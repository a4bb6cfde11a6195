"""Sources of data files: what is downloaded whole, and what every source tells."""

from __future__ import annotations

import pytest

from serving import serving
from surelearn.datasets.sources import SOURCES, download


def test_all_that_a_server_has_is_downloaded(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    content = bytes(range(256)) * 5000
    with serving({"a": content}) as (address, _):
        assert download(f"{address}/a") == content


@pytest.mark.parametrize("name", SOURCES)
def test_every_source_has_authors_and_a_year(name):
    assert SOURCES[name].title.rstrip(")")[-4:].isdigit() or "(" in SOURCES[name].title
    assert SOURCES[name].layout
    assert SOURCES[name].address.startswith(("https://", "http://", "sklearn.datasets."))


def test_checksums_are_of_the_files_that_are_asked_for():
    for name, source in SOURCES.items():
        if source.checksums:
            assert name in source.checksums
