"""Fetch from the closest replica (KIP-392): who is sent where, and who stays."""

from __future__ import annotations

import dataclasses

import pytest

from dataplane.config import BrokerConfig, ConfigError
from tests.dataplane.handlers.one_broker import ME, PEER, THIRD, OneBroker, batch
from tests.dataplane.handlers.test_fetch import append, fetch, only, values

RACK_AWARE = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
VERSION = 17
RACKS = {ME: "a", PEER: "b", THIRD: "c"}


def on_racks(**settings: str) -> OneBroker:
    broker = OneBroker(**{"replica.selector.class": RACK_AWARE, "broker.rack": "a", **settings})
    image = broker.metadata_cache.image
    brokers = {n: dataclasses.replace(info, rack=RACKS[n]) for n, info in image.brokers.items()}
    broker.metadata_cache.replace(dataclasses.replace(image, brokers=brokers))
    return broker


def leading(broker: OneBroker, *, isr=(ME, PEER)):
    """Broker 1 leads; PEER has what is written, as far as it says."""
    topic_id = broker.topic("t", replicas=(ME, PEER, THIRD), isr=isr)
    append(broker, batch("a", "b"))
    for follower in (PEER, THIRD):
        broker.partition("t").on_follower_fetch(follower, 2, 0)
    return topic_id


async def ask(broker: OneBroker, topic_id, rack: str, offset: int = 0, **options):
    request = fetch(topic_id, offset, **options)
    request.rack_id = rack
    return only(await broker.ask(request, VERSION))


@pytest.fixture
async def broker():
    broker = on_racks()
    yield broker
    await broker.stop()


async def test_a_consumer_is_sent_to_the_follower_on_its_rack_without_waiting(broker):
    topic_id = leading(broker)
    part = await ask(broker, topic_id, "b", wait_ms=60_000)
    assert (part.error_code, part.preferred_read_replica) == (0, PEER)
    assert not part.records
    assert part.high_watermark == 2


@pytest.mark.parametrize("rack", ["", "a", "nowhere"])
async def test_who_has_no_follower_nearby_reads_from_the_leader(broker, rack):
    part = await ask(broker, leading(broker), rack)
    assert part.preferred_read_replica == -1
    assert values(part) == ["a", "b"]


async def test_followers_out_of_sync_or_behind_or_beyond_are_not_named(broker):
    topic_id = leading(broker, isr=(ME, PEER))
    assert (await ask(broker, topic_id, "c")).preferred_read_replica == -1
    append(broker, batch("c"))
    broker.partition("t").on_follower_fetch(PEER, 2, 1)
    at = {offset: await ask(broker, topic_id, "b", offset) for offset in (0, 1, 2, 3)}
    preferred = {offset: part.preferred_read_replica for offset, part in at.items()}
    assert preferred == {0: -1, 1: PEER, 2: PEER, 3: -1}


async def test_dead_followers_are_not_named(broker):
    topic_id = leading(broker)
    image = broker.metadata_cache.image
    alive = {n: info for n, info in image.brokers.items() if n != PEER}
    broker.metadata_cache.replace(dataclasses.replace(image, brokers=alive))
    assert (await ask(broker, topic_id, "b")).preferred_read_replica == -1


async def test_replicas_are_never_sent_elsewhere(broker):
    part = await ask(broker, leading(broker), "b", replica=PEER)
    assert part.preferred_read_replica == -1
    assert values(part) == ["a", "b"]


async def test_a_follower_serves_consumers_up_to_the_high_watermark(broker):
    broker.topic("t")
    append(broker, batch("a"), batch("b"))
    topic_id = broker.topic("t", leader=PEER, replicas=(ME, PEER), leader_epoch=1)
    part = await ask(broker, topic_id, "a")
    assert part.error_code == 0
    assert part.preferred_read_replica == -1
    assert values(part) == ["a", "b"]


@pytest.mark.parametrize("selector", [None, "org.apache.kafka.common.replica.LeaderSelector"])
async def test_without_the_selector_everybody_reads_from_the_leader(selector):
    given = {} if selector is None else {"replica.selector.class": selector}
    broker = OneBroker(**given)
    part = await ask(broker, leading(broker), "b")
    assert part.preferred_read_replica == -1
    await broker.stop()


def test_other_selectors_are_refused_at_the_start():
    with pytest.raises(ConfigError, match=r"replica\.selector\.class"):
        BrokerConfig.parse({"replica.selector.class": "com.example.Mine"})
