"""Filesystems of Arrow and fsspec; must not know what is in the files.

Any call may wait for a network. A library that waits outside of Python in the main thread keeps
Python from handling signals: one address of gs:// was deaf to Ctrl-C for 15 minutes. So another
thread makes the calls, and the main thread waits for it in short steps.
"""

from __future__ import annotations

import re
import threading
from _thread import start_new_thread
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import metadata
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, TypeVar

from surelearn import _check
from surelearn._check import BadInput, Unreachable

R = TypeVar("R")

#: Seconds after which a server that does not answer is given up.
TIMEOUT = 30.0

#: Seconds for which Arrow tries again to reach gs://; its own default is 15 minutes.
_RETRY = 20

#: Seconds of a wait, before Python may handle a signal.
_PATIENCE = 0.1

#: Calls under way, in any thread.
_calls: list[object] = []


def is_waiting() -> bool:
    """Whether a thread still waits for a filesystem, maybe one that Ctrl-C has left behind.

    Examples
    --------
    >>> is_waiting()
    False
    """
    return bool(_calls)


def awaited(call: Callable[[], R]) -> R:
    """The result of a call that may wait for a network; Ctrl-C ends the wait, not the call."""
    if threading.current_thread() is not threading.main_thread():
        return _count_call(call)  # the main thread waits for this one, and handles signals
    found: SimpleQueue[Callable[[], R]] = SimpleQueue()

    def work() -> None:
        try:
            result = _count_call(call)
        except BaseException as error:
            failed = error
            found.put(lambda: _fail(failed))
        else:
            found.put(lambda: result)

    start_new_thread(work, ())  # does not keep the process alive
    while True:
        with suppress(Empty):
            return found.get(timeout=_PATIENCE)()


def _count_call(call: Callable[[], R]) -> R:
    mark = object()
    _calls.append(mark)
    try:
        return call()
    finally:
        _calls.remove(mark)


def _fail(error: BaseException) -> Any:
    raise error


class Info(NamedTuple):
    """What is at a path: whether a folder, its bytes, when it was written in nanoseconds."""

    is_folder: bool
    size: int | None
    written: int | None


class Remote(ABC):
    """A filesystem, remote or not.

    Parameters
    ----------
    filesystem : filesystem of pyarrow or fsspec
    scheme : str
        Put before the paths in errors, as in ``s3://``; empty if there is none.
    """

    def __init__(self, filesystem: Any, scheme: str = "") -> None:
        self._filesystem = filesystem
        self._scheme = scheme

    def info(self, path: str) -> Info:
        """What is at a path; FileNotFoundError if there is nothing."""
        with self._worded(path):
            return awaited(lambda: self._info(path))

    def listed(self, path: str) -> list[str]:
        """Names of the files in a folder."""
        with self._worded(path):
            return awaited(lambda: self._listed(path))

    def open(self, path: str) -> RemoteFile:
        """Open a file to be read."""
        with self._worded(path):
            return RemoteFile(awaited(lambda: self._open(path)), lambda: self._worded(path))

    @abstractmethod
    def _info(self, path: str) -> Info: ...

    @abstractmethod
    def _listed(self, path: str) -> list[str]: ...

    @abstractmethod
    def _open(self, path: str) -> Any: ...

    @contextmanager
    def _worded(self, path: str) -> Iterator[None]:
        """Raise one line for what a filesystem raises, which may be anything."""
        name = path if "://" in path else self._scheme + path
        try:
            yield
        except FileNotFoundError as error:
            raise FileNotFoundError(f"{name} must be a file, got none{_why(error)}.") from None
        except Exception as error:
            raise Unreachable(
                f"{name} must be a file that can be read, got {said(error)}"
            ) from error


class ArrowFiles(Remote):
    """A filesystem of Arrow."""

    def _info(self, path: str) -> Info:
        info = self._filesystem.get_file_info(path)
        if info.type.name == "NotFound":
            raise FileNotFoundError(path)
        return Info(info.type.name == "Directory", info.size, info.mtime_ns)

    def _listed(self, path: str) -> list[str]:
        from pyarrow import fs

        found = self._filesystem.get_file_info(fs.FileSelector(path))
        return [info.base_name for info in found if info.type == fs.FileType.File]

    def _open(self, path: str) -> Any:
        return self._filesystem.open_input_file(path)


class FsspecFiles(Remote):
    """A filesystem of fsspec."""

    def _info(self, path: str) -> Info:
        info = self._filesystem.info(path)
        written = info.get("mtime")  # seconds, or nothing: each filesystem has a word of its own
        nanoseconds = int(written * 1e9) if isinstance(written, int | float) else None
        return Info(info["type"] == "directory", info.get("size"), nanoseconds)

    def _listed(self, path: str) -> list[str]:
        found = self._filesystem.ls(path, detail=True)
        return [info["name"].rpartition("/")[2] for info in found if info["type"] == "file"]

    def _open(self, path: str) -> Any:
        return self._filesystem.open(path, "rb")


class RemoteFile:
    """An open file whose waits end at Ctrl-C."""

    def __init__(self, file: Any, worded: Callable[[], Any]) -> None:
        self._file = file
        self._worded = worded

    def read(self, size: int = -1) -> bytes:
        with self._worded():
            return bytes(awaited(lambda: self._file.read(size)))

    def seek(self, at: int, whence: int = 0) -> int:
        with self._worded():
            self._file.seek(at, whence)
            return int(self._file.tell())

    def tell(self) -> int:
        return int(self._file.tell())

    @property
    def closed(self) -> bool:
        """Whether the file is closed."""
        return bool(self._file.closed)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def writable(self) -> bool:
        return False

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> RemoteFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def connected(uri: str) -> tuple[Remote, str]:
    """The filesystem and the path of a URL; fsspec's filesystem where Arrow has none."""
    scheme = uri.partition("://")[0]
    who = f"reading {scheme}://"
    _check.need(who, "pyarrow", "files")
    try:
        kind, filesystem, path = awaited(lambda: _connect(uri, who))
    except (BadInput, ImportError):
        raise
    except Exception as error:
        raise Unreachable(
            f"{uri} must be an address that can be read, got {said(error)}"
        ) from error
    return kind(filesystem, f"{scheme}://"), path


def _connect(uri: str, who: str) -> tuple[type[Remote], Any, str]:
    from pyarrow import ArrowInvalid, ArrowNotImplementedError, fs

    try:
        return ArrowFiles, *fs.FileSystem.from_uri(_limit_retries(uri))
    except ImportError as error:  # Arrow asks fsspec for hf://
        raise _missing(who, error) from error
    except (ArrowInvalid, ArrowNotImplementedError):
        _check.need(who, "fsspec", "files")
    import fsspec

    settings = _settings(uri, who)
    try:
        return FsspecFiles, *fsspec.core.url_to_fs(uri, **settings)
    except ImportError as error:
        raise _missing(who, error) from error
    except ValueError as error:
        raise BadInput(
            f"source must be an address that can be read, got {uri!r}: {error}"
        ) from None


def _limit_retries(uri: str) -> str:
    """The URL with a limit to the time in which Arrow tries to reach gs:// again."""
    if not uri.startswith(("gs://", "gcs://")) or "retry_limit_seconds=" in uri:
        return uri
    return f"{uri}{'&' if '?' in uri else '?'}retry_limit_seconds={_RETRY}"


def _settings(uri: str, who: str) -> dict[str, Any]:
    """How fsspec waits for servers: for each answer and each part of it, not for the whole."""
    schemes = [scheme for scheme in ("http", "https") if f"{scheme}://" in uri]
    if not schemes:
        return {}
    _check.need(who, "aiohttp", "files")
    import aiohttp

    timeout = aiohttp.ClientTimeout(total=None, sock_connect=TIMEOUT, sock_read=TIMEOUT)
    return {scheme: {"client_kwargs": {"timeout": timeout}} for scheme in schemes}


def _missing(who: str, error: ImportError) -> ImportError:
    """The error for a package that one of fsspec's filesystems needs and no extra of ours has."""
    scheme = who.removeprefix("reading ").removesuffix("://")
    package = getattr(error.__cause__, "name", None) or error.name or "another package"
    extras = metadata("fsspec").get_all("Provides-Extra") or []
    wanted = f"'fsspec[{scheme}]'" if scheme in extras else package
    return ImportError(f"{who} needs {package}, got none. Run: pip install {wanted}")


def as_remote(filesystem: Any) -> Remote:
    """A filesystem that a user gives."""
    _check.need("filesystem", "pyarrow", "files")
    from pyarrow import fs

    if isinstance(filesystem, fs.FileSystem):
        return ArrowFiles(filesystem)
    if not hasattr(filesystem, "info"):
        raise TypeError(
            f"filesystem must be one of pyarrow or fsspec, got {type(filesystem).__name__}."
        )
    return FsspecFiles(filesystem)


def _why(error: FileNotFoundError) -> str:
    """What lies behind the error, if its filesystem says more than the path."""
    return "" if error.__cause__ is None else f": {said(error.__cause__).rstrip('.')}"


def said(error: BaseException) -> str:
    """The message of a library as one line, without what only its authors understand."""
    text = " ".join(str(error).split())
    if not text:
        text = "no answer in time" if isinstance(error, TimeoutError) else type(error).__name__
    text = re.sub(r"^google::cloud::Status\((.*?)(?: error_info=.*)?\)$", r"\1", text)
    return text if text.endswith(".") else f"{text}."
