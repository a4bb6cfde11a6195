"""Room 1, files: records from files, streams and frames, in batches; must not know estimators.

`batches` is the one function: it takes whatever holds the records and gives a `Source`.
"""

from surelearn._check import BadInput
from surelearn.read._batch import Batch, Labels, Place, Source
from surelearn.read._files import STDIN_NAME
from surelearn.read._source import batches

__all__ = ["STDIN_NAME", "BadInput", "Batch", "Labels", "Place", "Source", "batches"]
