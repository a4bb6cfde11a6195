from __future__ import annotations

from surelearn.label.choosing import key_of, label_search


def test_ten_labels_have_keys_and_more_are_searched():
    assert [key_of(i) for i in (0, 8, 9, 10)] == ["1", "9", "0", None]
    assert label_search(10) is None
    assert 'id="find-label"' in str(label_search(11))
