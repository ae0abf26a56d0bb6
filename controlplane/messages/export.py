"""What was found as a file: one message a line of JSON, or rows for a spreadsheet."""

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

from controlplane.common.spreadsheets import no_formula
from controlplane.gateway.patience import patience
from controlplane.messages.bounds import EXPORT_BYTES_MAX
from controlplane.messages.reading import END, Asked, reading

CONTENT_TYPES = {"ndjson": "application/x-ndjson", "csv": "text/csv; charset=utf-8"}
FIELDS = (
    *("partition", "offset", "timestamp", "key_kind", "key", "value_kind", "value"),
    *("headers", "masked"),
)


def exported(asked: Asked, *, is_csv: bool) -> tuple[str, bool]:
    """The file, and whether it holds all that was asked for.

    Raises:
        TooManyRequests, GatewayError: as `reading`.
    """
    whole = replace(asked, lens=replace(asked.lens, query=replace(asked.lens.query, is_whole=True)))
    lines = [_line(dict(zip(FIELDS, FIELDS, strict=True)), is_csv=True)] if is_csv else []
    size_bytes, is_complete = 0, False
    steps = reading(whole)
    try:
        # Brokers that do not answer are waited for no longer than by any read, the work on what
        # comes has the bounds of a file.
        opened = [next(steps), next(steps)]
        with patience(None):
            for name, data in (frame for frames in chain(opened, steps) for frame in frames):
                if name == "message":
                    line = _line(_row(data), is_csv=is_csv)
                    size_bytes += len(line.encode())
                    if size_bytes > EXPORT_BYTES_MAX:
                        break
                    lines.append(line)
                elif name == "done":
                    missing = data["silent"] or data["unavailable"] or data["filter_errors"]
                    is_complete = data["ended_by"] == END and not missing
    finally:
        steps.close()
    return "".join(lines), is_complete


def _row(message: Mapping[str, Any]) -> dict[str, Any]:
    key, value = message["key"], message["value"]
    return {
        "partition": message["partition"],
        "offset": message["offset"],
        "timestamp": message["timestamp"],
        "key_kind": key["kind"],
        "key": None if key["kind"] == "null" else key["text"],
        "value_kind": value["kind"],
        "value": None if value["kind"] == "null" else value["text"],
        "headers": [
            [row["name"], None if row["kind"] == "null" else row["text"]]
            for row in message["headers"]
        ],
        "masked": message["masked"],
    }


def _line(row: Mapping[str, Any], *, is_csv: bool) -> str:
    if not is_csv:
        return json.dumps(row, ensure_ascii=False) + "\n"
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow([_cell(row[field]) for field in FIELDS])
    return text.getvalue()


def _cell(value: Any) -> str:
    """Text that no spreadsheet takes for a formula."""
    if value is None:
        return ""
    plain = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    safe = no_formula(plain) if isinstance(value, str) else plain
    # What spreadsheets cannot hold is shown as a sign.
    return safe.replace("\0", "\N{SYMBOL FOR NULL}")
