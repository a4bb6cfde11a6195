"""The page to label in: texts, sentences and tables, several people, one SQLite file.

`read_texts`, `read_sentences` and `read_table` read a pool, `Store` keeps the log of events,
`Session` makes questions of both, and `application` is the web page. The command ``surelearn
label`` joins them.
"""

from surelearn.label.items import Items, read_sentences, read_table, read_texts
from surelearn.label.session import Session
from surelearn.label.store import Event, NotSaved, Store

__all__ = [
    "Event",
    "Items",
    "NotSaved",
    "Session",
    "Store",
    "read_sentences",
    "read_table",
    "read_texts",
]
