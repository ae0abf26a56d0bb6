"""A second tenant tries every address, method, header, query and body with the first one's ids.

Each request is sent twice: with the ids of things that are there, and with ids that were never
given out. Both answers have to be the same, so that not even existence shows; and none holds
anything of the first tenant.
"""

import json
import re

import pytest

from tests.controlplane.rest.conftest import key_client
from tests.controlplane.rest.surface import BODIES, IDS, INPUTS, OF_NOBODY, OWN_SESSION, filled
from tests.controlplane.rest.test_hostile import routes, with_ids
from tests.controlplane.support import client_for, tenant_make

pytestmark = pytest.mark.django_db
METHODS = ("get", "head", "post", "put", "patch", "delete", "options")
NAMED = re.compile(r"<\w+:(\w+)>")
# A stream has no end, and asks nothing of the address that the REST API does not.
STREAMS = {"/console/events"}
BLANK = [route for route in routes() if set(NAMED.findall(route)) & (set(IDS) - OF_NOBODY)]
FIXED = [
    route
    for route in routes()
    if route.startswith(("/api", "/console"))
    and route not in BLANK
    and route not in STREAMS | OWN_SESSION
]


@pytest.fixture
def rivals(world):
    """Who tries: the other tenant's owner, its viewer, its keys."""
    other = tenant_make("rival")
    return {
        "owner": client_for(other),
        "viewer": client_for(other, "viewer"),
        "write key": key_client(other, "write"),
        "read key": key_client(other, "read"),
    }


def made_up(ids):
    """Ids of the same kinds and lengths that nothing has; names stay, since anybody may use one."""
    return {
        name: text if name in {"topic", "group", "runbook"} else text[:3] + "0" * (len(text) - 3)
        for name, text in ids.items()
    }


def bodies(ids):
    """Every body that names something of the first tenant, under every kind of plan."""
    yield {}
    for body in BODIES.values():
        yield filled(body, ids)
    for kind, inputs in INPUTS.items():
        yield {"kind": kind, "cluster_id": ids["cluster"], "inputs": inputs}


def said(answer, ids):
    """Status and words, with the ids that were asked for taken out."""
    text = answer.content.decode()
    for found in sorted(ids.values(), key=len, reverse=True):
        text = text.replace(found, "ID")
    text = re.sub(r'"request_id": ?"[^"]*"', "", text)
    return answer.status_code, text


def secrets_of(world, ids):
    return {world.tenant.id, "acme", "Acme", world.cluster.name + '"'} | {
        ids[name] for name in ("cluster", "key", "plan", "hash", "operation", "run")
    }


def send(client, method, path, body, **headers):
    client.raise_request_exception = False
    return client.generic(
        method.upper(), path, json.dumps(body), content_type="application/json", headers=headers
    )


def check(world, ids, real, unreal, request):
    assert said(real, ids) == said(unreal, made_up(ids)), request
    assert not 200 <= real.status_code < 300 or request[1] == "options", (request, real.content)
    sent = json.dumps(request, default=str)
    text = re.sub(r'"request_id": ?"[^"]*"', "", real.content.decode())
    shown = [secret for secret in secrets_of(world, ids) if secret in text and secret not in sent]
    assert shown == [], (request, text[:500])


def test_the_walk_has_every_address_with_an_id():
    assert len(BLANK) > 25
    assert {name for route in BLANK for name in NAMED.findall(route)} >= set(IDS) - OF_NOBODY - {
        "name"
    }


@pytest.mark.parametrize("route", BLANK)
def test_an_address_of_the_first_tenant_looks_like_one_that_is_not_there(
    world, ids, state, rivals, route
):
    before = state()
    for who, client in rivals.items():
        for method in METHODS:
            path, other = with_ids(route, ids), with_ids(route, made_up(ids))
            real, unreal = send(client, method, path, {}), send(client, method, other, {})
            check(world, ids, real, unreal, (who, method, path))
    assert state() == before


@pytest.mark.parametrize("route", ["/api/v1/plans", "/api/v1/operations"])
def test_a_body_with_ids_of_the_first_tenant_looks_like_one_without(
    world, ids, state, rivals, route
):
    before = state()
    for who, client in rivals.items():
        both = zip(bodies(ids), bodies(made_up(ids)), strict=True)
        for real_body, unreal_body in both:
            if real_body == unreal_body or real_body.get("kind", "x").startswith("cluster.create"):
                continue  # it names nothing of anybody
            real, unreal = (send(client, "post", route, body) for body in (real_body, unreal_body))
            check(world, ids, real, unreal, (who, "post", route, real_body))
    assert state() == before


@pytest.mark.parametrize("route", BLANK + FIXED)
def test_no_header_leads_into_the_first_tenant(world, ids, state, rivals, route):
    before = state()
    for who, client in rivals.items():
        for method in METHODS:
            real, by_id, unreal = (
                send(client, method, with_ids(route, ids), {}, **{"X-Penstock-Tenant": name})
                for name in ("acme", world.tenant.id, "nobody")
            )
            assert said(real, ids) == said(by_id, ids) == said(unreal, ids), (who, method, route)
    assert state() == before


@pytest.mark.parametrize("route", FIXED)
def test_no_query_finds_anything_of_the_first_tenant(world, ids, rivals, route):
    for who, client in rivals.items():
        for key in ("cluster_id", "cluster", "tenant", "tenant_id", "operation_id", "id", "topics"):
            for value in (ids["cluster"], world.tenant.id, ids["operation"]):
                answer = send(
                    client, "get", f"{route}?{key}={value}".replace("<str:rest>", "x"), {}
                )
                # An id made of random letters may happen to read like a name.
                text = re.sub(r'"request_id": ?"[^"]*"', "", answer.content.decode())
                shown = [one for one in secrets_of(world, ids) if one in text and one != value]
                assert shown == [], (who, route, key, text[:300])
