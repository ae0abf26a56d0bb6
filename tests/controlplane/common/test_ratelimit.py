"""So many requests per address, user and key; whose address it is; and without Redis."""

import json

import pytest
from django.core.cache import caches
from prometheus_client import REGISTRY
from redis.exceptions import ConnectionError as RedisAwayError
from rest_framework.test import APIClient

from controlplane.common import ratelimit
from controlplane.common.counts import ASK_AGAIN_S, COUNTS, OWN, SHARED, Counts
from controlplane.common.edge import behind_proxies
from controlplane.common.ratelimit import network_of
from tests.controlplane.rest.asgi import AsgiClient
from tests.controlplane.rest.conftest import key_client
from tests.controlplane.support import client_for

LOCAL = "django.core.cache.backends.locmem.LocMemCache"
ME = "/api/v1/me"


@pytest.fixture(autouse=True)
def own_caches(settings):
    settings.CACHES = {
        name: {"BACKEND": LOCAL, "LOCATION": f"rate-{name}"} for name in (SHARED, OWN)
    }
    COUNTS.ask_again()
    for name in (SHARED, OWN):
        caches[name].clear()


@pytest.fixture
def now_s(monkeypatch):
    now_s = [6_000_000.0]
    monkeypatch.setattr(ratelimit.time, "time", lambda: now_s[0])
    return now_s


def limited(scope):
    return REGISTRY.get_sample_value("penstock_rate_limited_total", {"scope": scope}) or 0


def check_refused(answer, wait_s):
    assert (answer.status_code, answer.json()["code"]) == (429, "too-many-requests")
    assert answer["Content-Type"] == "application/problem+json"
    assert answer["Retry-After"] == str(wait_s)
    assert answer.json()["retryable"] is True
    assert answer.json()["request_id"] == answer["X-Request-Id"]


def test_an_address_has_a_rate_before_anybody_is_asked_who_they_are(db, settings, now_s):
    settings.RATE_LIMITS = {"address": "3/min"}
    client, before = APIClient(), limited("address")
    for _ in range(3):
        assert client.get(ME, headers={"Authorization": "Bearer psk_x_y"}).status_code == 401
    now_s[0] += 20.5
    check_refused(client.get(ME), 40)
    check_refused(client.post("/console/api/login"), 40)
    check_refused(client.get("/console/events"), 40)
    assert limited("address") == before + 3
    assert client.get(ME, REMOTE_ADDR="10.0.0.9").status_code == 401
    now_s[0] += 39.5
    assert client.get(ME).status_code == 401


@pytest.mark.parametrize("kind", ["key", "user"])
def test_a_caller_has_a_rate_wherever_it_comes_from(world, settings, now_s, kind):
    settings.RATE_LIMITS = {kind: "3/min"}
    make = {
        "key": lambda: key_client(world.tenant, "read"),
        "user": lambda: client_for(world.tenant),
    }
    client = make[kind]()
    for at in range(3):
        assert client.get(ME, REMOTE_ADDR=f"10.0.0.{at}").status_code == 200
    check_refused(client.get(ME, REMOTE_ADDR="10.0.0.9"), 60)
    check_refused(client.get("/console/api/pages/overview", REMOTE_ADDR="10.0.0.8"), 60)
    other = (
        key_client(world.tenant, "write") if kind == "key" else client_for(world.tenant, "viewer")
    )
    assert other.get(ME).status_code == 200


def test_an_empty_rate_is_no_limit(world, settings):
    settings.RATE_LIMITS = {"key": "", "address": None}
    client = key_client(world.tenant, "read")
    assert {client.get(ME).status_code for _ in range(20)} == {200}


class Away:
    def add(self, *_args, **_more):
        raise RedisAwayError("away")

    delete = add


def test_without_redis_this_process_counts_and_does_not_ask_again_at_once(monkeypatch):
    now_s, asked = [0.0], []
    mine = caches[OWN]

    class Found:
        def __getitem__(self, name):
            asked.append(name)
            return Away() if name == SHARED else mine

    monkeypatch.setattr("controlplane.common.counts.caches", Found())
    counts = Counts(monotonic=lambda: now_s[0])
    alone = REGISTRY.get_sample_value("penstock_counted_alone_total")
    assert [counts.add("k", 60) for _ in range(3)] == [1, 2, 3]
    assert asked == [SHARED, OWN, OWN, OWN]
    assert REGISTRY.get_sample_value("penstock_counted_alone_total") == alone + 3
    now_s[0] += ASK_AGAIN_S
    assert counts.add("k", 60) == 4
    assert asked[4:] == [SHARED, OWN]
    counts.forget("k")
    assert counts.add("k", 60) == 1


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("10.1.2.3", "10.1.2.3"),
        ("2001:db8:1:2:3::4", "2001:db8:1:2::/64"),
        ("::ffff:10.1.2.3", "10.1.2.3"),
        ("no address", "no address"),
    ],
)
def test_a_network_of_ipv6_counts_as_one_address(address, counted):
    assert network_of(address) == counted


# -- proxies -----------------------------------------------------------------------------------
async def echo(scope, receive, send):
    body = json.dumps([scope["client"][0], scope["scheme"]]).encode()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


@pytest.mark.parametrize(
    ("peer", "headers", "expected"),
    [
        ("10.0.0.1", ["203.0.113.7"], "203.0.113.7"),
        ("10.0.0.1", ["6.6.6.6, 203.0.113.7"], "203.0.113.7"),
        ("10.0.0.1", ["6.6.6.6, 203.0.113.7, 10.0.0.2"], "203.0.113.7"),
        ("10.0.0.1", ["6.6.6.6", "203.0.113.7"], "203.0.113.7"),
        ("10.0.0.1", [], "10.0.0.1"),
        ("127.0.0.1", ["203.0.113.7"], "127.0.0.1"),
        ("198.51.100.1", ["10.0.0.1"], "198.51.100.1"),
    ],
)
def test_only_a_trusted_proxy_says_for_whom_it_speaks(peer, headers, expected):
    client = AsgiClient(app=behind_proxies(echo, ["10.0.0.0/8"]))
    rows = [("X-Forwarded-For", text) for text in headers]
    rows.append(("X-Forwarded-Proto", "https"))
    scheme = "https" if peer.startswith("10.") else "http"
    answer = client.request("GET", "/", headers=rows, address=peer)
    assert answer.json() == [expected, scheme]


def test_without_proxies_nothing_forwarded_is_read():
    client = AsgiClient(app=behind_proxies(echo, []))
    rows = [("X-Forwarded-For", "203.0.113.7"), ("X-Forwarded-Proto", "https")]
    assert client.request("GET", "/", headers=rows).json() == ["127.0.0.1", "http"]


# -- metrics -----------------------------------------------------------------------------------
def test_the_metrics_are_for_whoever_has_the_token(db, settings):
    client = APIClient()
    settings.METRICS_TOKEN = ""
    assert client.get("/metrics").status_code == 404
    settings.METRICS_TOKEN = "let me see"
    for given in ({}, {"Authorization": "Bearer "}, {"Authorization": "Bearer let me"}):
        answer = client.get("/metrics", headers=given)
        assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
    answer = client.get("/metrics", headers={"Authorization": "Bearer let me see"})
    assert answer.status_code == 200
    for name in ("penstock_rate_limited_total", "penstock_counted_alone_total"):
        assert name in answer.content.decode()
