"""Files of models taken apart and put together again, with a checksum that is right."""

from __future__ import annotations

import hashlib
import json
import struct
from pathlib import Path

from safetensors.numpy import load as arrays_in
from safetensors.numpy import save as container_of


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
