"""Dynamic configuration through ZooKeeper: applied by every broker, never lost between two writers."""

from __future__ import annotations

import asyncio

import pytest

from dataplane.broker.metadata import config_store
from dataplane.broker.metadata.change_notifications import KEPT_MS
from dataplane.broker.metadata.config_store import ConfigStore
from dataplane.broker.metadata.registration import ensure_layout
from dataplane.cluster import znodes
from dataplane.config import BrokerConfig
from dataplane.ports.coordinator import ConnectionLossError, CoordinatorError
from dataplane.ports.fakes.clock import FakeClock
from dataplane.ports.fakes.coordinator import FakeZooKeeper
from tests.dataplane.broker.controller.fake_brokers import until


class StartedStore(ConfigStore):
    """Notes what its listeners hear; `session` is its own connection to ZooKeeper."""

    def __init__(self, session, config, broker_id):
        # The fake's nodes are made at time 0: young by this clock, until a test advances it.
        self.clock = FakeClock(realtime_ms=0)
        super().__init__(session, self.clock, config, broker_id=broker_id)
        self.session, self.heard = session, []
        self.on_change(lambda kind, name: self.heard.append((kind, name)))


@pytest.fixture
async def stores():
    """`await stores(broker_id)` starts a store; all share one ZooKeeper."""
    tree, started = FakeZooKeeper(), []
    await ensure_layout(tree.connect())

    async def start(broker_id):
        config = BrokerConfig.parse({"broker.id": str(broker_id), "zookeeper.connect": "x"})
        made = StartedStore(tree.connect(), config, broker_id)
        await made.start()
        started.append(made)
        return made

    start.tree = tree
    yield start
    for store in started:
        await store.stop()


async def test_a_change_reaches_every_broker_and_its_listeners(stores):
    one, two = await stores(1), await stores(2)
    await one.update("topics", "t", lambda _: {"retention.ms": "5"})
    assert one.topic_config("t").get_int("retention.ms") == 5
    await until(lambda: two.topic_config("t").get_int("retention.ms") == 5)
    assert two.heard == [("topics", "t")]
    assert one.heard == [("topics", "t")]
    three = await stores(3)
    assert three.overrides("topics", "t") == {"retention.ms": "5"}
    await two.update("topics", "t", lambda _: {})
    await until(lambda: not one.overrides("topics", "t") and not three.overrides("topics", "t"))
    assert one.entities("topics") == []


async def test_an_entity_is_written_before_its_notification(stores):
    one = await stores(1)
    there = []

    def on_notification(names):
        node = stores.tree.find("/config/topics/t")
        there.append((names, node.data if node else None))

    stores.tree.connect().watch_children(znodes.CONFIG_CHANGES, on_notification)
    await one.update("topics", "t", lambda _: {"retention.ms": "5"})
    await until(lambda: any(names for names, _ in there))
    names, content = next(look for look in there if look[0])
    assert names == ["config_change_0000000000"]
    assert content == b'{"version":1,"config":{"retention.ms":"5"}}'


async def test_two_writers_at_once_lose_nothing(stores):
    one, two = await stores(1), await stores(2)

    def adding(number):
        return lambda present: {**present, f"k{number}": "v"}

    await asyncio.gather(
        *((one if n % 2 else two).update("users", "u", adding(n)) for n in range(8))
    )
    await until(lambda: len(one.overrides("users", "u")) == len(two.overrides("users", "u")) == 8)


async def test_a_change_whose_answer_was_lost_is_made_once(stores):
    one = await stores(1)
    one.session.lose_reply_of_next()
    await one.update("users", "u", lambda present: {**present, "k": "v"})
    assert one.overrides("users", "u") == {"k": "v"}
    assert stores.tree.find("/config/users/u").data == znodes.encode_config({"k": "v"})


async def test_a_name_is_that_of_its_node(stores):
    """A user named like the default entity is not the default entity."""
    one, two = await stores(1), await stores(2)
    name = znodes.sanitize("CN=a/b c*")
    await one.update("users", name, lambda _: {"k": "v"})
    await one.update("users", znodes.sanitize(znodes.DEFAULT_ENTITY), lambda _: {"k": "w"})
    await until(lambda: two.overrides("users", "%3Cdefault%3E") == {"k": "w"})
    assert two.overrides("users", name) == {"k": "v"}
    assert two.overrides("users", znodes.DEFAULT_ENTITY) == {}
    assert stores.tree.find("/config/users/CN%3Da%2Fb%20c%2A")


async def test_the_clients_of_a_user_are_entities_of_their_own(stores):
    """Their nodes lie below the user's, which may have to be made and has nothing of its own."""
    one, two = await stores(1), await stores(2)
    notices = []

    def on_notification(names):
        node = stores.tree.find(f"{znodes.CONFIG_CHANGES}/{names[0]}") if names else None
        notices.append(node and node.data)

    stores.tree.connect().watch_children(znodes.CONFIG_CHANGES, on_notification)
    await one.update("users/u/clients", "c", lambda _: {"k": "v"})
    await until(lambda: b'{"version":2,"entity_path":"users/u/clients/c"}' in notices)
    await one.update("users/u/clients", "d", lambda _: {"k": "w"})
    await until(lambda: two.overrides("users/u/clients", "d") == {"k": "w"})
    three = await stores(3)
    for store in (one, two, three):
        assert store.entities("users/u/clients") == ["c", "d"]
        assert store.overrides("users/u/clients", "c") == {"k": "v"}
        assert store.entity_types() == {"users/u/clients"}


async def test_dynamic_broker_settings_change_the_brokers_config_and_topic_defaults(stores):
    one, two = await stores(1), await stores(2)
    await one.update("brokers", znodes.DEFAULT_ENTITY, lambda _: {"log.retention.ms": "7"})
    await until(lambda: two.topic_config("t").get_int("retention.ms") == 7)
    await one.update("brokers", "2", lambda _: {"log.retention.ms": "8"})
    await until(lambda: two.topic_config("t").get_int("retention.ms") == 8)
    assert one.topic_config("t").get_int("retention.ms") == 7
    assert two.broker_config.per_broker == {"log.retention.ms": "8"}


async def test_what_another_tool_wrote_wrongly_is_passed_over(stores):
    one = await stores(1)
    bad = {"retention.ms": "soon", "no.such": "1", "segment.bytes": "4096"}
    await one.update("topics", "t", lambda _: bad)
    config = one.topic_config("t")
    assert config.get_int("segment.bytes") == 4096
    assert not config.is_set("retention.ms")
    await one.update("brokers", "1", lambda _: {"num.partitions": "many"})
    assert one.broker_config.get_int("num.partitions") == 1
    session = stores.tree.connect()
    await session.create(znodes.CONFIG_CHANGE_PREFIX, b"nonsense", sequential=True)
    await one.update("topics", "t", lambda _: {})
    await until(lambda: not one.overrides("topics", "t"))


async def test_new_topics_can_be_read_before_their_notification(stores):
    one = await stores(1)
    session = stores.tree.connect()
    await session.create("/config/topics/t", znodes.encode_config({"retention.ms": "3"}))
    assert not one.topic_config("t").is_set("retention.ms")
    await one.reload_topics(["t", "absent"])
    assert one.topic_config("t").get_int("retention.ms") == 3


async def test_old_notifications_are_removed(stores):
    one = await stores(1)
    one.clock.advance(KEPT_MS + 1)
    session = stores.tree.connect()
    for _ in range(3):
        await session.create(
            znodes.CONFIG_CHANGE_PREFIX, znodes.encode_config_change("topics/t"), sequential=True
        )
    await until(lambda: not stores.tree.find(znodes.CONFIG_CHANGES).children)
    assert one.heard == []


async def test_a_change_that_comes_while_old_notifications_are_looked_for_is_applied(stores):
    one, two = await stores(1), await stores(2)
    sound, looking, may_look = two.session.exists, asyncio.Event(), asyncio.Event()

    async def exists(path):
        looking.set()
        await may_look.wait()
        return await sound(path)

    two.session.exists = exists
    await one.update("users", "u", lambda _: {"k": "1"})
    await looking.wait()
    await one.update("users", "u", lambda _: {"k": "2"})
    for _ in range(10):
        await asyncio.sleep(0)
    may_look.set()
    await until(lambda: two.overrides("users", "u") == {"k": "2"})


async def test_a_change_that_could_not_be_read_is_read_when_zookeeper_answers(stores):
    one, two = await stores(1), await stores(2)
    sound, failures = two.session.multi, [ConnectionLossError(), ConnectionLossError()]

    async def multi(ops):
        if failures:
            raise failures.pop()
        return await sound(ops)

    two.session.multi = multi
    await one.update("users", "u", lambda _: {"k": "1"})
    await until(lambda: two.overrides("users", "u") == {"k": "1"})
    assert (one.change_retries, two.change_retries) == (0, 2)


async def test_an_older_reading_does_not_replace_a_newer_change(stores):
    one, two = await stores(1), await stores(2)
    sound, read, may_answer = two.session.multi, asyncio.Event(), asyncio.Event()

    async def multi(ops):
        found = await sound(ops)
        if not read.is_set() and any(getattr(op, "path", "") == "/config/users/u" for op in ops):
            read.set()
            await may_answer.wait()
        return found

    two.session.multi = multi
    await one.update("users", "u", lambda _: {"k": "old"})
    await read.wait()  # two has read "old", and does not know it yet
    seen = []
    two.on_change(lambda *_: seen.append(two.overrides("users", "u")))
    update = asyncio.create_task(two.update("users", "u", lambda _: {"k": "new"}))
    for _ in range(20):
        await asyncio.sleep(0)
    may_answer.set()
    await update
    await until(lambda: two.overrides("users", "u") == one.overrides("users", "u") == {"k": "new"})
    assert seen == [{"k": "old"}, {"k": "new"}]


async def test_endless_contention_is_an_error_not_a_loop(stores):
    one = await stores(1)
    session = stores.tree.connect()
    await session.create("/config/topics/t", b"")

    def sabotage(present):
        stores.tree.apply([config_store.SetData("/config/topics/t", b"")], 0)
        return {**present, "retention.ms": "1"}

    with pytest.raises(CoordinatorError, match="all the time"):
        await one.update("topics", "t", sabotage)
