"""Every operation of the OpenAPI document × who asks. A new one is covered by being in it."""

import json

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from tests.controlplane.rest.conftest import key_client
from tests.controlplane.rest.surface import BODIES, IDS, OF_NOBODY, operations, problem, send
from tests.controlplane.support import client_for, operator_client, tenant_make

ALL = operations()
OF_TENANTS = [row for row in ALL if not row.is_operators]
OF_OPERATORS = [row for row in ALL if row.is_operators]
pytestmark = pytest.mark.django_db


def test_the_tables_know_every_parameter_and_every_body():
    assert {name for row in ALL for name in row.parameters} == set(IDS)
    assert {str(row) for row in ALL if row.has_body} == set(BODIES)


@pytest.mark.parametrize("row", ALL, ids=str)
def test_nobody_is_asked_who_they_are(ids, state, row):
    before = state()
    answer = send(APIClient(), row, ids)
    problem(answer, 401)
    assert answer["WWW-Authenticate"] == "Bearer"
    assert state() == before


@pytest.mark.parametrize("token", ["psk_x_y", "psk_a\0b_c", "psk_é_è", "", "x" * 5000, "psk_"])
def test_keys_that_are_none(ids, token):
    client = APIClient()
    answer = client.get("/api/v1/me", headers={"Authorization": f"Bearer {token}"})
    problem(answer, 401)


@pytest.mark.parametrize("row", [row for row in OF_TENANTS if row.is_write], ids=str)
def test_a_read_only_key_and_a_viewer_write_nothing(world, ids, state, row):
    clients = [key_client(world.tenant, "read"), client_for(world.tenant, "viewer")]
    before = state()
    for client in clients:
        assert problem(send(client, row, ids), 403)["code"] == "forbidden"
    assert state() == before


@pytest.mark.parametrize("row", OF_OPERATORS, ids=str)
def test_what_is_above_tenants_is_not_there_for_anybody_in_one(world, ids, state, row):
    clients = [
        *(client_for(world.tenant, role) for role in ("owner", "operator", "viewer")),
        *(key_client(world.tenant, scope) for scope in ("write", "read")),
        client_for(world.tenant, role=None, name="member of nothing"),
    ]
    before = state()
    for client in clients:
        for headers in ({}, {"X-Penstock-Tenant": world.tenant.slug}):
            found = problem(send(client, row, ids, headers=headers), 404)
            assert found["detail"] == "The API has nothing at this address."
    assert state() == before


def test_there_are_operations_above_tenants():
    assert len(OF_OPERATORS) > 10


@pytest.mark.parametrize("row", OF_OPERATORS, ids=str)
def test_a_former_operator_is_none(world, ids, state, row):
    client = operator_client(world.tenant)
    User.objects.filter(username="platform-operator").update(is_staff=False)
    before = state()
    problem(send(client, row, ids), 404)
    User.objects.filter(username="platform-operator").update(is_staff=True, is_active=False)
    problem(send(client, row, ids), 401)
    assert state() == before


@pytest.mark.parametrize("row", [row for row in ALL if set(row.parameters) - OF_NOBODY], ids=str)
def test_another_tenants_ids_are_not_found(ids, state, row):
    client = client_for(tenant_make("rival"))
    before = state()
    assert problem(send(client, row, ids), 404)["code"] == "not-found"
    assert state() == before


@pytest.mark.parametrize("row", [row for row in ALL if row.has_body], ids=str)
def test_another_tenants_ids_in_a_body_are_not_found(ids, state, row):
    if '"{' not in json.dumps(BODIES[str(row)]):
        return  # this body names nothing of anybody
    client = client_for(tenant_make("rival"))
    before = state()
    assert problem(send(client, row, ids), 404)["code"] == "not-found"
    assert state() == before


@pytest.mark.parametrize("row", [row for row in ALL if not row.is_write], ids=str)
def test_another_tenants_lists_say_nothing_of_us(world, ids, row):
    answer = send(client_for(tenant_make("rival")), row, ids)
    text = answer.content.decode()
    own = {ids[name] for name in ("cluster", "key", "plan", "operation", "run")}
    address = send_path(row, ids)
    assert [value for value in own | {world.tenant.id} if value in text.replace(address, "")] == []


def send_path(row, ids):
    from tests.controlplane.rest.surface import address

    return address(row, ids)


@pytest.mark.parametrize("scope", ["cluster_id"])
def test_filters_by_another_tenants_ids_find_nothing(ids, scope):
    rival = client_for(tenant_make("rival"))
    filtered = [row for row in ALL if scope in row.query]
    assert filtered
    for row in filtered:
        answer = send(rival, row, ids, query=f"?{scope}={ids['cluster']}")
        if row.path.endswith("/export"):
            assert answer.content == b""
            continue
        if row.path.startswith("/console/api/pages/"):
            problem(answer, 404)  # what a page is of has to be there
            continue
        assert answer.json()["data"] == []


@pytest.mark.parametrize("row", ALL, ids=str)
def test_a_header_for_another_tenant_is_not_found(world, ids, row):
    rival = client_for(tenant_make("rival"))
    problem(send(rival, row, ids, headers={"X-Penstock-Tenant": world.tenant.slug}), 404)
    key = key_client(tenant_make("rival"), "write")
    problem(send(key, row, ids, headers={"X-Penstock-Tenant": world.tenant.slug}), 404)
