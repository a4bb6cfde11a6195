"""Files of small models, taken apart and put together again with a checksum that is right."""

from __future__ import annotations

import hashlib
import io
import json
import struct
from pathlib import Path

import numpy as np
from safetensors.numpy import load as arrays_in
from safetensors.numpy import save as container_of

from surelearn import (
    FormatError,
    MulticlassSVM,
    SoftmaxClassifier,
    SureClassifier,
    SureTagger,
    SureTextClassifier,
    load,
)

MODELS = Path(__file__).parent / "data" / "models"


def taken_apart(whole):
    """Header of a file, and the bytes of its tensors without the checksum."""
    (length,) = struct.unpack("<Q", whole[:8])
    header, body = json.loads(whole[8 : 8 + length]), whole[8 + length :]
    if "checksum" in header:
        body = body[: header.pop("checksum")["data_offsets"][0]]
    return header, body


def put_together(header, body):
    """A file with this header, as it is but for the checksum."""
    end = [len(body), len(body) + 32]
    header = {**header, "checksum": {"dtype": "U8", "shape": [32], "data_offsets": end}}
    text = json.dumps(header).encode()
    before = struct.pack("<Q", len(text)) + text + body
    return before + hashlib.sha256(before).digest()


def settings_of(whole):
    header, _ = taken_apart(whole)
    return json.loads(header["__metadata__"]["surelearn"])


def with_settings(whole, settings):
    """The file with other settings."""
    header, body = taken_apart(whole)
    text = settings if isinstance(settings, str) else json.dumps(settings, sort_keys=True)
    header["__metadata__"]["surelearn"] = text
    return put_together(header, body)


def damaged_settings(whole):
    """The file with one setting left out, or wrong in one of ten ways, for each of its settings."""
    for place in list(_places(settings_of(whole))):
        settings = settings_of(whole)
        inner = settings
        for key in place[:-1]:
            inner = inner[key]
        value = inner.pop(place[-1])
        yield with_settings(whole, settings)
        for wrong in [None, -1, 1e400, "x", [], {}, [value], True, 2**70, "\x00"]:
            inner[place[-1]] = wrong
            yield with_settings(whole, settings)


def _places(settings, at=()):
    for key, value in settings.items():
        yield (*at, key)
        if isinstance(value, dict):
            yield from _places(value, (*at, key))


def tensors_of(whole):
    """Arrays that can be changed."""
    return {k: v.copy() for k, v in arrays_in(whole).items() if k != "checksum"}


def with_tensors(whole, tensors):
    """The file with other tensors."""
    metadata = taken_apart(whole)[0]["__metadata__"]
    return put_together(*taken_apart(container_of(tensors, metadata=metadata)))


def change_settings(path, change):
    """Call a function on the settings of a file, and write what they then are."""
    whole = Path(path).read_bytes()
    settings = settings_of(whole)
    change(settings)
    Path(path).write_bytes(with_settings(whole, settings))


def change_tensors(path, change):
    """Call a function on the tensors of a file, and write what they then are."""
    whole = Path(path).read_bytes()
    tensors = tensors_of(whole)
    change(tensors)
    Path(path).write_bytes(with_tensors(whole, tensors))


def content(model):
    """The bytes of the file of a model."""
    file = io.BytesIO()
    model.save(file)
    return file.getvalue()


def classifier():
    clf = SureClassifier("arow", class_weight={"a": 2.0}, passes=2, random_state=0, scale=False)
    return clf.fit(np.eye(3), ["a", "b", "c"])


def text_classifier():
    text = SureTextClassifier(
        n_features=64, ngram_range=(1, 2), stop_words=["the"], passes=1, random_state=0
    )
    return text.fit(["a fine film", "a dull film"], [0, 1])


def tagger():
    return SureTagger(templates=["w[0]", "B:w[0]"], passes=1).fit([["a", "b"]], [["A", "B"]])


def softmax():
    return SoftmaxClassifier(class_weight={"a": 2.0}).fit(np.eye(3), ["a", "b", "c"])


def svm():
    return MulticlassSVM(cost=1 - np.eye(2), random_state=0).fit(np.eye(2), [0, 1])


KINDS = {
    "classifier": classifier,
    "texts": text_classifier,
    "tagger": tagger,
    "softmax": softmax,
    "svm": svm,
}


def refused(data):
    """Whether `load` says that it is no file of ours; anything else that it says is a fault."""
    try:
        model = load(io.BytesIO(data), max_bytes=2**26)
    except FormatError:
        return True
    model.get_params()
    content(model)  # a model that can be saved
    return False
