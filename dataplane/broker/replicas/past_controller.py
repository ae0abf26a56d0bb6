"""What becomes of proposed ISRs that no controller answers.

The controller may be beyond a cut, or its broker may be dead while its session lasts. A follower
that lags meanwhile would hold up every acknowledgement for as long. So when a proposal has been
open for `UNANSWERED_S`, the leader asks ZooKeeper, and writes the ISR without those that lag by
itself; it learns there as well that somebody else leads by now, which nobody could tell it.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final

from dataplane.cluster.leader_writes import OwnIsr, Verdict
from dataplane.ports.coordinator import CoordinatorError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dataplane.broker.broker_lifecycle import BrokerLifecycle
    from dataplane.broker.metadata.metadata_cache import MetadataCache
    from dataplane.broker.metrics import Metrics
    from dataplane.broker.replicas.own_isr_writes import OwnIsrWrites
    from dataplane.broker.replicas.partition import Partition
    from dataplane.model.partition import PartitionState
    from dataplane.ports.clock import Clock

    TakeUp = Callable[[Partition, PartitionState], None]

_log = logging.getLogger(__name__)

UNANSWERED_S: Final = 1.5
"""Well above what a busy controller takes. One that is slower loses nothing: whatever it writes to
the same partition meets a newer version, and it reads again."""
EVERY_S: Final = 0.25
AFTER_FAILURE_S: Final = 1.0
# Up to so many partitions of one round are logged by name.
NAMED_MAX = 3


class PastController:
    """One task while proposals are open. `open_since` says since when each is, by the loop's time;
    `close` is called for a partition whose proposal of that time is settled without the controller.
    """

    def __init__(
        self,
        writes: OwnIsrWrites,
        metadata_cache: MetadataCache,
        metrics: Metrics,
        lifecycle: BrokerLifecycle,
        clock: Clock,
    ) -> None:
        self._writes = writes
        self._metadata_cache = metadata_cache
        self._metrics = metrics
        self._lifecycle = lifecycle
        self._clock = clock
        self._take_up: TakeUp | None = None
        self._task: asyncio.Task[None] | None = None

    def on_superseded(self, take_up: TakeUp) -> None:
        """`take_up(partition, state)`: its later epoch was decided without our hearing of it."""
        self._take_up = take_up

    def watch(
        self,
        open_since: Callable[[], Mapping[Partition, float]],
        close: Callable[[Partition, float], None],
    ) -> None:
        """Proposals are open; returns at once."""
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(
                self._run(open_since, close), name="isr-past-controller"
            )

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(
        self,
        open_since: Callable[[], Mapping[Partition, float]],
        close: Callable[[Partition, float], None],
    ) -> None:
        loop = asyncio.get_running_loop()
        while (since := open_since()) and not self._lifecycle.stopping:
            wait_s = min(since.values()) + UNANSWERED_S - loop.time()
            if wait_s > 0:
                await asyncio.sleep(wait_s)
                continue
            due = {p: at_s for p, at_s in since.items() if at_s + UNANSWERED_S <= loop.time()}
            await asyncio.sleep(EVERY_S if await self._settle(due, close) else AFTER_FAILURE_S)

    async def _settle(
        self, due: Mapping[Partition, float], close: Callable[[Partition, float], None]
    ) -> bool:
        """Whether ZooKeeper could be asked, if there was something to ask."""
        asked = {p.topic_partition: p for p in due}
        wanted = [own for p in due if (own := self._wanted(p)) is not None]
        if not wanted:
            return True
        try:
            settled = await self._writes.settle(wanted)
        except (CoordinatorError, TimeoutError, ValueError, KeyError) as error:
            _log.debug("ISRs of %d partitions cannot be written: %r", len(wanted), error)
            return False
        if not settled:
            return True
        image = self._metadata_cache.image.with_states(
            (tp.topic, asked[tp].topic_id, state) for tp, (_, state) in settled.items()
        )
        self._metadata_cache.replace(image)
        for topic_partition, (verdict, state) in settled.items():
            partition = asked[topic_partition]
            close(partition, due[partition])
            self._take(partition, verdict, state)
        self._report([asked[tp] for tp, (v, _) in settled.items() if v is Verdict.WRITE])
        return True

    def _wanted(self, partition: Partition) -> OwnIsr | None:
        core = partition.core
        isr = core.isr_without_late(self._clock.monotonic_ms()) if core is not None else None
        if core is None or isr is None:
            return None
        return OwnIsr(
            partition.topic_partition,
            partition.topic_id,
            core.leader_epoch,
            core.partition_epoch,
            isr,
        )

    def _take(self, partition: Partition, verdict: Verdict, state: PartitionState) -> None:
        core = partition.core
        if verdict is Verdict.SUPERSEDED:
            if state.leader_epoch > partition.leader_epoch and self._take_up is not None:
                _log.warning(
                    "%s is led by broker %d in epoch %d, says ZooKeeper; we led in epoch %d, and"
                    " no controller has told us",
                    partition.topic_partition,
                    state.leader,
                    state.leader_epoch,
                    partition.leader_epoch,
                )
                self._take_up(partition, state)
        elif (
            core is not None
            and core.leader_epoch == state.leader_epoch
            # Of a version that is known already, a later proposal may be open.
            and state.partition_epoch > core.partition_epoch
        ):
            before, after = set(core.isr), set(state.isr)
            partition.isr_committed(state.isr, state.partition_epoch)
            self._metrics.isr_shrinks.inc(bool(before - after))
            self._metrics.isr_expands.inc(bool(after - before))

    @staticmethod
    def _report(written: list[Partition]) -> None:
        """One line however many: a cut concerns every partition that is led here."""
        if not written:
            return
        named = [f"{p.topic_partition}: {list(p.isr)}" for p in written[:NAMED_MAX]]
        _log.warning(
            "no controller answers: ISRs of %d partitions were written to ZooKeeper by this broker,"
            " %s",
            len(written),
            ", ".join(named),
        )
