"""What a group coordinator does in a second: commits, a large rebalance, many members and offsets."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from dataplane.wire.messages.offset_fetch import OffsetFetchRequest
from tests.bench.dataplane import asking, groups, protocol
from tests.bench.dataplane.cluster import KAFKA, OURS, Cluster
from tests.bench.dataplane.load import BenchError
from tests.bench.dataplane.proc import cpu_s, resident_mib
from tests.bench.dataplane.results import value_at_least, value_at_most
from tests.bench.dataplane.zookeeper import Watcher

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.bench.dataplane.asking import Connection
    from tests.bench.dataplane.bench import Bench, Sample
    from tests.bench.dataplane.cluster import Kind
    from tests.bench.dataplane.groups import Member

COMMITTERS, BURST = 4, 200
MEMBERS = 1000
GROUPS, GROUP_MEMBERS, GROUP_PARTITIONS = 100, 100, 1000
LOAD_S_MAX = 120.0


def commits(bench: Bench) -> None:
    """Four consumers commit without waiting: one partition a request, ten, a hundred."""
    bench.close()
    for places, title in ((1, "one a request"), (10, "10 a request"), (100, "100 a request")):
        _commits(bench, places, title)


def _commits(bench: Bench, places: int, title: str) -> None:
    with (
        Cluster(OURS, 1, groups.SETTINGS) as ours,
        Cluster(KAFKA, 1, groups.SETTINGS) as kafka,
    ):
        sides = [ours.start(), kafka.start()]
        for side in sides:
            _create_topic(side, places)

        def once(side: Cluster, seconds: float = bench.options.seconds) -> Sample:
            return asking.run(_commit_for(side, places, seconds))

        bench.warm_up(sides, once, "commits_s")
        samples = bench.rounds(sides, once, lambda side: side.name)
    goal = value_at_least(50_000)
    bench.row(f"offset commits pipelined, {title}", "commits/s", samples, "commits_s", goal=goal)
    bench.row("  CPU per commit", "µs", samples, "cpu_us")


async def _commit_for(side: Cluster, places: int, seconds: float) -> Sample:
    await asking.find_coordinator(side.port, "committers-0")
    burst = max(1, BURST // places)
    done = 0
    deadline = time.perf_counter() + seconds

    async def commit_on(number: int, lane: Connection) -> None:
        nonlocal done
        request = groups.commit(groups.alone(f"committers-{number}"), range(places))
        answer = b""
        while time.perf_counter() < deadline:
            answer = await lane.ask_many(request, burst, answer)
            done += burst * places

    async with asking.connections(side.port, COMMITTERS) as lanes:
        for number, lane in enumerate(lanes):
            _check_commit(
                await lane.ask(groups.commit(groups.alone(f"committers-{number}"), range(places)))
            )
        begun, before = time.perf_counter(), cpu_s(side.pids)
        await asyncio.gather(*(commit_on(*each) for each in enumerate(lanes)))
        took_s, spent = time.perf_counter() - begun, cpu_s(side.pids) - before
    return {"commits_s": done / took_s, "cpu_us": spent / done * 1e6}


def _create_topic(side: Cluster, partitions: int) -> None:
    """Whose offsets are committed: a coordinator knows of no others."""
    protocol.create_topics(side.port, [protocol.topic(groups.TOPIC, partitions, 1)])
    side.wait_until(
        lambda client: protocol.is_full(client.metadata([groups.TOPIC]), partitions, 1), "created"
    )


def _check_commit(answer: object) -> None:
    codes = {each.error_code for topic in answer.topics for each in topic.partitions}  # type: ignore[attr-defined]
    if codes != {0}:
        raise BenchError(f"OffsetCommit: {codes}")


def thousand_members(bench: Bench) -> None:
    """From one more member's JoinGroup until all 1,000 have their assignment.

    The others join again at once: how long they take to hear of it is their heartbeats' interval.
    """
    bench.close()

    def once(kind: Kind) -> Sample:
        with Cluster(kind, 1, groups.SETTINGS) as side:
            side.start()
            return asking.run(_rebalanced(side))

    samples = bench.rounds([OURS, KAFKA], once, lambda kind: kind.name)
    bench.row("group of 1,000 members rebalanced", "s", samples, "s", goal=value_at_most(5))
    bench.row("  CPU of the broker", "s", samples, "cpu_s")


async def _rebalanced(side: Cluster) -> Sample:
    await asking.find_coordinator(side.port, "large")
    async with asking.connections(side.port, MEMBERS) as lanes:
        known = await groups.rebalance(lanes[:-1], "large")
        begun, before = time.perf_counter(), cpu_s(side.pids)
        members = await groups.join_one_more(lanes, known)
        took_s, spent = time.perf_counter() - begun, cpu_s(side.pids) - before
        generations = {member.generation for member in members}
        if len({member.member_id for member in members}) != MEMBERS or len(generations) != 1:
            raise BenchError(f"{MEMBERS} members in generations {generations}")
    return {"s": took_s, "cpu_s": spent}


def ten_thousand_members(bench: Bench) -> None:
    """10,000 members of 100 groups with 100,000 committed offsets in one offsets partition.

    Then their coordinator is killed: from the end of its registration until the other broker
    answers OffsetFetch of the first and the last group, with every offset.
    """
    bench.close()
    settings = {
        **groups.SETTINGS,
        "offsets.topic.replication.factor": "2",
        "group.initial.rebalance.delay.ms": "100",  # waited for a hundred times
    }

    def once(_side: None) -> Sample:
        with Cluster(OURS, 2, settings) as side, Watcher(side.zookeeper.connect_string) as watcher:
            side.start()
            _create_topic(side, GROUP_PARTITIONS)
            sample, dead = asking.run(_filled(side))
            other = next(broker for broker in side.brokers if broker.id != dead)
            side.brokers[dead].kill()
            known = watcher.forgotten_at(dead)
            before = cpu_s([other.pid])
            sample["load_s"] = _wait_until_loaded(other.port) - known
            sample["load_cpu_s"] = cpu_s([other.pid]) - before
            return sample

    samples = bench.rounds([None], once, lambda _side: "ours")
    title = "10,000 members, 100,000 offsets: "
    bench.row(f"{title}resident above an idle coordinator", "MiB", samples, "mib")
    bench.row("  CPU per heartbeat", "µs", samples, "beat_us")
    bench.row("  heartbeats served", "1/s", samples, "beats_s", goal=value_at_least(10_000 / 3))
    bench.row("  CPU per commit, 1,000 a request", "µs", samples, "commit_us")
    bench.row("  joined and synced, CPU a member", "µs", samples, "join_us")
    bench.row("  loaded by another broker", "s", samples, "load_s")
    bench.row("  its CPU meanwhile", "s", samples, "load_cpu_s")


async def _filled(side: Cluster) -> tuple[Sample, int]:
    dead = await asking.find_coordinator(side.port, "group-0")
    coordinator = side.brokers[dead]
    pids = [coordinator.pid]
    async with asking.connections(coordinator.port, GROUP_MEMBERS) as lanes:
        empty = resident_mib(coordinator.pid)
        before = cpu_s(pids)
        names = [f"group-{number}" for number in range(GROUPS)]
        # A connection waits for its JoinGroup: one group after the other.
        members = [await groups.rebalance(lanes, name) for name in names]
        join_s = cpu_s(pids) - before
        before = cpu_s(pids)
        for group in members:
            _check_commit(await lanes[0].ask(groups.commit(group[0], range(GROUP_PARTITIONS))))
        commit_s = cpu_s(pids) - before
        mib = resident_mib(coordinator.pid) - empty
        beats_s, beat_us = await _beat(lanes, members, pids)
    return {
        "mib": mib,
        "join_us": join_s / (GROUPS * GROUP_MEMBERS) * 1e6,
        "commit_us": commit_s / (GROUPS * GROUP_PARTITIONS) * 1e6,
        "beats_s": beats_s,
        "beat_us": beat_us,
    }, dead


async def _beat(
    lanes: Sequence[Connection], members: Sequence[Sequence[Member]], pids: list[int]
) -> tuple[float, float]:
    """Every member beats five times; heartbeats a second, CPU µs of each."""
    rounds = 5

    async def beat_on(number: int, lane: Connection) -> None:
        for group in members:
            answer = await lane.ask_many(groups.heartbeat(group[number]), rounds)
            asking.check(int.from_bytes(answer[8:10], "big"), "Heartbeat")

    begun, before = time.perf_counter(), cpu_s(pids)
    await asyncio.gather(*(beat_on(*each) for each in enumerate(lanes)))
    count = rounds * GROUPS * GROUP_MEMBERS
    return count / (time.perf_counter() - begun), (cpu_s(pids) - before) / count * 1e6


def _wait_until_loaded(port: int) -> float:
    deadline = time.monotonic() + LOAD_S_MAX
    with protocol.Client(port) as client:
        while time.monotonic() < deadline:
            answers = [
                client.ask(OffsetFetchRequest(group_id=f"group-{number}", topics=None))
                for number in (0, GROUPS - 1)
            ]
            counts = [sum(len(t.partitions) for t in answer.topics) for answer in answers]
            if counts == [GROUP_PARTITIONS] * 2:
                return time.perf_counter()
            time.sleep(0.005)
    raise BenchError(f"offsets are not loaded within {LOAD_S_MAX:.0f} s: {counts}")
