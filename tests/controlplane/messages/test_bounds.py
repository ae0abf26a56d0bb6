"""What a page may hold of what a producer chooses: headers, their texts, values of JSON."""

import json

import pytest

from controlplane.gateway.record_port import HEADERS_MAX, Record
from controlplane.messages import decoding, reading
from controlplane.messages.bounds import HEADER_NAME_SHOWN_MAX, HEADERS_TEXT_MAX
from controlplane.messages.decoding import Format, decoded
from controlplane.messages.expression import EvaluationError, parse
from controlplane.messages.lens import Lens
from controlplane.messages.query import Query
from tests.controlplane.messages.conftest import fill
from tests.controlplane.support import client_for


def shown(headers, *, left_out=0, is_whole=False):
    lens = Lens(query=Query(is_whole=is_whole))
    record = Record(
        partition=0,
        offset=0,
        timestamp_ms=0,
        key=None,
        value=b"v",
        headers=tuple(headers),
        headers_left_out=left_out,
    )
    return lens.shown(lens.see(record))


def test_headers_that_nobody_decoded_are_counted_and_are_no_mask():
    found = shown([(f"h{n}", b"x") for n in range(HEADERS_MAX)], left_out=7)
    assert (len(found["headers"]), found["headers_left_out"]) == (HEADERS_MAX, 7)
    assert not found["masked"]


def test_headers_of_a_message_share_their_texts():
    name = "n" * (HEADER_NAME_SHOWN_MAX + 1)
    rows = [(name, b"x" * 6_000), *[(f"h{n}", b"x" * 6_000) for n in range(5)]]
    found = shown(rows)["headers"]
    assert len(found) == 6
    assert sum(len(row["text"]) for row in found) <= HEADERS_TEXT_MAX
    assert [row["truncated"] for row in found] == [True, False, True, True, True, True]
    assert len(found[0]["name"]) == HEADER_NAME_SHOWN_MAX
    whole = shown(rows, is_whole=True)["headers"]
    assert [len(row["text"]) for row in whole] == [6_000] * 6


@pytest.mark.django_db
def test_a_page_shows_so_many_headers_and_one_message_all_of_its_own(world, monkeypatch):
    monkeypatch.setattr(reading, "PAGE_HEADERS_MAX", 5)
    headers = tuple((f"h{n}", b"x") for n in range(4))
    fill(world.gateway, "headed", [(0, None, b"v", headers) for _ in range(3)])
    path = f"/api/v1/clusters/{world.cluster.id}/topics/headed/messages"
    client = client_for(world.tenant, "operator")
    rows = client.get(path).json()["data"]
    assert [(len(row["headers"]), row["headers_left_out"]) for row in rows] == [
        (4, 0),
        (1, 3),
        (0, 4),
    ]
    (alone,) = client.get(path, {"limit": 1, "whole": True}).json()["data"]
    assert (len(alone["headers"]), alone["headers_left_out"]) == (4, 0)


@pytest.mark.parametrize("raw", [b"[" + b"[]," * 20 + b"[]]", b"[" + b"0," * 20 + b"0]"])
def test_json_of_too_many_values_is_text(raw, monkeypatch):
    assert decoded(raw, Format.AUTO).kind == "json"
    monkeypatch.setattr(decoding, "JSON_ITEMS_MAX", 10)
    assert decoded(raw, Format.AUTO).kind == "string"
    assert "More than 10 values" in decoded(raw, Format.JSON).problem


def test_json_is_as_deep_as_the_bound_and_no_deeper(monkeypatch):
    monkeypatch.setattr(decoding, "JSON_DEPTH_MAX", 3)
    fits = json.dumps([[[1]]]).encode()
    assert decoded(fits, Format.JSON).kind == "json"
    deep = decoded(b"[[" + fits + b"]]", Format.JSON)
    assert "Nested more than 3" in deep.problem


# -- what a filter says of headers that nobody read ----------------------------------------------
def judged(query, *, names, left_out):
    """Whether the message is meant; None: the filters cannot say."""
    lens = Lens(query=query)
    headers = tuple((name, b"x") for name in names)
    record = Record(
        partition=0,
        offset=0,
        timestamp_ms=0,
        key=b"k",
        value=b"1",
        headers=headers,
        headers_left_out=left_out,
    )
    try:
        return lens.matches(lens.see(record))
    except EvaluationError:
        return None


@pytest.mark.parametrize(
    ("query", "found", "unread"),
    [
        (Query(header="h1"), True, True),
        (Query(header="h1=x"), True, True),
        (Query(header="gone"), False, None),
        (Query(header="h1=other"), False, None),
        (Query(header="gone", key="other"), False, False),
        (Query(expression=parse('headers["h1"] == "x"')), True, None),
        (Query(expression=parse('!(headers["gone"] == "x")')), True, None),
        (Query(expression=parse('exists(headers["gone"])')), False, None),
        (Query(expression=parse('partition == 2 && headers["h1"] == "x"')), False, False),
        (Query(expression=parse("partition == 0")), True, True),
    ],
)
def test_no_filter_says_what_headers_hold_that_were_not_read(query, found, unread):
    names = [f"h{n}" for n in range(3)]
    assert judged(query, names=names, left_out=0) is found
    assert judged(query, names=names, left_out=1) is unread
    many = [f"h{n}" for n in range(HEADERS_MAX + 1)]
    assert judged(query, names=many, left_out=0) is unread


@pytest.mark.django_db
def test_what_could_not_be_judged_is_counted_and_no_file_is_whole_without_it(world):
    many = tuple((f"h{n}", b"x") for n in range(HEADERS_MAX + 1))
    fill(world.gateway, "headed", [(0, None, b"v", many), (0, None, b"v", (("last", b"x"),))])
    path = f"/api/v1/clusters/{world.cluster.id}/topics/headed/messages"
    client = client_for(world.tenant, "operator")
    page = client.get(path, {"header": "last"}).json()
    assert [row["offset"] for row in page["data"]] == [1]
    assert page["reading"]["filter_errors"] == 1
    file = client.get(f"{path}/export", {"header": "last"})
    assert file["X-Penstock-Export-Complete"] == "false"
    assert client.get(f"{path}/export")["X-Penstock-Export-Complete"] == "true"
