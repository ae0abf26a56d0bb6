"""Every address × method with bytes that no client of good will sends, without and with credentials.

The table of URLs is walked, so that a new endpoint is here by being served. The answer may be any
refusal, or what the endpoint serves; it is never a fault of ours, and a refusal is always a problem.

Every address gets everything once, from each in turn. On PostgreSQL, which refuses more than SQLite
(NUL, lone surrogates, numbers past a column), the owner, whom every door lets in, sends everything to
every address as well.
"""

import itertools
import re

import pytest
from django.db import connection

from console.feeds import Feed
from controlplane.tenants.services import api_key_create
from tests.controlplane.rest.asgi import AsgiClient, in_this_thread
from tests.controlplane.rest.surface import IDS
from tests.controlplane.rest.test_endpoints import served
from tests.controlplane.support import ACTOR, client_for

pytestmark = [pytest.mark.django_db, pytest.mark.every_database]
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PURGE")
WHO = ("nobody", "key", "owner")
JSON = "application/json"
DEEP = b'{"username":' * 20_000 + b"1" + b"}" * 20_000

# (media type, body)
BODIES = [
    (JSON, b"\xff\xfe\x00\xd8"),
    (JSON, b'{"username": "\\ud800", "password": "\\udfff", "slug": "\\ud800", "kind": "\\ud800"}'),
    (JSON, b'{"username": "\xed\xa0\x80", "password": "x"}'),
    (JSON, b'{"username": "a\\u0000b", "password": "\\u0000", "slug": "\\u0000"}'),
    (JSON, b'{"\\ud800": "\\udfff", "__proto__": {}, "": 1}'),
    (JSON, DEEP),
    (JSON, b"[" * 100_000),
    (JSON, b'{"username": ' + b"9" * 100_000 + b', "password": "x"}'),
    (JSON, b'{"username": ' + b"9" * 4_000 + b', "name": 1e999, "kind": -1e999}'),
    (JSON, b'{"username": NaN, "password": Infinity, "slug": -Infinity}'),
    (JSON, b'{"username": ["x"], "password": {"a": 1}, "slug": 7, "inputs": [], "kind": {}}'),
    (JSON, b'{"plan_id": ["x"], "plan_hash": {}, "confirm": 1, "reason": [], "inputs": "x"}'),
    (JSON, b"null"),
    (JSON, b"true"),
    (JSON, b'"text"'),
    (JSON, b""),
    ("application/json; charset=rot13", b"{}"),
    ("application/json; charset=utf-16", "{}".encode("utf-16")),
    ("application/json; charset=no-such", b"{}"),
    ("multipart/form-data; boundary=x", b"--x\r\nno header at all"),
    ("multipart/form-data; boundary=x", b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n'),
    ("multipart/form-data", b"x"),
    ("multipart/form-data; boundary=\xe9", b"x"),
    (
        "multipart/form-data; boundary=x; charset=rot13",
        b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--x--',
    ),
    ("application/x-www-form-urlencoded", b"&".join(b"a%d=1" % at for at in range(2_000))),
    ("application/x-www-form-urlencoded; charset=utf-16", b"a=%ff%fe"),
    ("application/x-www-form-urlencoded", b"username=%ed%a0%80&password=%00"),
    ("text/plain; charset=rot13", b"x"),
    ("/", b"{}"),
    ("\xe9\xff", b"{}"),
]
QUERIES = [
    "?%ff=%fe",
    "?cursor=%00&page_size=%ed%a0%80",
    "?topics=%00,%ed%a0%80&cluster_id=%00&state=%ff",
    "?" + "&".join(f"a{at}=1" for at in range(2_000)),
    "?page_size=" + "9" * 5_000,
    "?from=9999-12-31T23:59:59-23:59&to=0001-01-01T00:00:00%2B23:59",
]
# Bytes as a server hands them on: one character a byte.
HEADERS = [
    {"Authorization": "Bearer psk_\xff_\x80"},
    {"Authorization": "Bearer " + "x" * 7_000},
    {"Authorization": "\xff"},
    {"Cookie": "penstock_session=a\0b; penstock_csrf=\xff"},
    {"Cookie": "penstock_session=" + "x" * 4_000},
    {"Cookie": "penstock_session=\\355\\240\\200; =; ;;,"},
    {"Cookie": 'penstock_session="\\000\\000\\000\\000\\000\\000\\000\\000\\000"'},
    {"Cookie": "penstock_session=\xed\xa0\x80\xed\xa0\x80\xed\xa0\x80"},
    {"X-Penstock-Tenant": "a\0\xff"},
    {"Idempotency-Key": "a\0\xff"},
    {"Accept": "\xff/;q=x, */*;q="},
    {"Content-Length": "-1"},
    {"Content-Length": "nine"},
    {"Content-Length": "9" * 5_000},
    {"Host": "other.example"},
    {"Host": "a\xffb"},
    {"Host": "[::1"},
    {"X-CSRFToken": "\xff" * 64, "Origin": "\xff", "Referer": "http://[x"},
    {"X-Request-Id": "\n" * 20},
    {"If-Match": "\xff", "If-None-Match": "*", "Range": "bytes=-"},
    {"X-Forwarded-For": "\0", "X-Forwarded-Proto": "\xff", "X-Forwarded-Host": "\xff"},
]
# What stands for a blank of an address.
BLANKS = [
    "%00",
    "%ed%a0%80",
    "%ff%fe",
    "x" * 5_000,
    "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "%f0%9f%92%a9",
    "%0a",
    "a%0ab",
]


def routes():
    """Every address with names in its blanks; an open end becomes one blank."""
    return sorted({shape(route) for route, _ in served()})


def shape(route):
    route = re.sub(r"\(\?P<(\w+)>[^)]*\)", r"<str:\1>", route)
    for sign in ("^", "$", "(?:/.*)?", "/?"):
        route = route.replace(sign, "")
    return "/" + route.replace(".*", "<str:rest>")


def with_ids(route, ids):
    return re.sub(
        r"<\w+:(\w+)>", lambda found: ids[IDS[found[1]]] if found[1] in IDS else "x", route
    )


def with_blanks(route, blank):
    return re.sub(r"<\w+:\w+>", lambda _: blank, route)


async def one_event(_feed):
    yield '{"state": "succeeded"}'


@pytest.fixture(autouse=True)
def built_console(settings, tmp_path, monkeypatch):
    monkeypatch.setattr(Feed, "subscribe", one_event)
    (tmp_path / "index.html").write_text("<title>Penstock</title>")
    settings.FRONTEND_DIST = tmp_path
    with in_this_thread(monkeypatch):
        yield


@pytest.fixture
def clients(world):
    """Who asks; the person's session may end on the way, by a sign-out among the requests."""
    _, key = api_key_create(tenant=world.tenant, name="k", scope="write", actor=ACTOR)
    person = client_for(world.tenant).cookies["penstock_session"].value
    made = {
        "nobody": AsgiClient(),
        "key": AsgiClient({"authorization": f"Bearer {key}"}),
        "owner": AsgiClient({"cookie": f"penstock_session={person}"}),
    }
    assert tuple(made) == WHO
    return made


def check(answer, said):
    """Never a fault of ours, and every refusal a problem."""
    if answer.status == 503 and "/healthz" in said:
        assert answer.json()["status"] == "failing", said
        return  # neither Redis nor beat runs beside these tests
    assert 200 <= answer.status < 500, (said, answer.status, answer.content[:500])
    assert b"Traceback" not in answer.content, said
    assert answer.headers["x-request-id"], said
    if answer.status >= 400 and said[1] != "HEAD":
        assert answer.headers["content-type"] == "application/problem+json", (said, answer.content)
        found = answer.json()
        assert found["status"] == answer.status
        assert found["code"]
        assert found["request_id"] == answer.headers["x-request-id"], said


def test_the_walk_has_every_address():
    found = routes()
    assert {"/healthz", "/console/events", "/console/api/login", "/api/v1/plans"} <= set(found)
    assert {"/<str:path>", "/console/<str:path>", "/api/v1/<str:rest>"} <= set(found)
    assert len(found) > 40


def in_turn(at, pieces, senders):
    """Who sends what to the address of number `at`: everything, from each in turn."""
    return ((senders[(at + turn) % len(senders)], piece) for turn, piece in enumerate(pieces))


def sent(route, pieces, *senders):
    """By whom and how (any of each of `senders`), and which of `pieces`."""
    ways = list(itertools.product(*senders))
    yield from in_turn(routes().index(route), pieces, ways)
    if connection.vendor == "postgresql":
        yield from itertools.product((way for way in ways if way[0] == "owner"), pieces)


@pytest.mark.parametrize(
    ("addresses", "pieces", "ways"),
    [
        ([at for at, route in enumerate(routes()) if "<" in route], len(BLANKS), len(WHO) * 4),
        (range(len(routes())), len(HEADERS), len(WHO) * 2),
        (range(len(routes())), len(BODIES) + len(METHODS) - 1, len(WHO)),
    ],
)
def test_in_turn_every_address_gets_everything_and_everything_comes_from_everybody(
    addresses, pieces, ways
):
    gets = [set(in_turn(at, range(pieces), range(ways))) for at in addresses]
    assert all({piece for _, piece in found} == set(range(pieces)) for found in gets)
    assert set().union(*gets) == set(itertools.product(range(ways), range(pieces)))


@pytest.mark.parametrize("route", routes())
def test_hostile_bodies(ids, clients, route):
    path = with_ids(route, ids)
    first = [(method, *BODIES[0]) for method in METHODS if method != "POST"]
    posted = [("POST", *body) for body in BODIES]
    for (who,), (method, media_type, body) in sent(route, [*first, *posted], WHO):
        answer = clients[who].request(method, path, body, [("Content-Type", media_type)])
        check(answer, (who, method, path, media_type, body[:60]))


@pytest.mark.parametrize("route", routes())
def test_hostile_queries(ids, clients, route):
    path = with_ids(route, ids)
    for (who, media_type), query in sent(route, QUERIES, WHO, (JSON, "text/x; charset=rot13")):
        answer = clients[who].request("GET", path + query, b"", [("Content-Type", media_type)])
        check(answer, (who, "GET", path, query[:60], media_type))


@pytest.mark.parametrize("route", routes())
def test_hostile_headers(ids, clients, route):
    path = with_ids(route, ids)
    for (who, method), headers in sent(route, HEADERS, WHO, ("GET", "POST")):
        rows = [("Content-Type", JSON), *headers.items()]
        check(clients[who].request(method, path, b"{}", rows), (who, method, path, headers))


@pytest.mark.parametrize("route", [route for route in routes() if "<" in route])
def test_hostile_addresses(ids, clients, route):
    for (who, method), blank in sent(route, BLANKS, WHO, ("GET", "POST", "HEAD", "DELETE")):
        path = with_blanks(route, blank)
        answer = clients[who].request(method, path, b"{}", [("Content-Type", JSON)])
        check(answer, (who, method, path[:200]))
