"""FakeHosts: hosts whose agents obey at once, or fail on request. For tests."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from controlplane.clusters.described import Host
from controlplane.clusters.hosts import BrokerKey, HostsUnavailableError
from controlplane.clusters.models import own_connect_string
from controlplane.clusters.questions import (
    ADMINISTERED,
    DENIALS,
    LOG_TAIL,
    SEGMENTS,
    Answered,
    HostAnswer,
    HostQuestion,
)
from controlplane.clusters.reports import LogDir, Observed
from controlplane.clusters.versions import NOT_KNOWN, OWN, PROTOCOL_KEY, Installed, Release
from controlplane.gateway.fake import FakeGateway
from controlplane.gateway.fake_state import DISK

ENSEMBLE = "0c6b1c9a-6a55-4f0e-9a53-3d6c3c0e7a01@7"
FIRST_BROKERS = 4
"""What the fake cluster of tests begins with; they come and go as tests say."""

_BODIES: dict[str, dict[str, Any]] = {
    LOG_TAIL: {
        "lines": [{"text": "2026-01-01 00:00:00,000 INFO x: y", "level": "INFO", "cut": False}],
        "next": "77:1000",
        "size_bytes": 1_034,
        "written_at_ms": 1_767_225_600_000,
    },
    ADMINISTERED: {"changes": [], "since_ms": 1_767_225_600_000, "is_whole": True, "left_out": 0},
    DENIALS: {
        "attempts": [
            {
                "event": "denied",
                "principal": "User:app",
                "operation": "READ",
                "resource": "TOPIC:LITERAL:orders",
                "host": "10.0.0.7",
                "api": "Fetch",
                "count": 3,
                "first_ms": 1_767_225_000_000,
                "last_ms": 1_767_225_600_000,
            }
        ],
        "since_ms": 1_767_220_000_000,
        "is_whole": True,
        "held_back": 0,
        "left_out": 0,
    },
    SEGMENTS: {
        "directories": [
            {
                "directory": "data",
                "role": "current",
                "segments": [
                    {"base_offset": 0, "size_bytes": 512, "modified_ms": 1_767_225_600_000}
                ],
                "total": 1,
                "total_bytes": 512,
                "other_bytes": 64,
                "next": None,
            }
        ]
    },
}


RELEASES = tuple(
    Release(name=name, software=software, digest=digit * 64, oldest="3.2-IV0", newest=newest)
    for name, software, digit, newest in (
        (OWN, "0.1.0", "a", "3.9-IV0"),
        ("0.0.9", "0.0.9", "b", "3.8-IV0"),
        ("0.2.0", "0.2.0", "c", "3.9-IV0"),
    )
)
"""What every host of the fake has."""


def usual_answer(question: HostQuestion) -> HostAnswer:
    """What every agent of the fake says, whichever broker it is asked about."""
    return Answered(_BODIES[question.kind], at_ms=1_767_225_600_500)


class FakeHosts:
    def __init__(self, hosts: int = 3, *, racks: int = 3) -> None:
        self.known = [
            Host(
                host_id=f"host-{i}",
                rack=f"rack-{i % racks}",
                address="127.0.0.1",
                port_first=20_000 + 100 * i,
                port_last=20_099 + 100 * i,
                agent_version="fake",
                alive=True,
                zookeeper=own_connect_string(),
                ensemble=ENSEMBLE,
            )
            for i in range(1, hosts + 1)
        ]
        self.desired: dict[BrokerKey, dict[str, Any]] = {}
        self.chroots: dict[str, tuple[str, ...]] = {}
        self.owners: dict[str, str] = {}
        self.reports: dict[BrokerKey, Observed] = {}
        self.directories: dict[tuple[str, int], list[str]] = {}
        self.fenced: dict[str, set[str]] = {}
        self.releases: dict[str, Installed] = {
            host.host_id: Installed(releases=RELEASES, reported_at_ms=1_767_225_600_000)
            for host in self.known
        }
        self.tree = ENSEMBLE
        self.is_away = False
        self.away_because = "the fake ZooKeeper is off"
        self.serves: tuple[str, FakeGateway] | None = None
        self.asked: list[HostQuestion] = []
        self.answers: Callable[[HostQuestion], HostAnswer] = usual_answer
        self.followers: list[Callable[[BrokerKey, dict[str, Any]], None]] = []

    def hosts(self, *, within_s: float | None = None) -> list[Host]:  # noqa: ARG002 - at once
        self._answer()
        return self.known

    def observed(
        self,
        keys: Iterable[BrokerKey],
        *,
        within_s: float | None = None,  # noqa: ARG002 - it answers at once
    ) -> dict[BrokerKey, Observed]:
        self._answer()
        dead = {host.host_id for host in self.known if not host.alive}
        found = {}
        for key in keys:
            spec = self.desired.get(key)
            if key in self.reports:
                found[key] = self.reports[key]
            elif spec is not None:
                found[key] = self.report(key[0], spec)
        return {key: replace(each, is_watched=key[0] not in dead) for key, each in found.items()}

    def report(self, host_id: str, spec: dict[str, Any]) -> Observed:
        """Its brokers run what they were given, and say so."""
        known = self.releases.get(host_id, Installed()).release(spec.get("version", OWN))
        said = Observed(
            state=spec["state"],
            generation=spec["generation"],
            pid=1,
            zookeeper=spec["config"].get("zookeeper.connect", ""),
            log_dirs=(
                LogDir(name="main", path="/data"),
                *(LogDir(name=name, path=f"/disks/{name}") for name in spec.get("log_dirs", ())),
            ),
        )
        if known is None or spec["state"] != "running":
            return said
        return replace(
            said,
            version=known.name,
            digest=known.digest,
            software=known.software,
            protocol=spec["config"].get(PROTOCOL_KEY, known.newest),
        )

    def versions(
        self,
        host_ids: Sequence[str],
        *,
        within_s: float | None = None,  # noqa: ARG002 - it answers at once
    ) -> dict[str, Installed]:
        self._answer()
        return {host: self.releases.get(host, NOT_KNOWN) for host in host_ids}

    def ensemble(self, *, within_s: float | None = None) -> str:  # noqa: ARG002 - at once
        self._answer()
        return self.tree

    def ask(self, questions: Sequence[HostQuestion]) -> list[HostAnswer]:
        self._answer()
        self.asked += questions
        return [self.answers(question) for question in questions]

    def write_desired(self, key: BrokerKey, spec: dict[str, Any]) -> None:
        self._answer()
        self.desired[key] = spec
        if self.serves is not None and spec["cluster_id"] == self.serves[0]:
            self.serve(self.serves[1], spec)
        for follower in self.followers:
            follower(key, spec)

    def serve(self, gateway: FakeGateway, spec: dict[str, Any]) -> None:
        """Brokers above those that the fake cluster began with follow what their hosts are told;
        all of them have the directories that they are given.
        """
        names = spec.get("log_dirs", ())
        gateway.further_dirs[spec["broker_id"]] = {f"/disks/{name}": DISK for name in names}
        if spec["broker_id"] <= FIRST_BROKERS:
            return
        if spec["state"] == "running":
            gateway.add_broker(spec["broker_id"])
        elif spec["broker_id"] in gateway.brokers:
            gateway.remove_broker(spec["broker_id"])

    def forget_broker(self, key: BrokerKey) -> None:
        self._answer()
        self.desired.pop(key, None)
        self.reports.pop(key, None)

    def sealed_for(self, key: BrokerKey) -> str:
        self._answer()
        return str(self.desired.get(key, {}).get("secret", ""))

    def reseal(self, key: BrokerKey, old: str, new: str) -> bool:
        self._answer()
        if self.sealed_for(key) != old:
            return False
        self.desired[key] = {**self.desired[key], "secret": new}
        return True

    def make_chroot(self, path: str, *owners: str) -> None:
        self._answer()
        self.chroots[path] = owners

    def remove_chroot(self, path: str) -> None:
        self._answer()
        self.chroots.pop(path, None)

    def directories_of(self, path: str, broker_id: int) -> list[str]:
        self._answer()
        return self.directories.get((path, broker_id), [])

    def fence_directories(self, path: str, directory_ids: Iterable[str]) -> None:
        self._answer()
        self.fenced.setdefault(path, set()).update(directory_ids)

    def prepare(self, *, whole_server: bool) -> None:  # noqa: ARG002 - it has no nodes
        self._answer()

    def admit_host(self, host_id: str, owner: str) -> None:
        self._answer()
        self.owners[host_id] = owner

    def forget_host(self, host_id: str) -> None:
        self._answer()
        self.known = [host for host in self.known if host.host_id != host_id]
        for key in [key for key in self.desired if key[0] == host_id]:
            del self.desired[key]

    def protect_chroot(self, path: str, *owners: str) -> int:
        self._answer()
        self.chroots[path] = owners
        return 1

    def close(self) -> None:
        """It has no session."""

    def _answer(self) -> None:
        if self.is_away:
            raise HostsUnavailableError(self.away_because)
