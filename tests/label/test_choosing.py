from __future__ import annotations

import re
from pathlib import Path

from surelearn import label
from surelearn.label.choosing import hue_of, key_of, label_search
from surelearn.learners.explain.highlight import COLOURS, line_of, rgb


def test_ten_labels_have_keys_and_more_are_searched():
    assert [key_of(i) for i in (0, 8, 9, 10)] == ["1", "9", "0", None]
    assert label_search(10) is None
    assert 'id="find-label"' in str(label_search(11))


def test_the_page_has_the_colours_of_the_plots():
    style = (Path(label.__file__).parent / "static" / "style.css").read_text()
    for place, colour in enumerate(COLOURS):
        hue = hue_of(place)
        assert re.search(
            rf"^\.{hue}, \[data-hue=\"{hue}\"\] {{ --label: {rgb(colour)}; "
            rf"--line: {line_of(place)}; }}$",
            style,
            re.MULTILINE,
        )
    assert hue_of(len(COLOURS)) == hue_of(0)
    assert ".none," in style
