"""One trial: traffic, a fault by the test, then the account of every record."""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence

from confluent_kafka import Consumer
from confluent_kafka.admin import AdminClient, NewTopic

from tests.faults import replicas
from tests.faults.cluster import FaultCluster
from tests.faults.traffic import QUIET, GroupReader, Writer, committed, read_all, watermarks
from tests.faults.verifier import Account, account
from tests.local_cluster import eventually

WARM_S = 1.5
"""Of traffic before a fault, so that there is something to lose."""


class Trial:
    """An idempotent writer, one that is not, and a group, on a topic of its own.

    By default it has three partitions, one led by each broker.
    """

    def __init__(
        self,
        cluster: FaultCluster,
        name: str,
        *,
        assignment: Sequence[Sequence[int]] = ((0, 1, 2), (1, 2, 0), (2, 0, 1)),
        config: dict[str, str] | None = None,
        pause_s: float = 0.002,
        filling_bytes: int = 120,
        client: Mapping[str, object] | None = None,
    ) -> None:
        self.cluster = cluster
        self.name = name
        self.topic = f"{name}-{uuid.uuid4().hex[:8]}"
        self.partitions = list(range(len(assignment)))
        self.fault_at_s = 0.0
        self.account: Account
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
        wanted = NewTopic(
            self.topic,
            len(assignment),
            replica_assignment=[list(each) for each in assignment],
            config=config or {},
        )
        admin.create_topics([wanted])[self.topic].result(30)
        self.writers = [
            Writer(
                cluster.bootstrap,
                self.topic,
                name=writer,
                is_idempotent=is_idempotent,
                partitions=self.partitions,
                pause_s=pause_s,
                filling=b"." * filling_bytes,
                settings=client or {},
            )
            for writer, is_idempotent in (("idempotent", True), ("plain", False))
        ]
        self.group = GroupReader(cluster.bootstrap, self.topic)

    def warm_up(self) -> None:
        """Traffic everywhere, the group reading; the fault begins when this returns."""
        begun = time.monotonic()
        for _ in eventually(40, "acknowledged and consumed records before the fault"):
            is_written = all(len(writer.ledger.acked_at_s) > 30 for writer in self.writers)
            if is_written and self.group.seen and time.monotonic() > begun + WARM_S:
                break
        self.fault_at_s = time.monotonic()

    def wait_for_acks(self, timeout_s: float = 60, *, since_s: float | None = None) -> None:
        """Until both writers were acknowledged again after that moment (default: now)."""
        moment = time.monotonic() if since_s is None else since_s
        for _ in eventually(timeout_s, "acknowledgements after the fault"):
            if all(writer.acked_since(moment) for writer in self.writers):
                return

    def wait_for_another_leader(
        self, than: int, *, within_s: float, asked: int | None = None
    ) -> None:
        """Until the metadata of `asked`, or of any broker, has another leader of partition 0."""
        for _ in eventually(within_s, "another leader"):
            if self.cluster.leader_of(self.topic, asked=asked) not in (than, -1):
                return

    def wait_for_isr_without(self, broker: int, *, within_s: float, asked: int) -> None:
        """Until `broker` has left the ISR of partition 0 in the metadata of `asked`."""
        for _ in eventually(within_s, f"an ISR without broker {broker}"):
            if broker not in self.cluster.isr_of(self.topic, asked=asked):
                return

    def acks_flow(self, seconds: float) -> None:
        """For so long, nothing may stand still; that it stands still for a moment is measured."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.wait_for_acks(15)

    def gap_s(self) -> float:
        """The longest time without an acknowledgement, of any writer, since the fault."""
        return max(writer.ledger.longest_gap_s(self.fault_at_s) for writer in self.writers)

    def stop_traffic(self) -> None:
        """Without waiting for what may never be acknowledged; nothing to do after `settle`."""
        for writer in self.writers:
            writer.stop(gives_up=True)
        self.group.stop()

    def settle(self) -> Account:
        """The faults are over: wait for the cluster, stop, and account for everything."""
        self.cluster.wait_until_whole()
        self.wait_for_acks()
        for writer in self.writers:
            writer.stop()
        acked = {
            writer.ledger.id_of(sent) for writer in self.writers for sent in writer.ledger.acked()
        }
        deadline_s = time.monotonic() + 60
        while not acked <= self.group.seen_ids and time.monotonic() < deadline_s:
            time.sleep(0.1)  # what stays unseen is a violation below
        self.group.stop()
        read = read_all(self.cluster.bootstrap, self.topic, self.partitions)
        self.account = account(
            [writer.ledger for writer in self.writers],
            read,
            self.group.seen,
            since_s=self.fault_at_s,
        )
        print(f"\n{self.name}\n{self.account.table()}")
        assert not self.account.violations, self.account.complaint()
        assert all(tally.acked for tally in self.account.tallies)
        self._check_commits()
        self.compare_replicas()
        return self.account

    def _check_commits(self) -> None:
        """A confirmed commit is as durable as a record; a later one may have got through too."""
        assert self.group.committed, "the group never committed"
        found = committed(self.cluster.bootstrap, self.topic, self.partitions)
        forgotten = {
            partition: (offset, found.get(partition))
            for partition, offset in self.group.committed.items()
            if found.get(partition, -1) < offset
        }
        assert not forgotten, f"commits forgotten, (confirmed, found): {forgotten}"

    def compare_replicas(self) -> None:
        """All replicas hold the same bytes below the high watermark."""
        consumer = Consumer(
            {
                "bootstrap.servers": self.cluster.bootstrap,
                "group.id": f"ends-{self.topic}",
                **QUIET,
            }
        )
        ends = watermarks(consumer, self.topic, self.partitions)
        consumer.close()
        for partition in self.partitions:
            directories = [
                self.cluster.partition_dir(broker, self.topic, partition)
                for broker in self.cluster.ids
            ]
            for _ in eventually(30, f"as much of {self.topic}-{partition} on every replica"):
                if all(replicas.end_offset(each) >= ends[partition] for each in directories):
                    break
            difference = replicas.first_difference(directories, ends[partition])
            assert difference is None, difference


@contextlib.contextmanager
def trial(cluster: FaultCluster, name: str, **options: object) -> Iterator[Trial]:
    """Traffic that ends with the block, whatever happens in it."""
    begun = Trial(cluster, name, **options)  # type: ignore[arg-type]  # passed on as given
    try:
        begun.warm_up()
        yield begun
    finally:
        begun.stop_traffic()
