"""One trial of chains: a feed, chains of both group protocols, plain groups, watchers; a fault by
the test, zombies meanwhile; then the account.
"""

from __future__ import annotations

import collections
import contextlib
import time
import uuid
from collections.abc import Callable, Iterator

from confluent_kafka.admin import AdminClient, NewTopic

from dataplane.model.coordinator_partition import partition_for
from tests.faults.chains import checker
from tests.faults.chains.chain import CLIENT, Chain
from tests.faults.chains.history import Decision, End
from tests.faults.chains.readers import Follower, read_topic
from tests.faults.chains.watchers import Asked, Key, Watcher, asking, ends_of
from tests.faults.cluster import FaultCluster
from tests.faults.traffic import GroupReader, Writer, read_all
from tests.faults.verifier import account
from tests.local_cluster import eventually

PARTITIONS = 3
ASSIGNMENT = [[0, 1, 2], [1, 2, 0], [2, 0, 1]]
PROTOCOLS = ("classic", "consumer")
FEED_PAUSE_S = 0.012
"""Between records of the feed: what two chains of small transactions keep up with."""
OFFSETS, TRANSACTIONS = "__consumer_offsets", "__transaction_state"
CAUGHT_UP_MAX_S = 90.0
DECIDED_MAX_S = 45.0
"""A transaction that nobody ends is aborted after its timeout and two looks for such ones."""


class ChainTrial:
    """A chain and a plain group of each protocol over one feed, on topics of their own."""

    def __init__(self, cluster: FaultCluster, name: str) -> None:
        self.cluster, self.name = cluster, name
        run = f"{name}-{uuid.uuid4().hex[:8]}"
        self.feed = f"{run}-feed"
        self._make_topics([self.feed, *(f"{run}-{protocol}" for protocol in PROTOCOLS)])
        bootstrap = cluster.bootstrap
        partitions = list(range(PARTITIONS))
        self.writer = Writer(
            bootstrap,
            self.feed,
            name="feed",
            is_idempotent=True,
            partitions=partitions,
            pause_s=FEED_PAUSE_S,
        )
        self.groups = [
            GroupReader(
                bootstrap,
                self.feed,
                group=f"{run}-plain-{protocol}",
                settings={"group.protocol": protocol, **CLIENT},
            )
            for protocol in PROTOCOLS
        ]
        self.chains = [
            Chain(
                bootstrap,
                name=f"{run}-{protocol}",
                feed=self.feed,
                target=f"{run}-{protocol}",
                protocol=protocol,
            )
            for protocol in PROTOCOLS
        ]
        targets = [chain.history.topic for chain in self.chains]
        self.follower = Follower(bootstrap, targets, PARTITIONS)
        groups = [chain.group for chain in self.chains] + [group.name for group in self.groups]
        self._outputs: list[Key] = [(topic, p) for topic in targets for p in partitions]
        self.watchers = [
            Watcher(
                broker,
                cluster.address(broker),
                outputs=self._outputs,
                groups=groups,
                feed=self.feed,
                partitions=PARTITIONS,
            )
            for broker in cluster.ids
        ]

    def _make_topics(self, names: list[str]) -> None:
        admin = AdminClient({"bootstrap.servers": self.cluster.bootstrap})
        wanted = [NewTopic(each, PARTITIONS, replica_assignment=ASSIGNMENT) for each in names]
        for done in admin.create_topics(wanted).values():
            done.result(30)

    # -- meanwhile ------------------------------------------------------------------------------

    def warm_up(self) -> None:
        """Every chain has committed and aborted, every group committed."""
        for _ in eventually(60, "commits and aborts before the fault"):
            if all(
                chain.count(Decision.COMMITTED) > 3 and chain.count(Decision.ABORTED)
                for chain in self.chains
            ) and all(group.committed for group in self.groups):
                return

    def transactions_at(self) -> Key:
        """The partition of `__transaction_state` that owns the first chain's id."""
        return TRANSACTIONS, self._owner(TRANSACTIONS, self.chains[0].name)

    def offsets_at(self) -> Key:
        """The partition of `__consumer_offsets` that owns the first chain's group."""
        return OFFSETS, self._owner(OFFSETS, self.chains[0].group)

    def output_at(self) -> Key:
        return self.chains[0].history.topic, 0

    def _owner(self, topic: str, name: str) -> int:
        return partition_for(name, len(self._partitions_of(topic)))

    def _partitions_of(self, topic: str) -> list[int]:
        admin = AdminClient({"bootstrap.servers": self.cluster.bootstrap, "log_level": 0})
        return sorted(admin.list_topics(topic, 10).topics[topic].partitions)

    def replace_all(self) -> None:
        """Every chain gets a second instance, which fences the first while it writes."""
        for chain in self.chains:
            chain.begin()

    def wait_for_commits(self, timeout_s: float = 75, *, more: int = 3) -> None:
        """Until every chain and every plain group has committed again, from now on."""
        wanted = [chain.count(Decision.COMMITTED) + more for chain in self.chains]
        before = [sum(group.committed.values()) for group in self.groups]
        for _ in eventually(timeout_s, "commits of every chain and every group"):
            chains = all(
                chain.count(Decision.COMMITTED) >= least
                for chain, least in zip(self.chains, wanted, strict=True)
            )
            groups = all(
                sum(group.committed.values()) > then
                for group, then in zip(self.groups, before, strict=True)
            )
            if chains and groups:
                return

    def stop(self) -> None:
        """Blocking; nothing to do for what has stopped."""
        stops: list[Callable[[], None]] = [chain.stop for chain in self.chains]
        stops += [group.stop for group in self.groups]
        stops += [watcher.stop for watcher in self.watchers]
        self.writer.stop(gives_up=True)
        for stop in [*stops, self.follower.stop]:
            stop()

    # -- the account ----------------------------------------------------------------------------

    def settle(self) -> None:
        """The faults are over: all of the feed through every chain, then everything is judged."""
        self.cluster.wait_until_whole()
        self.writer.stop()
        fed = read_all(self.cluster.bootstrap, self.feed, list(range(PARTITIONS)))
        kept = account([self.writer.ledger], fed)
        assert not kept.violations, kept.complaint()
        ends = collections.Counter(each.partition for each in fed)
        found: list[checker.Violations] = [*self._wait_for_offsets(dict(ends))]
        for chain in self.chains:
            chain.stop()
        found.append(self._wait_until_decided())
        self.stop()
        sources = [each.id for each in fed]
        for chain in self.chains:
            self._read(chain)
            found += [checker.decisions(chain.history), checker.reads_agree(chain.history)]
            found.append(checker.exactly_once(chain.history, sources))
        attempts = {chain.history.topic: chain.history.attempts for chain in self.chains}
        looks = [look for watcher in self.watchers for look in watcher.looks]
        offsets = [each for watcher in self.watchers for each in watcher.offsets]
        found += [checker.stable_offsets(looks, attempts), checker.committed_offsets(offsets)]
        print(self._row(len(sources), len(looks), len(offsets)))
        complaint = "\n".join(
            f"{len(examples)} {what}: {'; '.join(examples[:5])}"
            for one in found
            for what, examples in one.items()
        )
        assert not complaint, f"{complaint}\n{self._errors()}"
        self._assert_something_was_judged()

    def _assert_something_was_judged(self) -> None:
        for chain in self.chains:
            assert chain.count(Decision.COMMITTED), chain.name
            history = chain.history
            assert len(history.uncommitted) > len(history.committed), "nothing was ever aborted"
        assert any(look.before & look.after for watcher in self.watchers for look in watcher.looks)
        assert any(each.requires_stable for watcher in self.watchers for each in watcher.offsets)

    def _wait_for_offsets(self, ends: dict[int, int]) -> list[checker.Violations]:
        """Of each chain: until it has committed all of the feed, or what is missing."""
        deadline_s = time.monotonic() + CAUGHT_UP_MAX_S
        while True:
            short = [
                checker.offsets_reach(chain.group, self._committed(chain.group), ends)
                for chain in self.chains
            ]
            if not any(short) or time.monotonic() > deadline_s:
                return short
            time.sleep(0.2)

    def _committed(self, group: str) -> dict[int, int]:
        found: dict[int, int] = {}
        for asked in self._all_brokers():
            answer = asked.committed([group], self.feed, PARTITIONS, stable=True)
            found |= {partition: offset for (_, partition), offset in answer.items()}
        return found

    def _wait_until_decided(self) -> checker.Violations:
        """Until nothing is open anywhere, or what still is after the time that it may take."""
        topics = [
            *self._outputs,
            *((OFFSETS, each) for each in self._partitions_of(OFFSETS)),
        ]
        deadline_s = time.monotonic() + DECIDED_MAX_S
        while True:
            states: dict[str, str] = {}
            ends: list[End] = []
            for asked in self._all_brokers():
                states |= asked.transactions()
                ends += ends_of(asked, topics)
            mine = {chain.name: states.get(chain.name, "unknown") for chain in self.chains}
            left = checker.all_decided(mine, ends)
            is_whole = len(ends) == len(topics)
            if (is_whole and not left) or time.monotonic() > deadline_s:
                assert is_whole, "not every partition has a leader that answers"
                return left
            time.sleep(0.3)

    def _all_brokers(self) -> Iterator[Asked]:
        for broker in self.cluster.ids:
            with asking(self.cluster.address(broker)) as asked:
                yield asked

    def _read(self, chain: Chain) -> None:
        topic = chain.history.topic
        ends: dict[int, int] = {}
        for asked in self._all_brokers():
            known = ends_of(asked, [key for key in self._outputs if key[0] == topic])
            ends |= {each.partition: each.high_watermark for each in known}
        bootstrap = self.cluster.bootstrap
        chain.history.committed = read_topic(bootstrap, topic, ends, isolation="read_committed")
        chain.history.uncommitted = read_topic(bootstrap, topic, ends, isolation="read_uncommitted")
        chain.history.read_on_the_way = self.follower.found[topic]

    def _row(self, fed: int, looks: int, offsets: int) -> str:
        cells = [f"\n{self.name}: {fed} inputs, {looks} looks, {offsets} offsets seen"]
        for chain in self.chains:
            tally = collections.Counter(each.decision.value for each in chain.history.attempts)
            gap_s = f"longest without a commit {chain.history.longest_gap_s():.1f} s"
            cells.append(f"{chain.name}: {dict(tally)}, fenced {chain.fenced}, {gap_s}")
        cells += [
            f"{group.name}: refused commits {dict(group.refused_commits)}, "
            f"longest without a commit {group.longest_gap_s:.1f} s"
            for group in self.groups
        ]
        return "\n  ".join(cells)

    def _errors(self) -> str:
        return "\n".join(error for chain in self.chains for error in chain.errors)


PLACES = {
    "transactions": ChainTrial.transactions_at,
    "offsets": ChainTrial.offsets_at,
    "output": ChainTrial.output_at,
}
"""Whose leader the fault meets: the chain's transaction coordinator, its group's, its data's."""


@contextlib.contextmanager
def chain_trial(cluster: FaultCluster, name: str) -> Iterator[ChainTrial]:
    """Chains that end with the block, whatever happens in it."""
    begun = ChainTrial(cluster, name)
    try:
        begun.warm_up()
        yield begun
    finally:
        begun.stop()
