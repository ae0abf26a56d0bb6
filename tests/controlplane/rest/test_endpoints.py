"""Every endpoint of the URL table that may change something × somebody who may only look.

The table of URLs is walked, not a list of names: a new endpoint is here by being served, also when
nobody documented it.
"""

import json
import re

import pytest
from django.urls import URLPattern, get_resolver

from tests.controlplane.rest.conftest import key_client
from tests.controlplane.rest.surface import BODIES, IDS, OWN_SESSION, document, filled, problem
from tests.controlplane.support import client_for

pytestmark = pytest.mark.django_db
MUTATING = ("post", "put", "patch", "delete")


def served():
    """(route, view) of every address, routes as Django spells them."""

    def walk(patterns, prefix):
        for entry in patterns:
            route = prefix + str(entry.pattern)
            if isinstance(entry, URLPattern):
                yield route, entry.callback
            else:
                yield from walk(entry.url_patterns, route)

    return list(walk(get_resolver().url_patterns, ""))


def api_endpoints():
    """(method, route) of what a view class of `/api/v1` offers."""
    return [
        (method, route)
        for route, view in served()
        if route.startswith("api/v1/") and hasattr(view, "view_class")
        for method in MUTATING
        if hasattr(view.view_class, method)
    ]


def address(route, ids):
    return "/" + re.sub(r"<str:(\w+)>", lambda found: ids[IDS[found[1]]], route)


def documented_path(route):
    return "/" + re.sub(r"<str:(\w+)>", r"{\1}", route)


def test_the_walk_finds_the_endpoints():
    endpoints = api_endpoints()
    assert ("post", "api/v1/operations") in endpoints
    assert ("delete", "api/v1/api-keys/<str:key_id>") in endpoints
    assert len(endpoints) >= 10


@pytest.mark.parametrize(("method", "route"), api_endpoints(), ids="-".join)
def test_who_may_only_look_changes_nothing(world, ids, state, method, route):
    path = documented_path(route)
    body = BODIES.get(f"{method} {path.removeprefix('/api/v1')}", {})
    clients = {
        "viewer": client_for(world.tenant, "viewer"),
        "read key": key_client(world.tenant, "read"),
    }
    before = state()
    for who, client in clients.items():
        answer = client.generic(
            method.upper(),
            address(route, ids),
            json.dumps(filled(body, ids)),
            content_type="application/json",
        )
        # What is above tenants is not there for anybody in one.
        status, code = (404, "not-found") if "operator/" in route else (403, "forbidden")
        assert answer.status_code == status, (who, answer.content[:300])
        assert problem(answer, status)["code"] == code
    assert state() == before


@pytest.mark.parametrize(("method", "route"), api_endpoints(), ids="-".join)
def test_every_endpoint_is_documented(method, route):
    assert method in document()["paths"][documented_path(route)]


def test_every_address_of_the_api_is_a_class_with_methods():
    """A function would slip through the tables above; only the two that refuse are functions."""
    functions = [
        view.__name__
        for route, view in served()
        if route.startswith(("api", "^api")) and not hasattr(view, "view_class")
    ]
    assert set(functions) <= {"no_such_api", "api_index"}


CONSOLE = sorted(
    {f"/{route}" for route, _ in served() if route.startswith("console/")} - OWN_SESSION
)


@pytest.mark.parametrize("route", CONSOLE)
def test_the_console_writes_nowhere_but_in_ones_own_session(world, ids, state, route):
    client = client_for(world.tenant, "viewer")
    path = re.sub(r"<(?:\w+:)?(\w+)>", "x", route)
    before = state()
    for method in MUTATING:
        assert client.generic(method.upper(), path, "{}", "application/json").status_code >= 400
    assert state() == before
