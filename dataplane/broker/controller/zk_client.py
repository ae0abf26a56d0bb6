"""ZooKeeper as a controller uses it: writes are fenced by its epoch."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from dataplane.cluster.writes import packed
from dataplane.ports.coordinator import BadVersionError, CoordinatorError, SessionExpiredError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dataplane.ports.coordinator import Coordinator, Op


class ControllerMovedError(Exception):
    """Another broker is the controller now; nothing was written."""


class OutcomeUnknownError(Exception):
    """ZooKeeper does not hold what we remember, or its answer was lost: read the truth again."""


class ControllerZkClient:
    """Reads go to `coordinator` itself. Every multi that is written begins with a check on
    `epoch_version`, the version that the node `/controller_epoch` has in our term.
    """

    def __init__(self, coordinator: Coordinator, epoch_version: int) -> None:
        self.coordinator = coordinator
        self._epoch_version = epoch_version

    async def write(self, groups: Iterable[Sequence[Op]]) -> None:
        """Write all groups, in bounded multis that travel together and are applied in order.

        Raises ControllerMovedError, or OutcomeUnknownError when some may have been applied.
        """
        answers = await asyncio.gather(
            *(self.coordinator.multi(multi) for multi in packed(self._epoch_version, groups)),
            return_exceptions=True,
        )
        problems = [answer for answer in answers if isinstance(answer, BaseException)]
        for problem in problems:
            if isinstance(problem, SessionExpiredError) or (
                isinstance(problem, BadVersionError) and problem.failed_index == 0
            ):
                raise ControllerMovedError(str(problem)) from problem
        for problem in problems:
            if isinstance(problem, CoordinatorError):
                raise OutcomeUnknownError(f"{type(problem).__name__}: {problem}") from problem
            raise problem
