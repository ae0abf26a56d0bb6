"""Batches that are checked and have their offsets, and are written together in a moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataplane.log.producers.producer_entry import ProducerEntry
    from dataplane.model.errors import KafkaError
    from dataplane.ports.filesystem import Buffer

    # What has to be noted of a batch once it is written: last offset, largest timestamp, size in
    # bytes, last offset delta, base sequence, and its producer if that is idempotent. A plain
    # tuple: one is made for every batch, and a class of its own costs five times as much.
    StagedBatch = tuple[int, int, int, int, int, ProducerEntry | None]


class Staging:
    """The batches of one log that wait for `commit`. Nobody else sees anything of them.

    `sequences` is what must come next of the producers among them. After a failed write `failure`
    refuses every batch until the next `commit`: what the callers of the batches before go by, the
    log's end, must not pass them by batches that came later.
    """

    __slots__ = ("batches", "failure", "parts", "sequences", "size")

    def __init__(self) -> None:
        self.parts: list[Buffer] = []
        self.batches: list[StagedBatch] = []
        self.size = 0
        self.sequences: dict[int, int] = {}
        self.failure: KafkaError | None = None

    def clear(self) -> None:
        self.parts = []
        self.batches = []
        self.size = 0
        if self.sequences:
            self.sequences = {}
