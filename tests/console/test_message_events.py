"""The stream of messages: events as documented, cancelled by closing, refused in words."""

import asyncio
import json
import threading

import pytest
from asgiref.sync import sync_to_async
from django.db import OperationalError

from controlplane.clusters.models import Cluster
from controlplane.common.grants import Match
from controlplane.gateway.errors import unreachable
from controlplane.gateway.fake_records import FakeRecordReader
from controlplane.gateway.record_port import NewRecord
from controlplane.messages import reading, services
from controlplane.messages.masking import REPLACEMENT
from controlplane.messages.models import MaskRule
from controlplane.messages.reading import SEATS
from controlplane.tenants.models import Membership
from tests.console.listening import SECONDS, sign_in
from tests.console.test_events import faults
from tests.controlplane.messages.conftest import fill
from tests.controlplane.support import tenant_make
from tests.waiting import until

pytestmark = pytest.mark.django_db(transaction=True)
HOSTILE = "<script>alert(1)</script>\u202e\x00\x1b[31m\n\n"


@sync_to_async
def role(user, name):
    Membership.objects.filter(user=user).update(role=name)


@pytest.fixture
async def reader(world):
    user, key = await sign_in()
    await role(user, "operator")
    fill(world.gateway, "orders", [(0, b"k", f"{HOSTILE}{n}".encode()) for n in range(5)])
    return key


def address(world, topic="orders", query=""):
    return f"/console/events/messages/{world.cluster.id}/{topic}?{query}"


def free(world):
    return SEATS.held(f"tenant:{world.tenant.pk}") == 0


async def test_a_page_comes_in_events_as_documented(listen, world, reader):
    listener = await listen(reader, address(world, query="limit=3"))
    await asyncio.wait_for(listener.ended.wait(), SECONDS)
    assert listener.headers["content-type"] == "text/event-stream"
    seen = listener.events()
    assert [faults("MessageEvents", name, data) for name, data in seen] == [[]] * len(seen)
    names = [name for name, _ in seen]
    assert names[:2] == ["phase", "phase"]
    assert names[-1] == "done"
    found = [data["value"]["text"] for name, data in seen if name == "message"]
    assert found == [f"{HOSTILE}{n}" for n in (4, 3, 2)]
    assert seen[-1][1]["ended_by"] == "limit"
    await until(lambda: free(world), "the seat is given back")


async def test_a_tail_shows_what_comes_until_it_is_closed(listen, world, reader):
    listener = await listen(reader, address(world, query="tail=true&value=later"))

    def names():
        return [name for name, _ in listener.events()]

    await until(lambda: "progress" in names(), "it listens")
    assert not free(world)
    for value in (b"not this", b"later 1"):
        world.gateway.write_record("orders", NewRecord(partition=0, key=None, value=value))
    await until(lambda: "message" in names(), "it came")
    (found,) = [data["value"]["text"] for name, data in listener.events() if name == "message"]
    assert found == "later 1"
    assert not listener.ended.is_set()
    await listener.leave()
    await until(lambda: free(world), "the reading is cancelled")


async def test_a_tail_ends_with_the_right_to_it(listen, world, reader):
    listener = await listen(reader, address(world, query="tail=true"))
    await until(listener.events, "it began")
    await sync_to_async(Membership.objects.all().delete)()
    await asyncio.wait_for(listener.ended.wait(), SECONDS)
    await until(lambda: free(world), "the reading is cancelled")


@pytest.fixture
def at_once(monkeypatch):
    """Rights are asked for at each step, and brokers wait a little for records, as real ones."""
    monkeypatch.setattr(reading, "RIGHTS_CHECK_S", 0.0)
    fetch = FakeRecordReader.fetch

    def waiting(self, spans, *, wait_s):
        threading.Event().wait(0.05)
        return fetch(self, spans, wait_s=wait_s)

    monkeypatch.setattr(FakeRecordReader, "fetch", waiting)


async def test_a_tail_is_masked_as_soon_as_a_mask_is_set(listen, world, reader, at_once):
    listener = await listen(reader, address(world, query="tail=true"))

    def phases():
        return [data["masked"] for name, data in listener.events() if name == "phase"]

    def texts():
        return [data["value"]["text"] for name, data in listener.events() if name == "message"]

    await until(lambda: len(phases()) == 2, "it reads")
    world.gateway.write_record("orders", NewRecord(partition=0, key=None, value=b"secret 1"))
    await until(lambda: texts() == ["secret 1"], "it came, and nothing of before")
    rule = await sync_to_async(MaskRule.objects.create)(
        tenant=world.tenant,
        topic_match=Match.LITERAL.value,
        topic_name="orders",
        part="value",
        act="replace",
    )
    await until(lambda: phases() == [False, False, True], "the mask holds")
    world.gateway.write_record("orders", NewRecord(partition=0, key=None, value=b"secret 2"))
    await until(lambda: texts() == ["secret 1", REPLACEMENT], "it came, masked")
    assert b"secret 2" not in listener.content
    await sync_to_async(rule.delete)()
    await until(lambda: phases() == [False, False, True, False], "the mask is gone")
    assert [faults("MessageEvents", name, data) for name, data in listener.events()] == [[]] * len(
        listener.events()
    )


async def test_a_tail_ends_when_its_cluster_is_not_the_tenants_any_more(
    listen, world, reader, at_once
):
    listener = await listen(reader, address(world, query="tail=true"))
    await until(listener.events, "it began")
    rival = await sync_to_async(tenant_make)("rival")
    await sync_to_async(Cluster.objects.filter(pk=world.cluster.id).update)(tenant=rival)
    await asyncio.wait_for(listener.ended.wait(), SECONDS)
    name, data = listener.events()[-1]
    assert (name, data["status"]) == ("failed", 404)
    await until(lambda: free(world), "the seat is given back")


async def test_a_tail_ends_when_nobody_can_say_whether_it_is_allowed(
    listen, world, reader, at_once, monkeypatch
):
    listener = await listen(reader, address(world, query="tail=true"))
    await until(listener.events, "it began")

    def broken(*_):
        raise OperationalError("the database is away")

    monkeypatch.setattr(services, "applying", broken)
    await asyncio.wait_for(listener.ended.wait(), SECONDS)
    name, data = listener.events()[-1]
    assert (name, data["status"]) == ("failed", 503)


async def test_what_fails_later_is_the_last_event(listen, world, reader):
    world.gateway.fail_next("fetch", unreachable("gone"))
    listener = await listen(reader, address(world))
    await asyncio.wait_for(listener.ended.wait(), SECONDS)
    name, data = listener.events()[-1]
    assert (name, data["status"], data["code"]) == ("failed", 503, "cluster-unreachable")
    assert faults("MessageEvents", name, data) == []
    await until(lambda: free(world), "the seat is given back")


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("filter=value.", 422),
        ("limit=9999", 422),
        ("other=1", 422),
        ("cursor=%00", 404),
        ("tail=true&order=newest", 422),
    ],
)
async def test_bad_queries_are_refused_before_anything(listen, world, reader, query, status):
    listener = await listen(reader, address(world, query=query))
    assert listener.status == status
    assert json.loads(listener.content)["status"] == status


async def test_who_may_not_read_messages_opens_nothing(listen, world, reader):
    _, viewer = await sign_in("viv")
    listener = await listen(viewer, address(world))
    assert (listener.status, json.loads(listener.content)["code"]) == (403, "forbidden")
    _, rival = await sign_in("eve", "rival")
    assert (await listen(rival, address(world))).status == 404
    assert (await listen("nobody", address(world))).status == 401


async def test_a_stream_says_early_that_it_waits_for_brokers_that_hang(
    listen, world, reader, monkeypatch, settings
):
    settings.READ_PATIENCE_S = 0.01
    may_answer, called = threading.Event(), world.gateway.called

    def hanging(method):
        assert may_answer.wait(SECONDS)
        called(method)

    monkeypatch.setattr(world.gateway, "called", hanging)
    listener = await listen(reader, address(world, query="limit=3"))
    await until(listener.events, "it says that it waits")
    ((name, data),) = listener.events()
    assert (name, data["phase"], data["masked"]) == ("phase", "connecting", None)
    assert faults("MessageEvents", name, data) == []
    may_answer.set()
    await asyncio.wait_for(listener.ended.wait(), SECONDS)
    names = [name for name, _ in listener.events()]
    assert names[-1] == "done"
    assert names.count("message") == 3


async def test_what_is_refused_late_ends_the_stream_in_words(
    listen, world, reader, monkeypatch, settings
):
    settings.READ_PATIENCE_S = 0.01
    may_answer = threading.Event()

    def hanging(_method):
        assert may_answer.wait(SECONDS)
        raise unreachable("nobody is there")

    monkeypatch.setattr(world.gateway, "called", hanging)
    listener = await listen(reader, address(world))
    await until(listener.events, "it says that it waits")
    may_answer.set()
    await asyncio.wait_for(listener.ended.wait(), SECONDS)
    name, data = listener.events()[-1]
    assert (name, data["status"]) == ("failed", 503)
    await until(lambda: free(world), "no seat was taken")
