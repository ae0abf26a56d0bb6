"""What every invariant may listen to. All methods do nothing unless overridden."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataplane.model.ids import TopicPartition
    from tests.simulation.chains.fetching import Read
    from tests.simulation.chains.ledger import Output
    from tests.simulation.clients.consumer import Answer
    from tests.simulation.machine import Machine, Process
    from tests.simulation.simulation import Simulation
    from tests.simulation.world.zookeeper import Node


class Invariant:
    """`observe` runs every 50 ms of virtual time, `finish` once all has settled and been read."""

    name = ""

    def __init__(self, sim: Simulation) -> None:
        self.sim = sim

    def broken(self, text: str) -> None:
        self.sim.violate(self.name, text)

    def observe(self) -> None: ...

    def is_settled(self) -> bool:
        """Whether what `finish` looks at has come to rest; it is waited for, but not for ever."""
        return True

    def finish(self) -> None: ...

    def broker_started(self, machine: Machine, process: Process) -> None: ...

    def ending(self) -> None: ...

    def leadership(
        self, machine: Machine, process: Process, tp: TopicPartition, leads: bool, epoch: int
    ) -> None: ...

    def read(self, answer: Answer, epoch: int) -> None: ...

    def out_of_range(
        self, consumer: str, broker: int, key: tuple[str, uuid.UUID, int], offset: int
    ) -> None: ...

    def fatal_refusal(self, broker: int, place: Any, code: int, records: list[Any]) -> None: ...

    def node_changed(self, path: str, node: Node | None) -> None: ...

    def loop_error(self, loop: str, message: str, error: BaseException | None) -> None: ...

    def logged_error(self, loop: str, message: str, error: BaseException) -> None: ...

    def output_read(self, partition: int, offset: int, output: Output) -> None: ...

    def committed_read(self, topic: str, partition: int, read: Read) -> None: ...
