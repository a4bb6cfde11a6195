"""Files: reads files, streams and frames in batches; must not know estimators.

`batches` returns a `Source` of labelled records; `sentences` returns one of tagged sentences, from
files with one token a line; `groups` returns one of candidates to be ranked.
"""

from surelearn._check import BadInput
from surelearn.read._batch import Batch, Groups, Place, Sentences, Source
from surelearn.read._column_table import ColumnTable
from surelearn.read._files import STDIN_NAME, Stamp
from surelearn.read._groups import groups
from surelearn.read._labels import Labels, spans_of
from surelearn.read._remote import is_waiting
from surelearn.read._sentences import is_known, sentences
from surelearn.read._source import GROUP_FORMATS, batches, formats_by_extension
from surelearn.read._withheld import Withheld

__all__ = [
    "GROUP_FORMATS",
    "STDIN_NAME",
    "BadInput",
    "Batch",
    "ColumnTable",
    "Groups",
    "Labels",
    "Place",
    "Sentences",
    "Source",
    "Stamp",
    "Withheld",
    "batches",
    "formats_by_extension",
    "groups",
    "is_known",
    "is_waiting",
    "sentences",
    "spans_of",
]
