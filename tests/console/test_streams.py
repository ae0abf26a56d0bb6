"""Live streams end with the right to them, within seconds, and a user has a bounded number."""

import asyncio
import time

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone
from prometheus_client import REGISTRY

from console import events
from console.feeds import FEEDS_PER_TENANT_MAX, Feeds, TooManyFeeds
from console.streams import Streams, Ticket, allowed
from controlplane.common.problems import TooManyRequests
from controlplane.tenants.models import Membership
from controlplane.tenants.services import api_key_create
from tests.console.listening import SECONDS, Listener, sign_in
from tests.controlplane.support import ACTOR, tenant_make

pytestmark = pytest.mark.django_db(transaction=True)


def sign_out(user, key):
    client = Client()
    client.cookies["penstock_session"] = key
    assert client.post("/console/api/logout").status_code == 200


def change_password(user, key):
    user.set_password("another")
    user.save()


def lose_membership(user, key):
    Membership.objects.filter(user=user).delete()


def deactivate(user, key):
    User.objects.filter(pk=user.pk).update(is_active=False)


def run_out(user, key):
    Session.objects.filter(pk=key).update(expire_date=timezone.now())


LOSSES = [sign_out, change_password, lose_membership, deactivate, run_out]


@pytest.mark.parametrize("loss", LOSSES)
async def test_a_stream_ends_with_the_right_to_it(listen, loss):
    user, key = await sign_in()
    _, others = await sign_in("bob")
    mine, theirs = await listen(key), await listen(others)
    ended = REGISTRY.get_sample_value("penstock_streams_ended_total")
    await asyncio.sleep(1.5)
    assert not mine.ended.is_set()
    await sync_to_async(loss)(user, key)
    lost_s = time.monotonic()
    await asyncio.wait_for(mine.ended.wait(), SECONDS)
    assert time.monotonic() - lost_s < SECONDS
    assert not theirs.ended.is_set()
    assert REGISTRY.get_sample_value("penstock_streams_ended_total") == ended + 1
    again = await listen(key)
    assert again.status in {401, 404}


async def test_a_key_opens_no_stream(listen):
    _, text = await sync_to_async(
        lambda: api_key_create(tenant=tenant_make(), name="k", scope="write", actor=ACTOR)
    )()
    listener = Listener("/console/events", [(b"authorization", f"Bearer {text}".encode())])
    await asyncio.wait_for(listener.task, SECONDS)
    assert listener.status == 401


async def test_a_user_has_so_many_streams_and_gets_places_back(listen, settings):
    settings.STREAMS_PER_USER = 4
    _, key = await sign_in()
    opened = [await listen(key) for _ in range(4)]
    refused = await listen(key)
    assert refused.status == 429
    assert b"too-many-streams" in refused.content
    _, others = await sign_in("bob")
    assert (await listen(others)).status == 200
    await opened[0].leave()
    assert (await listen(key)).status == 200


def refused_of(whose):
    return REGISTRY.get_sample_value("penstock_streams_refused_total", {"whose": whose}) or 0


async def test_a_tenant_has_so_many_streams_and_leaves_the_others_theirs(listen, settings):
    settings.STREAMS_PER_TENANT = 3
    before = refused_of("tenant")
    _, ada = await sign_in()
    _, bob = await sign_in("bob")
    opened = [await listen(key) for key in (ada, ada, bob)]
    refused = await listen(bob)
    assert (refused.status, refused.headers["content-type"]) == (429, "application/problem+json")
    assert int(refused.headers["retry-after"]) > 0
    assert b"too-many-streams" in refused.content
    assert refused_of("tenant") == before + 1
    _, rival = await sign_in("eve", "rival")
    assert (await listen(rival)).status == 200
    await opened[0].leave()
    assert (await listen(bob)).status == 200


async def test_what_a_tenant_watches_is_bounded_too(listen, world):
    """Streams of many operations hold a feed each; a refused one holds no place."""
    _, key = await sign_in()
    operation = await sync_to_async(
        lambda: world.start(world.plan("topic.create", name="orders"))
    )()
    address = f"/console/events/operations/{operation.id}"
    full, before = Feeds(), refused_of("tenant")
    held = []
    for at in range(FEEDS_PER_TENANT_MAX):
        held.append(full.get(world.tenant.id, str(at), dict))
        held[-1].listeners = 1  # or the next one takes its place
    with pytest.raises(TooManyFeeds, match="tenant"):
        full.get(world.tenant.id, "one more", dict)
    assert full.get(world.tenant.id, "0", dict) is held[0]
    assert full.get("another", "0", dict) not in held
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(events, "FEEDS", full)
        refused = await listen(key, address)
        assert (refused.status, refused_of("tenant")) == (429, before + 1)
        assert int(refused.headers["retry-after"]) > 0
        held[0].listeners = 0
        assert (await listen(key, address)).status == 200


async def test_what_cannot_be_looked_at_ends_the_streams():
    def broken(_tickets):
        raise RuntimeError("the database is away")

    streams = Streams(broken, check_s=0.01)
    stream = streams.join(Ticket("s", 1, "tn", "all"))

    async def endless():
        while True:
            yield "x"
            await asyncio.sleep(0)

    async with asyncio.timeout(SECONDS):
        assert {text async for text in stream.while_allowed(endless())} == {"x"}


async def test_a_place_that_was_never_used_is_free_again(settings):
    streams = Streams(set)
    stream = streams.join(Ticket("s", 1, "tn", "all"))
    for _ in range(settings.STREAMS_PER_USER - 1):
        streams.join(Ticket("s", 1, "tn", "all"))
    with pytest.raises(TooManyRequests) as refused:
        streams.join(Ticket("s", 1, "tn", "all"))
    assert refused.value.retry_after_s
    for _ in range(3):
        stream.close()
    streams.join(Ticket("s", 1, "tn", "all"))


def test_rights_of_many_streams_cost_a_fixed_number_of_statements(
    monkeypatch, django_assert_max_num_queries
):
    monkeypatch.setattr("console.streams.connection.close", lambda: None)
    tickets = [Ticket(f"s{at}", at, "tn", "all") for at in range(100)]
    with django_assert_max_num_queries(3):
        assert allowed(tickets) == set()


def test_the_topics_are_those_that_the_frontend_asks_for():
    assert set(events.TOPICS) == {"operations", "clusters"}
