"""Room 1, files: records from files, streams and frames, in batches; must not know estimators.

`batches` takes whatever holds the records and gives a `Source`; `sentences` does for files with a
word a line.
"""

from surelearn._check import BadInput
from surelearn.read._batch import Batch, Labels, Place, Sentences, Source
from surelearn.read._files import STDIN_NAME
from surelearn.read._sentences import is_known, sentences
from surelearn.read._source import batches, told_formats

__all__ = [
    "STDIN_NAME",
    "BadInput",
    "Batch",
    "Labels",
    "Place",
    "Sentences",
    "Source",
    "batches",
    "is_known",
    "sentences",
    "told_formats",
]
