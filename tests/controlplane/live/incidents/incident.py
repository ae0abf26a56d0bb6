"""One incident from its cause to the resolved alert, and the table of all of them."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.controlplane.live.followed import Followed
from tests.controlplane.live.incidents.signed_in import SignedIn
from tests.controlplane.live.incidents.world import Place, World
from tests.controlplane.live.service import LiveService

TOLD_S_MAX = 20.0
"""From an alert's move to the webhook's being told: a round, and a round of sending."""


@dataclass(frozen=True, slots=True)
class Row:
    """`resolved_s`: from the mending. Both contain the rule's own holding times."""

    rule: str
    runbook: str
    cause: str
    firing_s: float
    resolved_s: float

    def __str__(self) -> str:
        return (
            f"| {self.rule} | {self.runbook} | {self.cause} | {self.firing_s:.0f} |"
            f" {self.resolved_s:.0f} |"
        )


def until(holds: Callable[[], Any], what: Callable[[], Any], within_s: float) -> Any:
    end_s = time.monotonic() + within_s
    while not (found := holds()):
        assert time.monotonic() < end_s, str(what())
        time.sleep(1.0)
    return found


class Incident:
    """Begins where it is made: what follows is its cause.

    `place`: of a rule about a cluster; else the tenant's `view` alone.
    """

    alerts = "/alerts"
    """Where whoever it is about reads them."""

    def __init__(
        self,
        world: World,
        rule: str,
        cause: str,
        *,
        place: Place | None = None,
        view: LiveService | SignedIn | None = None,
        subject: str = "",
    ) -> None:
        self.world, self.rule, self.cause, self.subject = world, rule, cause, subject
        self.cluster_id = place.id if place else None
        self.view: LiveService | SignedIn = place.view if place else view  # type: ignore[assignment] # one of them is given
        assert self._found() is None, "it fires before its cause"
        self.began_s = time.monotonic()
        self.alert: dict[str, Any] = {}

    def _found(self) -> dict[str, Any] | None:
        rows = self.view.get(f"{self.alerts}?rule={self.rule}&page_size=100")["data"]
        mine = [row for row in rows if self._is_mine(row) and row["state"] != "resolved"]
        return mine[0] if mine else None

    def _is_mine(self, row: dict[str, Any]) -> bool:
        return (row["cluster_id"], row["subject"]) == (self.cluster_id, self.subject)

    def fires(self, within_s: float) -> dict[str, Any]:
        """Until the alert fires; whoever is on call is told, and of what to do."""
        every = f"{self.alerts}?rule={self.rule}&page_size=100"
        self.alert = until(
            self._found, lambda: (self.rule, "does not fire", self.view.get(every)), within_s
        )
        self.firing_s = time.monotonic() - self.began_s
        assert self.alert["state"] == "firing"
        self._is_told(["firing"])
        said = self.world.said_of(self.alert["id"])
        assert (said["rule"], said["runbook"]) == (self.rule, self.alert["runbook"])
        return self.alert

    def _is_told(self, states: list[str]) -> None:
        def told() -> list[str]:
            return list(dict.fromkeys(self.world.told(self.alert["id"])))

        until(lambda: told() == states, lambda: (self.rule, told()), TOLD_S_MAX)

    def now(self) -> dict[str, Any]:
        found: dict[str, Any] = self.view.get(f"{self.alerts}/{self.alert['id']}")
        return found

    def follow(self, **about: Any) -> Followed:
        """Begin the runbook that the alert names."""
        document = self.view.get(f"/runbooks/{self.alert['runbook']}")
        assert self.rule in document["alerts"]
        about = {"cluster_id": self.cluster_id, "alert_id": self.alert["id"], **about}
        self.run = Followed(self.view, self.alert["runbook"], **about)
        return self.run

    def mended(self) -> None:
        self.mended_s = time.monotonic()

    def resolves(self, within_s: float) -> None:
        """Until the alert has ended by itself; the run is ended as such, and the row kept."""
        until(
            lambda: self.now()["state"] == "resolved",
            lambda: (self.rule, "does not resolve", self.now()),
            within_s,
        )
        resolved_s = time.monotonic() - self.mended_s
        self._is_told(["firing", "resolved"])
        assert self.run.end()["state"] == "resolved"
        row = Row(self.rule, self.alert["runbook"], self.cause, self.firing_s, resolved_s)
        self.world.table.append(row)
        print(row, flush=True)


class HostIncident(Incident):
    """One that operators are told of, and no tenant. Without a host: of what all of them share."""

    alerts = "/operator/alerts"

    def __init__(self, world: World, rule: str, cause: str, host_id: str | None = None) -> None:
        self.host_id = host_id
        super().__init__(world, rule, cause, view=world.operator)

    def _is_mine(self, row: dict[str, Any]) -> bool:
        return bool(row["host_id"] == self.host_id)
