"""The file of a backup: gzip of lines of JSON, a header first, a trailer with a checksum last.

    {"format": "penstock-backup", "version": 1, "created_at": …, "migrations": {…}, …}
    {"model": "tenants.tenant", "pk": …, "fields": {…}}        one line a row
    {"rows": {"tenants.tenant": 2, …}, "sha256": "…"}          of all bytes before this line

It knows no database: a line is text. A file that was cut short, or in which one bit changed, is
refused before a single row of it is used.
"""

import gzip
import hashlib
import json
import os
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FORMAT, VERSION = "penstock-backup", 1
# A line is one row; the longest are plans of large rebalances.
LINE_MAX_BYTES = 256 * 1024 * 1024


class ArchiveError(Exception):
    """The file is no backup, or not a whole one."""


class Writer:
    """Lines into the file, counted and hashed on the way."""

    def __init__(self, stream: gzip.GzipFile) -> None:
        self._stream = stream
        self._hash = hashlib.sha256()
        self.rows: Counter[str] = Counter()

    def header(self, values: dict[str, Any]) -> None:
        self._line(json.dumps({"format": FORMAT, "version": VERSION, **values}))

    def row(self, model: str, line: str) -> None:
        self._line(line)
        self.rows[model] += 1

    def trailer(self) -> None:
        text = json.dumps({"rows": self.rows, "sha256": self._hash.hexdigest()})
        self._stream.write(text.encode() + b"\n")

    def _line(self, text: str) -> None:
        data = text.encode() + b"\n"
        self._hash.update(data)
        self._stream.write(data)


@contextmanager
def written(path: Path) -> Iterator[Writer]:
    """A writer of `path`, which is there, whole and on the disk, when the block has ended.

    Only its owner may read it: it holds hashes of passwords and sealed secrets. A block that
    raises leaves no file, and a file that was there before as it was.
    """
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as raw:
            with gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as stream:
                writer = Writer(stream)
                yield writer
                writer.trailer()
            raw.flush()
            os.fsync(raw.fileno())
        Path(name).replace(path)
        _sync_folder(path.parent)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def checked(path: Path) -> tuple[dict[str, Any], dict[str, int]]:
    """The header, and the rows by model, of a file that is whole.

    Raises:
        ArchiveError: it is not.
    """
    digest, rows = hashlib.sha256(), Counter[str]()
    header: dict[str, Any] | None = None
    last = b""
    for line in _lines(path):
        if last:
            digest.update(last)
            if header is None:
                header = _header(last)
            else:
                rows[str(_parsed(last).get("model"))] += 1
        last = line
    trailer = _parsed(last) if last else {}
    if header is None or trailer.get("sha256") != digest.hexdigest():
        raise ArchiveError(f"{path}: not a whole backup: its end is missing or its bytes changed")
    if trailer.get("rows") != dict(rows):
        raise ArchiveError(f"{path}: the counts at its end are not those of its rows")
    return header, dict(rows)


def row_lines(path: Path) -> Iterator[str]:
    """The lines of the rows, in their order; `checked` has passed before."""
    before: bytes | None = None
    for number, line in enumerate(_lines(path)):
        if before is not None:
            yield before.decode()
        before = line if number else None


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with gzip.open(path, "rb") as stream:
            while line := stream.readline(LINE_MAX_BYTES):
                yield line
    except (OSError, EOFError, zlib.error) as error:
        raise ArchiveError(f"{path}: {error}") from error


def _header(line: bytes) -> dict[str, Any]:
    header = _parsed(line)
    if header.get("format") != FORMAT:
        raise ArchiveError("the file is no backup of Penstock")
    if header.get("version") != VERSION:
        raise ArchiveError(
            f"the backup has format version {header.get('version')}, this release reads {VERSION}"
        )
    return header


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ArchiveError(f"a line of the file is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise ArchiveError("a line of the file is no JSON object")
    return found
