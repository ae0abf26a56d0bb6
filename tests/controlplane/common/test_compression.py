"""Which answers leave compressed, and which never do."""

import gzip
import json

import pytest
from django.http import HttpResponse, StreamingHttpResponse
from django.test import RequestFactory

from controlplane.common.compression import SMALLEST_BYTES, PageCompressionMiddleware

LARGE = json.dumps([{"name": f"topic-{at}"} for at in range(1_000)]).encode()
PAGE_AT = "/console/api/pages/topics/c1"


def answer_to(address, response, method="GET", accept="gzip, br"):
    request = RequestFactory().generic(method, address, headers={"Accept-Encoding": accept})
    return PageCompressionMiddleware(lambda _: response)(request)


def json_of(body=LARGE, content_type="application/json"):
    return HttpResponse(body, content_type=content_type)


@pytest.mark.parametrize("address", [PAGE_AT, "/api/v1/clusters/c1/topics"])
def test_large_reads_of_pages_and_lists_are_compressed(address):
    answer = answer_to(address, json_of())
    assert answer["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in answer["Vary"]
    assert gzip.decompress(answer.content) == LARGE
    assert len(answer.content) < len(LARGE) / 4


def test_the_length_of_the_same_answer_differs():
    lengths = {len(answer_to(PAGE_AT, json_of()).content) for _ in range(60)}
    assert len(lengths) > 5


@pytest.mark.parametrize(
    ("address", "method", "response"),
    [
        ("/console/api/session", "GET", json_of()),
        ("/console/api/login", "POST", json_of()),
        ("/api/v1/plans", "POST", json_of()),
        ("/api/v1/clusters/c1/users", "GET", json_of()),
        ("/api/v1/clusters/c1/client-config", "GET", json_of()),
        ("/api/v1/keys", "GET", json_of()),
        (PAGE_AT, "GET", json_of(LARGE[: SMALLEST_BYTES - 1])),
        (PAGE_AT, "GET", json_of(content_type="text/event-stream")),
    ],
)
def test_what_may_hold_a_secret_is_small_or_no_data_is_not(address, method, response):
    answer = answer_to(address, response, method)
    assert "Content-Encoding" not in answer
    assert answer is response


def test_a_stream_of_events_is_left_alone():
    stream = StreamingHttpResponse([b"data: {}\n\n"] * 1_000, content_type="text/event-stream")
    assert "Content-Encoding" not in answer_to("/api/v1/stream", stream)


def test_who_does_not_take_gzip_gets_it_plain():
    assert answer_to(PAGE_AT, json_of(), accept="br").content == LARGE
