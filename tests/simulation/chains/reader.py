"""Reads `result` with read_committed while everything happens, and once more at the end."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tests.simulation.chains.fetching import COMMITTED, fetch
from tests.simulation.chains.instance import RESULT
from tests.simulation.chains.ledger import Output
from tests.simulation.chains.session import EndedError, Session

if TYPE_CHECKING:
    from tests.simulation.chains.world import Chains


class CommittedReader:
    """`outputs`: by partition and offset what it has read."""

    def __init__(self, chains: Chains, session: Session) -> None:
        self.chains = chains
        self.is_stopping = False
        self.outputs: dict[tuple[int, int], Output] = {}
        self._positions: dict[int, int] = {}
        self._session = session

    def start(self) -> None:
        self._session.client.spawn(self._run())

    async def _run(self) -> None:
        random = self._session.random
        while not self.is_stopping:
            partition = random.randrange(self.chains.partitions)
            if random.random() < 0.05:
                self._positions.pop(partition, None)
            try:
                await self._read(partition)
            except EndedError as ended:
                self.chains.sim.trace(f"committed reader: {ended}")
            await asyncio.sleep(random.uniform(0, 0.2))

    async def read_everything(self) -> None:
        """From the beginning to the end of each partition."""
        for partition in range(self.chains.partitions):
            while await self._read(partition):
                pass

    async def _read(self, partition: int) -> bool:
        """Whether there may be more. EndedError."""
        position = self._positions.get(partition, 0)
        read = await fetch(self._session, RESULT, partition, position, COMMITTED)
        for offset, value in read.records:
            output = Output.of(value)
            self.outputs[partition, offset] = output
            self.chains.was_read(partition, offset, output)
        self.chains.answered(RESULT, partition, read)
        self._positions[partition] = read.next_offset
        return read.next_offset < read.high_watermark
