"""What one broker writes every other reads, also when it comes at a bad moment or ZooKeeper fails."""

from __future__ import annotations

import asyncio
import random

import pytest

from dataplane.broker.metadata import change_notifications
from dataplane.broker.metadata.change_notifications import KEPT_MS, ChangeListener
from dataplane.ports.coordinator import ConnectionLossError, NotAuthorizedError
from dataplane.ports.fakes.clock import FakeClock
from dataplane.ports.fakes.coordinator import FakeZooKeeper
from tests.dataplane.broker.controller.fake_brokers import until

PATH = "/changes"


class Following:
    """A listener on changes that name nodes, and what it knows of these."""

    def __init__(self, tree, *, failing=lambda: False, **options):
        self.session = tree.connect()
        self.known, self.rounds = {}, []
        self._failing = failing
        self.reading = asyncio.Event()
        self.may_read = asyncio.Event()
        self.may_read.set()
        self._spoil("multi")
        self._spoil("exists")
        self.bug = None
        # The fake's nodes were all made at time 0: by this clock none is old enough to be removed.
        clock = options.pop("clock", FakeClock(realtime_ms=0))
        self.listener = ChangeListener(
            self.session, clock, PATH, bytes.decode, self.read, **options
        )

    def _spoil(self, method):
        """Each read waits until it may go on, and may fail then."""
        sound = getattr(self.session, method)

        async def read(*arguments):
            self.reading.set()
            await self.may_read.wait()
            if self._failing():
                raise ConnectionLossError
            return await sound(*arguments)

        setattr(self.session, method, read)

    async def read(self, names):
        self.rounds.append(names)
        if self.bug in names:
            raise TypeError("a bug")
        for name in names:
            data, _ = await self.session.get(f"/{name}")
            self.known[name] = data


@pytest.fixture
async def tree(monkeypatch):
    monkeypatch.setattr(change_notifications, "RETRY_S", 0.001)
    tree = FakeZooKeeper()
    session = tree.connect()
    await session.create(PATH, b"")

    async def write(name, data):
        if await session.exists(f"/{name}") is None:
            await session.create(f"/{name}", data)
        else:
            await session.set(f"/{name}", data)
        await session.create(f"{PATH}/change_", name.encode(), sequential=True)

    tree.write = write
    return tree


@pytest.fixture
async def following(tree):
    started = []

    def start(seen=(), **options):
        started.append(Following(tree, **options))
        started[-1].listener.start(seen)
        return started[-1]

    yield start
    for each in started:
        await each.listener.stop()


@pytest.mark.parametrize("purges", [True, False])
async def test_a_change_that_comes_while_another_is_handled_is_read(tree, following, purges):
    """Whatever is being read or removed at that moment."""
    one = following(purges=purges)
    for turns in range(30):
        await tree.write("a", b"first %d" % turns)
        for _ in range(turns):
            await asyncio.sleep(0)
        await tree.write("b", b"second %d" % turns)
        await until(lambda turns=turns: one.known.get("b") == b"second %d" % turns)


async def test_a_change_that_comes_while_old_ones_are_removed_is_read(tree, following):
    one = following()
    await tree.write("a", b"1")
    await until(lambda: one.known == {"a": b"1"})
    one.reading.clear()
    one.may_read.clear()
    await tree.write("b", b"1")
    await one.reading.wait()  # one read is held up; more changes come meanwhile
    await tree.write("c", b"1")
    one.may_read.set()
    await until(lambda: one.known == {"a": b"1", "b": b"1", "c": b"1"})


async def test_a_change_is_read_again_until_zookeeper_answers(tree, following):
    failures = [True] * 5
    one = following(failing=lambda: bool(failures) and failures.pop())
    await tree.write("a", b"1")
    await until(lambda: one.known == {"a": b"1"})
    assert not failures
    assert one.listener.retries == 5


async def test_what_a_change_names_is_read_again_until_zookeeper_answers(tree, following):
    one = following()
    sound, failures = one.session.get, [NotAuthorizedError(), ConnectionLossError()]

    async def get(path):
        if failures:
            raise failures.pop()
        return await sound(path)

    one.session.get = get
    await tree.write("a", b"1")
    await until(lambda: one.known == {"a": b"1"})
    # One by itself once more where ZooKeeper refused it, all again where it was not reached.
    assert one.rounds == [["a"]] * 3


async def test_what_zookeeper_refuses_does_not_hold_up_the_others(tree, following):
    one = following()
    sound, refused = one.session.get, {"/b"}

    async def get(path):
        if path in refused:
            raise NotAuthorizedError
        return await sound(path)

    one.session.get = get
    for name in "abc":
        await tree.write(name, b"1")
    await until(lambda: one.known == {"a": b"1", "c": b"1"})
    await tree.write("d", b"1")
    await until(lambda: one.known == {"a": b"1", "c": b"1", "d": b"1"})
    refused.clear()
    await until(lambda: one.known.get("b") == b"1")


async def test_a_thing_that_changed_often_is_read_once(tree, following):
    for value in range(5):
        await tree.write("a", b"%d" % value)
        await tree.write("b", b"%d" % value)
    one = following()
    await until(lambda: one.known == {"a": b"4", "b": b"4"})
    assert one.rounds == [["a", "b"]]


async def test_what_was_seen_before_is_not_read(tree, following):
    await tree.write("a", b"1")
    one = following(seen=await tree.connect().children(PATH))
    await tree.write("b", b"1")
    await until(lambda: one.known == {"b": b"1"})
    assert one.rounds == [["b"]]


async def test_what_cannot_be_understood_is_passed_over(tree, following):
    session = tree.connect()
    one = following()
    await session.create(f"{PATH}/change_", b"\xff\xfe", sequential=True)
    await tree.write("a", b"1")
    await until(lambda: one.known == {"a": b"1"})


async def test_a_bug_with_one_change_does_not_hide_the_later_ones(tree, following, caplog):
    one = following()
    one.bug = "bad"
    for name in ("a", "bad", "b"):
        await tree.write(name, b"1")
    await until(lambda: "a bug" in caplog.text)
    await tree.write("c", b"1")
    await until(lambda: one.known == {"a": b"1", "b": b"1", "c": b"1"})


async def test_young_changes_stay_and_old_ones_go_also_those_read_long_ago(tree, following):
    clock = FakeClock(realtime_ms=KEPT_MS)
    one = following(clock=clock)
    await tree.write("a", b"1")
    await until(lambda: one.known == {"a": b"1"})
    assert len(tree.find(PATH).children) == 1
    clock.advance(1)
    await tree.write("b", b"1")
    await until(lambda: not tree.find(PATH).children)
    assert one.known == {"a": b"1", "b": b"1"}


@pytest.mark.parametrize("seed", range(20))
async def test_brokers_agree_in_the_end_whatever_fails(tree, following, seed):
    rng = random.Random(seed)
    brokers = [following(failing=lambda: rng.random() < 0.2, purges=n != 1) for n in range(3)]
    for value in range(40):
        await tree.write(rng.choice("abc"), b"%d" % value)
        for _ in range(rng.randrange(8)):
            await asyncio.sleep(0)
        if rng.random() < 0.05:
            rng.choice(brokers).session.expire()
    written = {name: tree.find(f"/{name}").data for name in "abc"}
    for each in brokers:
        await until(lambda each=each: each.known == written)
