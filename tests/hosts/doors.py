"""Every read of a cluster that the control plane offers, asked again and again during a fault."""

from __future__ import annotations

import threading
import time
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tests.hosts.report import Doors, Look

if TYPE_CHECKING:
    from collections.abc import Mapping

TIMEOUT_S = 30.0
LOOKS_MAX = 20_000
PAUSE_S = 0.02
NOT_READS = (
    "/export",
    "/schema-registry",
    "/what-if",
    "/sparklines",
    "/consumption",
    "/decision",
    "/analytics/offsets",
)
"""Files, of which so many may be had in a minute, a registry that is not there, and doors that want
parameters."""


def doors_of(document: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, str]:
    """Addresses of all reads of a cluster, by their path in the OpenAPI document.

    `names` fills in the path's parameters; a path with another one is left out.
    """
    found = {}
    for path, methods in document["paths"].items():
        if "get" not in methods or "{cluster_id}" not in path:
            continue
        if any(part in path for part in NOT_READS):
            continue
        try:
            filled = path.format_map({key: quote(value, safe="") for key, value in names.items()})
        except KeyError:
            continue
        found[path.replace("/api/v1/clusters/{cluster_id}", "…") or path] = filled
    found["/clusters"] = "/api/v1/clusters"
    return found


class DoorWatch:
    """Asks all doors in turn, from a thread of its own, until it is stopped."""

    def __init__(self, address: str, api_key: str, doors: Mapping[str, str]) -> None:
        self._address, self._doors = address, dict(doors)
        self._headers = {"Authorization": f"Bearer {api_key}"}
        self.looks: list[Look] = []
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="doors")

    def start(self) -> None:
        self._thread.start()

    def _run(self) -> None:
        while not self._stopped.is_set():
            for door, path in self._doors.items():
                if self._stopped.is_set() or len(self.looks) >= LOOKS_MAX:
                    return
                self.looks.append(self.look(door, path))
                self._stopped.wait(PAUSE_S)

    def look(self, door: str, path: str) -> Look:
        request = urllib.request.Request(f"{self._address}{path}", headers=self._headers)
        begun_s = time.monotonic()
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
                answer.read()
                status = answer.status
        except urllib.error.HTTPError as error:
            status = error.code
            error.close()
        except OSError:
            status = 0
        return Look(door, status, time.monotonic() - begun_s)

    def stop(self, scenario: str) -> Doors:
        self._stopped.set()
        self._thread.join()
        return Doors(scenario=scenario, looks=tuple(self.looks))
