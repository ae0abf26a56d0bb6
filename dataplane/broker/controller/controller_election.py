"""The controller election: whoever makes `/controller` first, and raises the epoch with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dataplane.cluster import znodes
from dataplane.ports.coordinator import (
    BadVersionError,
    Create,
    NodeExistsError,
    NoNodeError,
    SetData,
)

if TYPE_CHECKING:
    from dataplane.ports.clock import Clock
    from dataplane.ports.coordinator import Coordinator


class ElectedEpoch(NamedTuple):
    """The epoch of a won election, and the version of its node, which every write checks."""

    epoch: int
    version: int


class ControllerElection:
    """One broker's part in it. The place is ours while our session owns the node."""

    def __init__(self, coordinator: Coordinator, clock: Clock, *, broker_id: int) -> None:
        self._coordinator = coordinator
        self._clock = clock
        self._broker_id = broker_id

    async def is_ours(self) -> bool:
        """Raises CoordinatorError."""
        stat = await self._coordinator.exists(znodes.CONTROLLER)
        return stat is not None and stat.ephemeral_owner == self._coordinator.session_id

    async def elect(self) -> ElectedEpoch | None:
        """Become the controller if there is none. None: another broker is. Raises CoordinatorError.

        A place that is ours already, because an answer was lost, is kept with its epoch.
        """
        epoch, version = await self._read_epoch()
        if await self.is_ours():
            return ElectedEpoch(epoch, version)
        now_ms = self._clock.realtime_ms()
        node = znodes.encode_controller(self._broker_id, timestamp_ms=now_ms)
        try:
            await self._coordinator.multi(
                [
                    Create(znodes.CONTROLLER, node, ephemeral=True),
                    SetData(znodes.CONTROLLER_EPOCH, str(epoch + 1).encode(), version),
                ]
            )
        except (NodeExistsError, BadVersionError):
            # Somebody else was faster: the watch shows when the place is free again.
            return None
        return ElectedEpoch(epoch + 1, version + 1)

    async def _read_epoch(self) -> ElectedEpoch:
        while True:
            try:
                data, stat = await self._coordinator.get(znodes.CONTROLLER_EPOCH)
            except NoNodeError:
                try:
                    await self._coordinator.create(znodes.CONTROLLER_EPOCH, b"0")
                except NodeExistsError:
                    continue
                continue
            return ElectedEpoch(int(data), stat.version)
