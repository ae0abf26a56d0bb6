"""What a scenario is given: the site, and the traffic on the cluster's topic."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.hosts.service import HostsService
    from tests.hosts.site import Site
    from tests.hosts.traffic import Traffic

BROKERS = (1, 2, 3)
PLANNED_GAP_S = 0.5
PLANNED_BOUND_S, BOUND_S = 30.0, 90.0
"""What fails a run on whatever machine, beside the goals, which are printed."""


@dataclasses.dataclass(slots=True)
class Run:
    """One scenario under way."""

    site: Site
    traffic: Traffic

    @property
    def service(self) -> HostsService:
        return self.site.service

    def whole(self) -> None:
        self.traffic.wait_until_whole(BROKERS)
        self.traffic.flows()

    def others(self, broker: int) -> list[int]:
        return [each for each in BROKERS if each != broker]


@dataclasses.dataclass(frozen=True, slots=True)
class Scenario:
    """`goal_s` is printed as ok or MISSED; more than `bound_s` fails, on whatever machine."""

    name: str
    act: Callable[[Run], str]
    goal_s: float | None
    bound_s: float = BOUND_S
    after: Callable[[Run], None] | None = None
    """Mends what the scenario leaves broken, once everything is accounted for."""
