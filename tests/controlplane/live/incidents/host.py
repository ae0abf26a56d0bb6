"""A host beside the service's first: an agent of its own, by its own login, that tests may end."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.controlplane.live.incidents.signed_in import SignedIn
from tests.controlplane.live.service import LiveService
from tests.local_cluster import eventually

SHOWN_S = 90.0
"""Until operators see what an agent did: it reports each half a minute."""


class Host:
    """`ports`: the first and the last that brokers there may have; for the next agent."""

    def __init__(
        self,
        service: LiveService,
        operator: SignedIn,
        host_id: str,
        data_dir: Path,
        ports: tuple[int, int],
    ) -> None:
        self.id, self.ports = host_id, ports
        self._service, self._operator, self._data_dir = service, operator, data_dir
        self._name = f"agent-{host_id}"

    def admit(self) -> None:
        """As an operator does it: a key and a login, and its agent is started."""
        key = self._service.logins / f"{self.id}.key"
        self._service.manage("secrets", "host-key", self.id, "--file", str(key))
        self._service.make_login(self.id)
        self.start_agent()

    def start_agent(self) -> None:
        command = self._service.agent_command(self.id, self.id, self._data_dir, self.ports)
        self._service.spawn(self._name, *command)

    def kill_agent(self) -> None:
        """SIGKILL: the brokers that it has started go on."""
        self._service.kill(self._name)

    def stop_agent(self) -> None:
        """SIGTERM: it stops its brokers first."""
        process = self._service.processes.pop(self._name, None)
        if process is not None:
            process.terminate()
            process.wait(30)

    def shown(self) -> dict[str, Any]:
        """Its page."""
        found: dict[str, Any] = self._operator.get(f"/operator/hosts/{self.id}")
        return found

    def wait_until(self, holds: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
        """Until its page says so."""
        for _ in eventually(SHOWN_S, f"{self.id}: {self._service.log_tail(self._name)}"):
            found = self._of_all()
            if found is not None and holds(found):
                return found
        raise AssertionError

    def _of_all(self) -> dict[str, Any] | None:
        """None: no agent has registered it yet."""
        rows = self._operator.get("/operator/hosts")["data"]
        return next((row for row in rows if row["host_id"] == self.id), None)
