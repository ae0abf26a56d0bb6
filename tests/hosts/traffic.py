"""Writers and a group over a topic of the cluster, through faults, and the account at the end."""

from __future__ import annotations

import contextlib
import datetime as dt
import time
from typing import TYPE_CHECKING

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from tests.faults.traffic import QUIET, GroupReader, Writer, read_all
from tests.faults.verifier import account
from tests.hosts.report import Figures
from tests.local_cluster import eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from tests.faults.ledger import PartitionGap

PARTITIONS = 6
WARM_RECORDS = 100
PAUSE_S = 0.004
SOCKET_TIMEOUT_MS = 10_000
"""A client waits this long for a host that does not answer before it asks another one; librdkafka's
default is 60 s, and a test would measure nothing but that."""


@contextlib.contextmanager
def _last_seen(seen: Callable[[], str]) -> Iterator[None]:
    """Adds to a wait that failed what the last look saw."""
    try:
        yield
    except AssertionError as error:
        raise AssertionError(f"{error}; last seen: {seen()}") from error


class Traffic:
    """An idempotent and a plain writer with acks=all, and a group that reads on.

    Args:
        bootstrap: of the cluster.
        login: settings by which librdkafka logs in.
        topic: of PARTITIONS partitions, not written to before.
        name: of the scenario.
    """

    def __init__(self, bootstrap: str, login: Mapping[str, object], topic: str, name: str) -> None:
        self.bootstrap, self.login, self.topic, self.name = bootstrap, dict(login), topic, name
        self.fault_at_s = 0.0
        self._marks: list[tuple[float, str]] = []
        client = {**self.login, "socket.timeout.ms": SOCKET_TIMEOUT_MS}
        self.writers = [
            Writer(
                bootstrap,
                topic,
                name=writer,
                is_idempotent=is_idempotent,
                partitions=range(PARTITIONS),
                pause_s=PAUSE_S,
                settings=client,
            )
            for writer, is_idempotent in (("idempotent", True), ("plain", False))
        ]
        self.group = GroupReader(bootstrap, topic, settings=client)

    def warm_up(self) -> None:
        """Records everywhere, the group reading; the fault begins when this returns."""
        for _ in eventually(60, "acknowledged and consumed records before the fault"):
            if self.group.seen and all(
                len(writer.ledger.acked_at_s) > WARM_RECORDS for writer in self.writers
            ):
                break
        self.fault_at_s = time.monotonic()

    def flows(self, timeout_s: float = 90) -> None:
        """Until every partition was acknowledged again, to both writers, after now."""
        since_s = time.monotonic()
        for _ in eventually(timeout_s, "acknowledgements of every partition"):
            if all(
                {sent.partition for sent in writer.ledger.acked() if sent.acked_at_s > since_s}
                == set(range(PARTITIONS))
                for writer in self.writers
            ):
                return

    def flows_for(self, seconds: float) -> None:
        end_s = time.monotonic() + seconds
        while time.monotonic() < end_s:
            self.flows()

    def mark(self, what: str) -> None:
        """What is done from now on: a gap is told by it."""
        self._marks.append((time.monotonic(), what))

    def gap(self) -> PartitionGap:
        return max(writer.ledger.longest_partition_gap(self.fault_at_s) for writer in self.writers)

    def _silent(self, gap: PartitionGap) -> set[int]:
        """Partitions of which nothing was acknowledged in most of the gap: one, or a whole broker's."""
        margin_s = gap.length_s / 10
        since_s, until_s = gap.began_s + margin_s, gap.began_s + gap.length_s - margin_s
        return set(range(PARTITIONS)) - {
            sent.partition
            for writer in self.writers
            for sent in writer.ledger.acked()
            if since_s < sent.acked_at_s < until_s
        }

    def during(self, gap: PartitionGap) -> str:
        """What was done when a gap began; empty where nothing was marked."""
        return next((what for at_s, what in reversed(self._marks) if at_s <= gap.began_s), "")

    def wait_until_whole(self, brokers: Collection[int], timeout_s: float = 180) -> None:
        """Until these brokers are the cluster, as one of them says it, and every partition is in sync
        on those of them.
        """
        admin, seen = self._admin(), "nothing was answered"
        with _last_seen(lambda: seen):
            for _ in eventually(timeout_s, f"brokers {sorted(brokers)}, in sync"):
                try:
                    metadata = admin.list_topics(timeout=5)
                except KafkaException as error:
                    seen = str(error)
                    continue
                odd = [
                    f"{name}-{p.id}: leader {p.leader}, ISR {p.isrs} of {p.replicas}"
                    for name, topic in metadata.topics.items()
                    for p in topic.partitions.values()
                    if p.leader not in brokers or set(p.isrs) != set(p.replicas) & set(brokers)
                ]
                knows = metadata.orig_broker_id in brokers
                if knows and set(metadata.brokers) == set(brokers) and not odd:
                    return
                if not knows:
                    # Cut from ZooKeeper it may never hear of it: by another client, others are asked.
                    admin = self._admin()
                seen = f"{metadata.orig_broker_name}: brokers {sorted(metadata.brokers)}, {odd}"

    def wait_until_left(self, broker: int, timeout_s: float = 120) -> None:
        """Until this broker leads no partition of the topic and is in sync with none."""
        admin = self._admin()
        for _ in eventually(timeout_s, f"nothing on broker {broker}"):
            try:
                topic = admin.list_topics(self.topic, timeout=5).topics[self.topic]
            except KafkaException:
                continue
            if all(
                each.leader not in (broker, -1) and broker not in each.isrs
                for each in topic.partitions.values()
            ):
                return

    def controller(self) -> int:
        admin = self._admin()
        for _ in eventually(60, "a controller"):
            found = int(admin.list_topics(timeout=10).controller_id)
            if found >= 0:
                return found
        raise AssertionError

    def _admin(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self.bootstrap, **QUIET, **self.login})

    def stop(self) -> None:
        """Without waiting for what may never be acknowledged; nothing to do after `settle`."""
        for writer in self.writers:
            writer.stop(gives_up=True)
        self.group.stop()

    def settle(self, *, goal_s: float | None, note: str = "") -> Figures:
        """Stop when every record has its outcome, read everything back, account for it."""
        gap = self.gap()
        began = time.time() - (time.monotonic() - gap.began_s)
        at = dt.datetime.fromtimestamp(began).strftime("%H:%M:%S.%f")[:-3]
        print(
            f"the gap: {gap.length_s:.2f} s, {gap.began_s - self.fault_at_s:.1f} s after the begin,"
            f" of partition {gap.partition} at {at}; without an acknowledgement meanwhile:"
            f" {sorted(self._silent(gap))}"
        )
        for writer in self.writers:
            writer.stop()
        acked = {
            writer.ledger.id_of(sent) for writer in self.writers for sent in writer.ledger.acked()
        }
        deadline_s = time.monotonic() + 90
        while not acked <= self.group.seen_ids and time.monotonic() < deadline_s:
            time.sleep(0.1)  # what stays unseen is a violation below
        self.group.stop()
        read = read_all(self.bootstrap, self.topic, range(PARTITIONS), self.login)
        found = account(
            [writer.ledger for writer in self.writers],
            read,
            self.group.seen,
            since_s=self.fault_at_s,
        )
        print(f"\n{self.name}\n{found.table()}", flush=True)
        return Figures(
            name=self.name,
            goal_s=goal_s,
            gap_s=gap.length_s,
            sent=sum(each.sent for each in found.tallies),
            acked=sum(each.acked for each in found.tallies),
            failed=sum(each.failed for each in found.tallies),
            unknown=sum(each.unknown for each in found.tallies),
            read=sum(each.read for each in found.tallies),
            violations=tuple(f"{len(ids)} {what}" for what, ids in found.violations.items()),
            note=f"{note}; the gap in {where}" if (where := self.during(gap)) else note,
        )
