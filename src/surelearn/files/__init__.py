"""Files: writes and reads model files; must not know estimators.

docs/format.md specifies the format: a safetensors container whose metadata has one entry,
``surelearn``, a JSON text, and whose last tensor is a checksum. Nothing in a file is ever executed.
"""

from surelearn.files._codecs import Codec, load, register, save
from surelearn.files._container import Tensors
from surelearn.files._fields import Fields
from surelearn.files._paths import (
    FORMAT_VERSION,
    Arrays,
    File,
    check_appendable,
    check_writable,
    read,
    settings,
    write,
)

__all__ = [
    "FORMAT_VERSION",
    "Arrays",
    "Codec",
    "Fields",
    "File",
    "Tensors",
    "check_appendable",
    "check_writable",
    "load",
    "read",
    "register",
    "save",
    "settings",
    "write",
]
