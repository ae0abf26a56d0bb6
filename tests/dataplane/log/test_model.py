"""A log against a list: random appends, reads, truncations, rolls, restarts and crashes."""

from __future__ import annotations

import dataclasses

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from dataplane.log.config import LogConfig
from dataplane.log.partition_log import PartitionLog
from tests.dataplane.log.support import NOW_MS, World, batch, offsets_in


@dataclasses.dataclass(frozen=True)
class Kept:
    """A batch that the log must hold."""

    base: int
    last: int
    epoch: int
    data: bytes


class LogMachine(RuleBasedStateMachine):
    log: PartitionLog

    @initialize(segment_bytes=st.integers(200, 3000), interval=st.integers(0, 600))
    def begin(self, segment_bytes: int, interval: int) -> None:
        config = LogConfig(
            segment_bytes=segment_bytes, index_interval_bytes=interval, segment_index_bytes=96
        )
        self.world = World(config)
        self.log = self.world.open()
        self.batches: list[Kept] = []
        self.start = 0
        self.end = 0
        self.epoch = 0
        self.sequence = 0
        self.clean_recovery_point = 0

    @rule(count=st.integers(1, 4), size=st.integers(0, 300), idempotent=st.booleans())
    def append(self, count: int, size: int, idempotent: bool) -> None:
        keywords = {}
        if idempotent:
            keywords = {"producer_id": 9, "producer_epoch": 0, "base_sequence": self.sequence}
        data = batch(count, value=b"x" * size, **keywords)
        info = self.log.append_as_leader(data, self.epoch, now_ms=NOW_MS)
        assert info.base_offset == self.end
        assert not info.duplicate
        if idempotent:
            self.sequence += count
        self._keep(data, count)

    def _keep(self, data: bytearray, count: int) -> None:
        self.batches.append(Kept(self.end, self.end + count - 1, self.epoch, bytes(data)))
        self.end += count

    @rule(sizes=st.lists(st.integers(0, 200), min_size=1, max_size=5), cut=st.integers(0, 30))
    def replicate(self, sizes: list[int], cut: int) -> None:
        """Several batches in one chunk, the last perhaps followed by a part of another."""
        chunk = b""
        for size in sizes:
            data = batch(2, value=b"y" * size, base_offset=self.end, leader_epoch=self.epoch)
            chunk += data
            self._keep(data, 2)
        self.log.append_as_follower(memoryview(chunk + bytes(batch())[:cut]))

    @rule()
    def next_epoch(self) -> None:
        self.epoch += 1
        self.log.assign_epoch_start(self.epoch, self.end)

    @rule()
    def roll(self) -> None:
        self.log.roll()

    @rule()
    def flush(self) -> None:
        self.log.flush()
        assert self.log.recovery_point == self.end

    @precondition(lambda self: self.batches)
    @rule(data=st.data())
    def truncate(self, data: st.DataObject) -> None:
        target = data.draw(st.integers(self.start, self.end))
        self.log.truncate_to(target)
        gone = [kept for kept in self.batches if kept.last >= target and kept.base < self.end]
        self.batches = [kept for kept in self.batches if kept.last < target]
        if target < self.end:
            straddling = [kept.base for kept in gone if kept.base < target]
            self.end = straddling[0] if straddling else target
            self.start = min(self.start, self.end)
        self._resync_producer()

    @rule(gap=st.integers(0, 10))
    def start_over(self, gap: int) -> None:
        self.start = self.end = self.end + gap
        self.log.truncate_fully_and_start_at(self.end)
        self.batches = []
        self._resync_producer()

    @precondition(lambda self: self.batches)
    @rule(data=st.data())
    def delete_records(self, data: st.DataObject) -> None:
        self.log.update_high_watermark(self.end)
        self.start = data.draw(st.integers(self.start, self.end))
        assert self.log.delete_records_before(self.start) == self.start
        self.log.apply_retention(NOW_MS)
        first = self.log.segment_base_offsets[0]
        self.batches = [kept for kept in self.batches if kept.base >= first]

    @rule()
    def reopen(self) -> None:
        self.log.close()
        self._open(clean=True, recovery_point=self.end)
        assert self.log.recovered.truncated_bytes == 0

    @rule(data=st.data())
    def crash(self, data: st.DataObject) -> None:
        """Unsynced bytes are lost from some point on, in every file by itself."""
        recovery_point = self.log.recovery_point

        def survivors(path: str, synced: int, size: int) -> int:
            return data.draw(st.integers(synced, size), label=path)

        self.world.fs.crash(survivors)
        self._open(clean=False, recovery_point=recovery_point)
        end = self.log.log_end_offset
        assert recovery_point <= end <= self.end
        first = self.log.segment_base_offsets[0]  # the start, if nothing before it is left
        self.batches = [kept for kept in self.batches if kept.last < end and kept.base >= first]
        assert all(kept.base < end for kept in self.batches)
        self.end = end
        self._resync_producer()

    def _open(self, *, clean: bool, recovery_point: int) -> None:
        self.log = self.world.open(
            is_clean=clean,
            recovery_point=recovery_point,
            log_start_offset=self.start,
            high_watermark=self.start,  # what was deleted lay below it
        )

    def _resync_producer(self) -> None:
        entry = self.log.producers.entries.get(9)
        self.sequence = entry.next_sequence if entry else self.sequence

    @rule(data=st.data(), max_bytes=st.integers(1, 4000))
    def read(self, data: st.DataObject, max_bytes: int) -> None:
        start = data.draw(st.integers(self.start, self.end))
        upper = data.draw(st.sampled_from([self.end, *(kept.base for kept in self.batches)]))
        piece = self.log.read(start, max_bytes, upper)
        raw = piece.read()
        assert len(raw) == piece.size
        expected = [kept for kept in self.batches if kept.last >= start and kept.last < upper]
        if not expected or start >= upper:
            assert raw == b""
            return
        whole = b"".join(kept.data for kept in expected)
        assert whole.startswith(raw)
        assert raw
        assert len(raw) <= max_bytes or raw == expected[0].data
        assert offsets_in(raw)[-1] in {kept.last for kept in expected}

    @invariant()
    def bounds_hold(self) -> None:
        if not hasattr(self, "log"):
            return
        assert self.log.log_end_offset == self.end
        assert self.log.log_start_offset == self.start
        assert self.start <= self.log.high_watermark <= self.end
        assert self.log.recovery_point <= self.end

    @invariant()
    def epochs_hold(self) -> None:
        if not hasattr(self, "log"):
            return
        entries = self.log.epoch_entries
        assert list(entries) == sorted(entries)
        for kept in self.batches:
            if kept.base >= self.start:
                assert self.log.epoch_at(kept.base) == kept.epoch

    @invariant()
    def files_hold_what_is_kept(self) -> None:
        if not hasattr(self, "log"):
            return
        stored = b"".join(
            bytes(self.world.fs.content(path))
            for path in self.world.fs.paths()
            if path.endswith(".log")
        )
        assert stored.endswith(b"".join(kept.data for kept in self.batches))


LogMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestLogMachine = LogMachine.TestCase
