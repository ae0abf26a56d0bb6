"""What goes on for long ends when the key, the session or the grants that let it in are gone."""

import json

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.http import StreamingHttpResponse
from django.utils import timezone

from console import exports as lists
from controlplane.audit import selectors as audit_selectors
from controlplane.audit.services import audit_record
from controlplane.common.grants import VIEWER, Grant, Match, Over, Pattern
from controlplane.messages import reading
from controlplane.operations import services as operations
from controlplane.operations.models import Operation
from controlplane.tenants import exports, standing
from controlplane.tenants.exports import ExportEndedError
from controlplane.tenants.models import ApiKey, Membership
from tests.controlplane.messages.conftest import fill
from tests.controlplane.rest.conftest import key_client
from tests.controlplane.rest.surface import problem
from tests.controlplane.rest.teams import member_of
from tests.controlplane.support import ACTOR, client_for, observed, tenant_make

pytestmark = pytest.mark.django_db
API = "/api/v1"


@pytest.fixture(autouse=True)
def asked_each_time(monkeypatch):
    monkeypatch.setattr(standing, "ASK_AGAIN_S", 0.0)
    monkeypatch.setattr(reading, "RIGHTS_CHECK_S", 0.0)


def by_key(world):
    return key_client(world.tenant, "write")


def by_session(world):
    client = client_for(world.tenant, "operator")
    client.raise_request_exception = False
    return client


def revoke_key(_world):
    ApiKey.objects.update(revoked_at=timezone.now())


def expire_key(_world):
    ApiKey.objects.update(expires_at=timezone.now())


def disable_account(_world):
    for key in ApiKey.objects.select_related("service_account"):
        key.service_account.disabled_at = timezone.now()
        key.service_account.save()


def narrow_key(_world):
    ApiKey.objects.update(scope="limited", grants=[])


def sign_out(_world):
    Session.objects.all().delete()


def remove_member(world):
    Membership.objects.filter(tenant=world.tenant).delete()


def narrow_member(world):
    other = Grant(
        role=VIEWER, over=Over.TOPIC, names=Pattern(Match.LITERAL, "other"), clusters=Pattern()
    )
    Membership.objects.filter(tenant=world.tenant).update(role="limited", grants=[other.as_row()])


def lock_user(_world):
    User.objects.update(is_active=False)


def close_tenant(world):
    type(world.tenant).objects.filter(pk=world.tenant.pk).update(state="closed")


LOSSES = [
    *((by_key, loss) for loss in (revoke_key, expire_key, disable_account, narrow_key)),
    *((by_session, loss) for loss in (sign_out, remove_member, narrow_member, lock_user)),
    (by_key, close_tenant),
    (by_session, close_tenant),
]


@pytest.fixture
def lost_on_the_way(monkeypatch, world):
    """Has the right taken away by the first look at the brokers' records."""

    def arrange(loss):
        reader = type(world.gateway.record_reader("orders", [0]))
        fetch, lost = reader.fetch, []

        def fetched(self, spans, *, wait_s):
            lost.append(True)
            loss(world)
            return fetch(self, spans, wait_s=wait_s)

        monkeypatch.setattr(reader, "fetch", fetched)
        return lost

    return arrange


DOORS = ("topics/orders/messages", "topics/orders/messages/export", "offset-samples/orders")


@pytest.mark.parametrize(
    ("who", "loss", "door"),
    [
        *((*row, DOORS[0]) for row in LOSSES),
        *((by_key, revoke_key, door) for door in DOORS[1:]),
        *((by_session, narrow_member, door) for door in DOORS[1:]),
    ],
)
def test_a_reading_of_messages_ends_with_the_right_to_it(world, lost_on_the_way, who, loss, door):
    fill(world.gateway, "orders", [(0, b"key", b"secret", ()) for _ in range(5)])
    client = who(world)
    lost = lost_on_the_way(loss)
    answer = client.get(f"{API}/clusters/{world.cluster.id}/{door}")
    assert lost, "it was let in"
    assert answer.status_code in {401, 403, 404}, answer.content
    assert problem(answer, answer.status_code)["code"] in {
        "access-ended",
        "forbidden",
        "not-found",
    }
    assert b"secret" not in answer.content


def read_until_lost(answer, loss, world):
    """The pieces that came, one of them before the loss."""
    found = []

    async def read():
        pieces = aiter(answer.streaming_content)
        found.append(await anext(pieces))
        await sync_to_async(loss)(world)
        async for piece in pieces:
            found.append(piece)  # noqa: PERF401 - a comprehension would lose them with the error

    with pytest.raises(ExportEndedError):
        async_to_sync(read)()
    return b"".join(found).decode()


@pytest.mark.parametrize(
    ("who", "loss", "wanted"),
    [*((*row, "ndjson") for row in LOSSES), (by_key, revoke_key, "csv")],
)
def test_an_export_of_the_record_ends_and_says_so(world, monkeypatch, who, loss, wanted):
    monkeypatch.setattr(audit_selectors, "EXPORT_BATCH", 2)
    for at in range(9):
        audit_record(tenant_id=world.tenant.id, actor=ACTOR, action="x", resource=f"row/{at}")
    client = who(world)
    answer = client.get(f"{API}/audit-events/export", {"action": "x", "format": wanted})
    assert answer["X-Penstock-Export-Complete"] == "true"
    text = read_until_lost(answer, loss, world)
    assert len([at for at in range(9) if f"row/{at}" in text]) in {0, 2}
    *_, last = text.splitlines()
    if wanted == "ndjson":
        assert json.loads(last)["ended"]["status"] in {401, 403}
    else:
        assert last.startswith('"# This file is not whole (')


@pytest.mark.parametrize(("who", "loss"), [LOSSES[0], LOSSES[6]])
def test_a_list_as_a_file_ends_and_says_so(world, monkeypatch, who, loss):
    monkeypatch.setattr(lists, "EXPORT_BATCH", 2)
    for at in range(9):
        world.gateway.add_topic(f"topic-{at}", partitions=1)
    observed(world)
    answer = who(world).get(f"/console/api/exports/topics/{world.cluster.id}")
    text = read_until_lost(answer, loss, world)
    assert "topic-8" not in text
    assert text.splitlines()[-1].startswith('"# This file is not whole (')


def test_who_keeps_their_right_reads_to_the_end(world, monkeypatch):
    monkeypatch.setattr(lists, "EXPORT_BATCH", 2)
    fill(world.gateway, "orders", [(0, b"key", b"value", ()) for _ in range(5)])
    observed(world)
    for who in (by_key, by_session, lambda of: member_of(of.tenant)):
        text = who(world).get(f"/console/api/exports/topics/{world.cluster.id}").content.decode()
        assert "not whole" not in text
    where = f"{API}/clusters/{world.cluster.id}/topics/orders/messages"
    assert len(by_key(world).get(where).json()["data"]) == 5


@pytest.mark.parametrize(("who", "loss"), LOSSES)
def test_a_right_that_goes_while_a_plan_is_looked_at_starts_nothing(world, monkeypatch, who, loss):
    world.gateway.add_topic("orders", partitions=1)
    client = who(world)
    body = {
        "kind": "topic.partitions",
        "cluster_id": world.cluster.id,
        "inputs": {"name": "orders", "partitions": 3},
    }
    plan = client.post(f"{API}/plans", body, format="json").json()
    found_fresh = operations.check_fresh

    def then_lost(*args):
        found_fresh(*args)
        loss(world)

    monkeypatch.setattr(operations, "check_fresh", then_lost)
    body = {
        "plan_id": plan["id"],
        "plan_hash": plan["plan_hash"],
        "confirm": plan["confirm_phrase"] or "",
    }
    answer = client.post(f"{API}/operations", body, format="json")
    assert answer.status_code in {401, 403, 404}, answer.content
    assert not Operation.objects.exists()
    assert len(world.gateway.topics["orders"].partitions) == 1


# -- how many files a tenant has open -----------------------------------------------------------
DOORS_OF_FILES = ("/api/v1/audit-events/export", "/console/api/exports/topics/{cluster}")


@pytest.mark.parametrize("door", DOORS_OF_FILES)
def test_a_tenant_has_so_many_files_open_and_leaves_the_others_theirs(world, monkeypatch, door):
    monkeypatch.setattr(exports, "OPEN_PER_TENANT", 2)
    world.gateway.add_topic("orders", partitions=1)
    observed(world)
    where = door.format(cluster=world.cluster.id)
    client = by_session(world)
    opened = [client.get(where) for _ in range(2)]
    refused = client.get(where)
    assert problem(refused, 429)["code"] == "too-many-exports"
    assert int(refused["Retry-After"]) > 0
    rival = client_for(tenant_make("rival"), "operator")
    assert rival.get(DOORS_OF_FILES[0]).status_code == 200
    # Closed before a byte has come; Django's own closing would end this test's transaction.
    with monkeypatch.context() as patch:
        patch.setattr(StreamingHttpResponse, "close", lambda _response: None)
        opened[0].close()
        opened[0].close()
    kept = client.get(where)
    assert kept.status_code == 200
    assert client.get(where).status_code == 429
    assert kept.streaming, "it is still open"
