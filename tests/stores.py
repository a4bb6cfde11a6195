"""Tables of texts and labels, written to files of every kind."""

from __future__ import annotations

import pyarrow as pa
from pyarrow import feather, parquet

TEXTS = [
    pa.string(),
    pa.large_string(),
    pa.string_view(),
    pa.binary(),
    pa.dictionary(pa.int8(), pa.string()),
    pa.dictionary(pa.int32(), pa.large_string()),
]


def table_of(pairs, text=None):
    texts = pa.array([text for text, _ in pairs])
    labels = pa.array([label for _, label in pairs])
    return pa.table({"label": labels, "other": [[1]] * len(pairs), "text": as_type(texts, text)})


def as_type(texts, type_):
    if type_ is None:
        return texts
    if pa.types.is_dictionary(type_):
        return texts.dictionary_encode().cast(type_)
    return texts.cast(type_)


def write_parquet(table, path):
    if "string_view" in str(table.schema):
        table = table.set_column(2, "text", table["text"].cast(pa.string()))
    parquet.write_table(table, path, row_group_size=5)


def write_stream(table, path):
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=5)


def write_file(table, path):
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table.unify_dictionaries(), max_chunksize=5)


FILES = {
    "parquet": ("a.parquet", write_parquet),
    "stream": ("a.arrow", write_stream),
    "file": ("a.ipc", write_file),
    "feather": ("a.feather", lambda table, path: feather.write_feather(table, str(path))),
}
