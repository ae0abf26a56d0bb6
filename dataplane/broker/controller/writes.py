"""Carries the controller's writes out, fenced by its epoch."""

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
    """ZooKeeper does not hold what we believed, or its answer was lost: read the truth again."""


async def write(
    coordinator: Coordinator, epoch_version: int, groups: Iterable[Sequence[Op]]
) -> None:
    """Write all groups, in bounded multis that travel together and are applied in order.

    Raises ControllerMovedError, or OutcomeUnknownError when some may have been applied.
    """
    answers = await asyncio.gather(
        *(coordinator.multi(multi) for multi in packed(epoch_version, groups)),
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
