from __future__ import annotations

import pytest

from labelling import answer, session
from surelearn.label.rebuild import leave_mark, rebuilt


@pytest.mark.slow
def test_the_log_leads_to_the_same_bytes(tmp_path):
    found = session(tmp_path)
    answer(found, n=12)
    found.undo("ann")
    found.change("bob", answer(found)[0], "good")
    leave_mark(found)
    answer(found, n=3)  # after the mark, as when a process is killed
    found.store.close()
    proof = rebuilt(session(tmp_path))
    assert proof.n_labels == 12
    assert proof.n_bytes > 1000


def test_another_log_is_noticed(tmp_path):
    found = session(tmp_path)
    answer(found, n=6)
    leave_mark(found)
    sound = found.store.events()
    found.store._db.execute("DELETE FROM events")
    found.store.append(
        *(e._replace(value={**e.value, "label": "bad"}) if e.kind == "answer" else e for e in sound)
    )
    found.store.close()
    with pytest.raises(ValueError, match="the ledger must be rebuilt to the same bytes"):
        rebuilt(session(tmp_path))


def test_a_store_without_answers_proves_nothing(tmp_path):
    with pytest.raises(ValueError, match="must have answers to compare, got none"):
        rebuilt(session(tmp_path))


def test_a_page_killed_before_its_first_checksum_says_so(tmp_path):
    found = session(tmp_path)
    answer(found, n=3)
    with pytest.raises(ValueError, match="got 3, but it was killed before its first checksum"):
        rebuilt(found)
