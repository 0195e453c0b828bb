"""Small files, whole."""

from __future__ import annotations

import os
import tempfile
from typing import Union

from ._errors import FileError

Path = Union[str, "os.PathLike[str]"]


def read(path: Path) -> bytes:
    """The content of a file."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except (OSError, ValueError) as error:
        raise _said(path, error) from None


def write(path: Path, text: str) -> None:
    """Writes a file at once: whoever reads it finds what was there before, or all of it."""
    folder, name = os.path.split(os.path.realpath(path))
    try:
        handle, made = tempfile.mkstemp(prefix=f".{name}.", dir=folder)
    except (OSError, ValueError) as error:
        raise _said(path, error) from None
    try:
        with open(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        # As open() would have made it; mkstemp lets nobody else read it.
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(made, 0o666 & ~mask)
        os.replace(made, path)
    except BaseException as error:
        os.unlink(made)
        if isinstance(error, OSError):
            raise _said(path, error) from None
        raise


def _said(path: Path, error: Exception) -> FileError:
    name = os.fspath(path)
    what = getattr(error, "strerror", None) or str(error)
    return FileError(f"{name}: {what}", name)
