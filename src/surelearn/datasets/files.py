"""Where data sets are on disk; must not know what is in them."""

from __future__ import annotations

import os
from pathlib import Path

#: The environment variable with the folder of data sets.
VARIABLE = "SURELEARN_DATA"


def find(name: str) -> Path:
    """The path of a data file.

    It is looked for in the folder that the environment variable ``SURELEARN_DATA`` names.

    Parameters
    ----------
    name : str
        Such as ``"20news-18828.jsonl.xz"`` or ``"conll2000/train.txt.xz"``.

    Returns
    -------
    Path

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    """
    folder = os.environ.get(VARIABLE)
    if folder is None:
        raise FileNotFoundError(f"{VARIABLE} must name the folder with {name}, got nothing.")
    path = Path(folder) / name
    if not path.exists():
        raise FileNotFoundError(f"{VARIABLE} must name a folder with {name}, got {folder}.")
    return path
