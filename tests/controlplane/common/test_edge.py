"""Bodies are bounded before Django sees them: by what is announced and by what arrives."""

import asyncio
import contextlib

import pytest
from prometheus_client import REGISTRY

from controlplane.common.cut_answers import cut
from controlplane.common.edge import RequestEdge, body_max_bytes
from controlplane.common.limits import BODY_MAX_BYTES, SMALL_BODY_MAX_BYTES
from tests.controlplane.rest.asgi import AsgiClient


class Inner:
    """Reads the whole body like Django does, and remembers what reached it."""

    def __init__(self):
        self.read, self.headers = [], {}

    async def __call__(self, scope, receive, send):
        self.headers = dict(scope["headers"])
        while True:
            message = await receive()
            self.read.append(message.get("body", b""))
            if not message.get("more_body"):
                break
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"".join(self.read)})


@pytest.fixture
def inner():
    return Inner()


def client(inner, **bounds):
    return AsgiClient(app=RequestEdge(inner, **bounds))


def refused(code):
    return REGISTRY.get_sample_value("penstock_requests_refused_total", {"code": code}) or 0


def test_a_body_within_the_bound_passes_in_its_pieces(inner):
    answer = client(inner).request("POST", "/api/v1/plans", [b"a", b"b", b"c"])
    assert (answer.status, answer.content, inner.read) == (200, b"abc", [b"a", b"b", b"c"])


@pytest.mark.parametrize(
    ("path", "most"),
    [
        ("/api/v1/plans", BODY_MAX_BYTES),
        ("/console/api/login", SMALL_BODY_MAX_BYTES),
        ("/", SMALL_BODY_MAX_BYTES),
        ("/apis", SMALL_BODY_MAX_BYTES),
    ],
)
@pytest.mark.parametrize("media_type", ["application/json", "multipart/form-data; boundary=x"])
def test_a_body_that_is_announced_too_large_is_not_read(inner, path, most, media_type):
    before = refused("too-large")
    headers = [("Content-Length", str(most + 1)), ("Content-Type", media_type)]
    answer = client(inner).request("POST", path, b"x", headers)
    assert (answer.status, answer.json()["code"], inner.read) == (413, "too-large", [])
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["connection"] == "close"
    assert refused("too-large") == before + 1
    assert client(inner).request("POST", path, b"x" * most).status == 200


def test_a_body_that_announces_nothing_is_refused_when_it_grows_too_large(inner):
    piece = b"x" * 10_000
    answer = client(inner).request("POST", "/console/api/login", [piece] * 50)
    assert (answer.status, answer.json()["code"]) == (413, "too-large")
    assert inner.read == [piece], "what was read before stays below the bound"


def test_a_body_larger_than_it_announces_is_refused_too(inner):
    answer = client(inner).request(
        "POST", "/console/api/login", [b"x" * 10_000] * 2, [("Content-Length", "5")]
    )
    assert answer.status == 413


@pytest.mark.parametrize("length", ["-1", "nine", "", "1e3", "9" * 5_000, "0x10", "\xb2"])
def test_a_length_that_is_no_number_is_refused(inner, length):
    answer = client(inner).request("POST", "/api/v1/plans", b"x", [("Content-Length", length)])
    assert (answer.status, answer.json()["code"], inner.read) == (400, "bad-length", [])


def test_a_header_with_a_null_is_refused(inner):
    answer = client(inner).request("GET", "/", headers=[("X-Penstock-Tenant", "a\0b")])
    assert (answer.status, answer.json()["code"], inner.read) == (400, "bad-header", [])


def scope(path="/api/v1/plans"):
    return {"type": "http", "method": "POST", "path": path, "headers": []}


async def test_a_body_that_trickles_is_given_up(inner):
    sent = []

    async def receive():
        await asyncio.sleep(0.02)
        return {"type": "http.request", "body": b"x", "more_body": True}

    async def send(message):
        sent.append(message)

    async with asyncio.timeout(10):
        await RequestEdge(inner, timeout_s=0.1)(scope(), receive, send)
    assert sent[0]["status"] == 408


async def test_all_bodies_together_have_a_bound_and_give_it_back(inner):
    edge = RequestEdge(inner, total_bytes=100)
    hold, sent = asyncio.Event(), []

    def arriving(pieces):
        async def receive():
            if pieces:
                return {"type": "http.request", "body": pieces.pop(0), "more_body": True}
            await hold.wait()
            return {"type": "http.request", "body": b"", "more_body": False}

        return receive

    async def send(message):
        sent.append(message)

    slow = asyncio.create_task(edge(scope(), arriving([b"x" * 90]), send))
    while edge.held_bytes < 90:
        await asyncio.sleep(0)
    await edge(scope(), arriving([b"x" * 20]), send)
    assert sent[0]["status"] == 503
    assert dict(sent[0]["headers"])[b"retry-after"]
    hold.set()
    await slow
    assert edge.held_bytes == 0
    with contextlib.suppress(asyncio.CancelledError):
        left = asyncio.create_task(edge(scope(), arriving([b"x" * 20]), send))
        await asyncio.sleep(0)
        hold.clear()
        left.cancel()
        await left
    assert edge.held_bytes == 0


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("application/json; charset=rot13", b"application/json"),
        ("multipart/form-data; Charset=x; boundary=y", b"multipart/form-data; boundary=y"),
        ("text/plain", b"text/plain"),
    ],
)
def test_no_charset_of_the_client_decodes_anything(inner, given, kept):
    client(inner).request("POST", "/", b"", [("Content-Type", given)])
    assert inner.headers[b"content-type"] == kept


def test_only_the_api_takes_large_bodies():
    assert body_max_bytes("/api/v1/plans") == BODY_MAX_BYTES
    assert body_max_bytes("/console/api/login") == SMALL_BODY_MAX_BYTES


def test_what_has_been_answered_is_not_cut_any_more():
    """Whoever goes on in the request's task, or copies its context, has no connection to break."""
    said = []

    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        said.append(cut())
        await send({"type": "http.response.body", "body": b"", "more_body": True})

    async def exchange():
        scope = {"type": "http", "path": "/", "headers": []}
        sent = []

        async def send(message):
            sent.append(message)

        await RequestEdge(app)(scope, None, send)
        said.append(cut())

    asyncio.run(exchange())
    assert said == [True, False]
