"""Every POST of the REST API is carried out once per `Idempotency-Key`.

The table of URLs is walked: a new POST is in these tests by being served.
"""

import json
import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models import F
from django.utils import timezone
from rest_framework.test import APIClient

from controlplane.analytics.models import AnalyticsRun
from controlplane.common import idempotency
from controlplane.common.keyring import SecretUnreadableError
from controlplane.common.models import IdempotencyKey
from controlplane.operations.states import RUNNING as RUN_RUNNING
from controlplane.tenants.models import ApiKey, Membership, ServiceAccount
from controlplane.tenants.views import CheckedView
from tests.controlplane.kind_plans import rolling
from tests.controlplane.rest.conftest import key_client
from tests.controlplane.rest.surface import BODIES, OPERATOR_PREFIX, filled, problem
from tests.controlplane.rest.test_endpoints import address, documented_path, served
from tests.controlplane.support import client_for, operator_client, tenant_make

pytestmark = pytest.mark.django_db
API = "/api/v1"
ACCOUNTS = f"{API}/service-accounts"

# POSTs that take no key, each with the reason.
WITHOUT = {
    "agents/join": "a host that joins is nobody yet; its token is spent once, a second time is refused",
    "console/api/login": "nobody is signed in whose key it could be; a second sign-in does no harm",
    "console/api/logout": "whoever is signed out stays so; the answer sets cookies",
    "console/api/tenant": "the same choice twice is one choice",
    "console/api/password": "a second time the old password is wrong: nothing changes twice",
    "console/api/favourites": "the same mark twice is one mark, and so is one taken away",
    "console/api/invitation": "reads; a POST only so that the link's text is in no address",
    "console/api/invitation/acceptance": "the link itself opens once; its answer sets cookies",
}
SECRETS = ("psk_", "psi_", "psj_")


def posts():
    """(route, view class) of every address that takes a POST."""
    return [
        (route, view.view_class)
        for route, view in served()
        if hasattr(view, "view_class") and hasattr(view.view_class, "post")
    ]


KEYED = [route for route, view in posts() if issubclass(view, CheckedView)]


def test_every_post_takes_a_key_or_is_listed_with_its_reason():
    assert {route for route, _ in posts()} - set(KEYED) == set(WITHOUT)
    assert len(KEYED) >= 17
    assert all(route.startswith("api/v1/") for route in KEYED)


@pytest.fixture
def usable(world, ids):
    """`ids`, where operations and runs are such that each POST is served."""
    started = world.start(world.plan("topic.create", name="under-way"))
    moving = world.start(
        world.plan(
            "reassignment", moves=[{"topic": "orders", "partition": 0, "replicas": [4, 3, 2]}]
        )
    )
    rolled = rolling(world)
    with_secret = world.run("user.create", username="fresh", mechanism="SCRAM-SHA-512")
    by_route = {
        "cancellation": {"operation": started.id},
        "throttle": {"move": moving.id},
        "pause": {"operation": rolled.id},
        "resumption": {"operation": rolled.id},
        "secret": {"operation": with_secret.id},
    }

    def of(route):
        if route.endswith("runs/<str:run_id>/cancellation"):
            AnalyticsRun.objects.filter(pk=ids["run"]).update(state=RUN_RUNNING)
        return {**ids, **by_route.get(route.rpartition("/")[2], {})}

    return of


def sender(world, route, ids):
    """Sends the route's request with a key: `send(key, client=…, **change)`."""
    path = address(route, ids)
    about = f"post {documented_path(route).removeprefix(API)}"
    body = filled(BODIES.get(about, {}), ids)
    is_operators = path.startswith(OPERATOR_PREFIX) or "/runs/" in path
    usual = operator_client(world.tenant) if is_operators else client_for(world.tenant)

    def send(key, client=usual, **change):
        client.raise_request_exception = False
        return client.post(
            path, {**body, **change}, format="json", headers={"Idempotency-Key": key}
        )

    return send


@pytest.mark.parametrize("route", KEYED)
def test_a_second_request_with_the_key_is_answered_and_not_carried_out(world, usable, state, route):
    send = sender(world, route, usable(route))
    first = send("one")
    assert first.status_code in {200, 201, 202}, first.content
    assert "Idempotency-Replayed" not in first
    after = state()
    second = send("one")
    assert (second.status_code, second.content) == (first.status_code, first.content)
    assert second["Idempotency-Replayed"] == "true"
    assert second.get("Location") == first.get("Location")
    assert second["Cache-Control"] == first["Cache-Control"]
    refused = problem(send("one", surprise=1), 422)
    assert refused["code"] == "idempotency-key-reused"
    assert state() == after


@pytest.mark.parametrize("route", KEYED)
def test_an_answer_with_a_secret_is_sealed_and_soon_forgotten(world, usable, state, route):
    send = sender(world, route, usable(route))
    first = send("one")
    text = first.content.decode()
    is_secret = any(sign in text for sign in SECRETS) or route.endswith("secret")
    view = dict(posts())[route]
    # A key is shown by its beginning wherever it is listed; only POSTs show all of one.
    assert view.shows_secret == is_secret
    row = IdempotencyKey.objects.get()
    assert row.answer.startswith("gAAAAA")
    stored = json.dumps([str(getattr(row, f.attname)) for f in row._meta.concrete_fields])
    for value in strings(first.json()):
        assert len(value) < 20 or value not in stored
    life = row.answer_ends_at - row.created_at
    expected = idempotency.SECRET_KEPT if is_secret else idempotency.KEPT
    assert abs(life - expected) < timedelta(minutes=1)
    after = state()
    IdempotencyKey.objects.update(answer_ends_at=timezone.now())
    assert problem(send("one"), 410)["code"] == "idempotency-answer-gone"
    assert state() == after


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from strings(each)


@pytest.mark.parametrize("route", KEYED)
def test_what_is_refused_frees_its_key(world, usable, state, route):
    send = sender(world, route, usable(route))
    before = state()
    bad = {"surprise": 1} if BODIES.get(f"post {documented_path(route).removeprefix(API)}") else {}
    if bad:
        problem(send("one", **bad), 422)
        assert state() == before
        assert not IdempotencyKey.objects.exists()
    assert send("one").status_code in {200, 201, 202}


def post_account(client, key, name="new"):
    client.raise_request_exception = False
    body = {"name": name, "description": ""}
    return client.post(ACCOUNTS, body, format="json", headers={"Idempotency-Key": key})


def test_a_key_is_its_callers_own(world):
    """Neither another user of the tenant nor of another one is answered with what is not theirs."""
    owner, other = client_for(world.tenant), client_for(world.tenant, "owner", "second")
    rival = client_for(tenant_make("rival"))
    first = post_account(owner, "same")
    assert first.status_code == 201
    taken = problem(post_account(other, "same"), 409)
    assert taken["code"] == "name-taken"
    foreign = post_account(rival, "same")
    assert foreign.status_code == 201
    assert foreign.json()["id"] != first.json()["id"]
    assert "Idempotency-Replayed" not in foreign
    assert post_account(owner, "same").json()["id"] == first.json()["id"]


def test_one_user_s_key_in_another_tenant_is_another_one(world):
    owner = client_for(world.tenant)
    user = Membership.objects.get(tenant=world.tenant, user__username="acme-owner").user
    second = tenant_make("second")
    Membership.objects.create(tenant=second, user=user, role="owner")
    first = post_account(owner, "same")
    owner.credentials(HTTP_X_PENSTOCK_TENANT="second")
    there = post_account(owner, "same")
    assert there.status_code == 201
    assert there.json()["id"] != first.json()["id"]


def test_two_keys_of_a_tenant_do_not_share_an_idempotency_key(world):
    body = {"kind": "topic.create", "cluster_id": world.cluster.id, "inputs": {"name": "t"}}
    clients = [key_client(world.tenant, "write") for _ in range(2)]
    made = [
        client.post(f"{API}/plans", body, format="json", headers={"Idempotency-Key": "same"})
        for client in clients
    ]
    assert [answer.status_code for answer in made] == [201, 201]
    assert made[0].json()["id"] != made[1].json()["id"]


def test_a_replay_needs_the_right_that_the_request_needed(world):
    client = client_for(world.tenant)
    assert post_account(client, "one").status_code == 201
    Membership.objects.update(role="viewer")
    assert problem(post_account(client, "one"), 403)["code"] == "forbidden"


@pytest.mark.parametrize("key", ["", " ", "x" * 201, "é", "a\tb", '"' + "x" * 201 + '"', '""'])
def test_keys_are_bounded_in_length_and_characters(world, state, key):
    client = client_for(world.tenant)
    before = state()
    refused = problem(post_account(client, key), 400)
    assert refused["code"] == "idempotency-key"
    assert state() == before


def test_a_key_may_be_quoted_as_the_draft_has_it(world):
    client = client_for(world.tenant)
    first = post_account(client, '"8e03 \\"978"')
    assert first.status_code == 201
    assert post_account(client, '8e03 "978').json() == first.json()


def test_a_request_under_way_answers_409_until_its_lease_is_over(world):
    client = client_for(world.tenant)
    assert post_account(client, "one").status_code == 201
    made = IdempotencyKey.objects.get()
    ServiceAccount.objects.all().delete()
    # As a process leaves it that is killed at the work.
    IdempotencyKey.objects.update(
        status=None,
        answer="",
        lease_token="t",
        lease_expires_at=made.created_at + timedelta(days=1),
    )
    refused = post_account(client, "one")
    assert problem(refused, 409)["code"] == "in-progress"
    assert int(refused["Retry-After"]) >= 1
    assert not ServiceAccount.objects.exists()
    IdempotencyKey.objects.update(lease_expires_at=made.created_at - timedelta(seconds=1))
    assert post_account(client, "one").status_code == 201
    assert ServiceAccount.objects.count() == 1


def test_a_request_that_was_taken_for_dead_takes_its_work_back(world, monkeypatch):
    claim = idempotency.leases.claim

    def claim_and_lose(rows, length):
        token = claim(rows, length)
        IdempotencyKey.objects.update(lease_token="another")
        return token

    monkeypatch.setattr(idempotency.leases, "claim", claim_and_lose)
    client = client_for(world.tenant)
    assert problem(post_account(client, "one"), 409)["code"] == "in-progress"
    assert not ServiceAccount.objects.exists()
    assert IdempotencyKey.objects.get().lease_token == "another"


def test_a_fault_in_the_middle_leaves_neither_work_nor_key(world, monkeypatch):
    from controlplane.administration.api import tenant as api

    def broken(*_):
        raise RuntimeError("after the write")

    kept, api.selectors.service_account_detail = api.selectors.service_account_detail, broken
    try:
        assert problem(post_account(client_for(world.tenant), "one"), 500)
    finally:
        api.selectors.service_account_detail = kept
    assert not ServiceAccount.objects.exists()
    assert not IdempotencyKey.objects.exists()
    assert post_account(client_for(world.tenant), "one").status_code == 201


def test_a_caller_has_a_bounded_number_of_keys(world, monkeypatch):
    monkeypatch.setattr(idempotency, "KEYS_LIVE_MAX", 2)
    client, other = client_for(world.tenant), client_for(world.tenant, "owner", "second")
    for each in ("a", "b"):
        assert post_account(client, each, name=each).status_code == 201
    refused = post_account(client, "c", name="c")
    assert problem(refused, 429)["code"] == "too-many-idempotency-keys"
    assert 80_000 < int(refused["Retry-After"]) <= 86_401
    assert post_account(client, "a", name="a")["Idempotency-Replayed"] == "true"
    assert post_account(other, "c", name="d").status_code == 201
    IdempotencyKey.objects.update(created_at=F("created_at") - idempotency.KEPT)
    assert idempotency.forget_old_keys() == 3
    assert post_account(client, "c", name="c").status_code == 201


def test_an_answer_that_is_too_large_to_keep_is_not_made_again(world, monkeypatch):
    monkeypatch.setattr(idempotency, "ANSWER_MAX_BYTES", 10)
    client = client_for(world.tenant)
    assert post_account(client, "one").status_code == 201
    assert problem(post_account(client, "one"), 410)["code"] == "idempotency-answer-gone"
    assert ServiceAccount.objects.count() == 1


def test_an_answer_whose_key_was_taken_away_is_gone(world, monkeypatch):
    client = client_for(world.tenant)
    assert post_account(client, "one").status_code == 201

    class Ring:
        def unseal(self, token):
            raise SecretUnreadableError("another key")

    monkeypatch.setattr(idempotency, "keyring", Ring)
    assert problem(post_account(client, "one"), 410)["code"] == "idempotency-answer-gone"


def test_the_sweep_forgets_secrets_long_before_keys(world):
    client = client_for(world.tenant)
    made = client.post(
        f"{API}/api-keys",
        {"name": "ci", "scope": "read"},
        format="json",
        headers={"Idempotency-Key": "one"},
    )
    assert made.status_code == 201
    assert idempotency.forget_old_keys() == 0
    assert IdempotencyKey.objects.exclude(answer="").count() == 1
    IdempotencyKey.objects.update(answer_ends_at=timezone.now() - timedelta(seconds=1))
    assert idempotency.forget_old_keys() == 0
    assert IdempotencyKey.objects.get().answer == ""


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("path", ["service-accounts", "api-keys"])
def test_of_several_at_once_one_is_carried_out(world, path):
    """With a database connection each, on SQLite and PostgreSQL."""
    at_once = 4
    client_for(world.tenant)  # the user, before the threads look for it
    barrier, answers = threading.Barrier(at_once), []

    def ask(client):
        barrier.wait()
        answers.append(
            client.post(
                f"{API}/{path}",
                {"name": "once"},
                format="json",
                headers={"Idempotency-Key": "at once"},
            )
        )
        connection.close()

    clients: list[APIClient] = [client_for(world.tenant) for _ in range(at_once)]
    threads = [threading.Thread(target=ask, args=(each,)) for each in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    model = {"service-accounts": ServiceAccount, "api-keys": ApiKey}[path]
    assert model.objects.count() == 1
    done = [answer for answer in answers if answer.status_code == 201]
    assert done
    assert len({answer.content for answer in done}) == 1
    assert {answer.status_code for answer in answers} <= {201, 409}
    assert all(
        answer.json()["code"] == "in-progress" for answer in answers if answer.status_code == 409
    )
