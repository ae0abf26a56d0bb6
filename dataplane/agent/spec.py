"""What stands under /penstock/hosts: what is wanted of a host, and what its agent reports."""

from __future__ import annotations

import dataclasses
import enum
import json
import re
from typing import TYPE_CHECKING, Any

from dataplane.agent.data_dirs import EXTRA_MAX, MAIN, is_name
from dataplane.agent.versions import OWN
from dataplane.config import BROKER_CONFIGS, BrokerConfig, ConfigError
from dataplane.config.inter_broker import PROTOCOL_KEY

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dataplane.agent.data_dirs import DataDir
    from dataplane.agent.incarnation import Incarnation
    from dataplane.agent.log_dirs import LogDir
    from dataplane.agent.states import End

ROOT = "/penstock/hosts"
CLUSTERS = "/penstock/clusters"
FORMAT = 1
_SHOWN_MAX = 80
_PROTOCOL = re.compile(r"[0-9]{1,2}(\.[0-9]{1,2}){1,2}(-IV[0-9]{1,2})?")
_SENSITIVE = tuple(name for name, key in BROKER_CONFIGS.items() if key.is_sensitive)


class SpecError(ValueError):
    """A desired broker that cannot be understood or may not run; the message says why."""


class Wanted(enum.Enum):
    """What a broker shall be."""

    RUNNING = "running"
    STOPPED = "stopped"
    DELETED = "deleted"


@dataclasses.dataclass(frozen=True, slots=True)
class DesiredBroker:
    """One broker that a host shall run. `secret` is a Fernet token, or empty; `version` the name of
    the release that it shall be of (`versions`). `log_dirs` are names of the host's data
    directories beside `main`, which every broker has; `given_up` are those that it had and shall
    not use again as they were (`log_dirs`).
    """

    key: str
    cluster_id: str
    broker_id: int
    generation: int
    wanted: Wanted
    config: dict[str, str]
    secret: str = dataclasses.field(default="", repr=False)
    version: str = OWN
    log_dirs: tuple[str, ...] = ()
    given_up: tuple[str, ...] = ()


def host_path(host_id: str) -> str:
    return f"{ROOT}/{host_id}"


def alive_path(host_id: str) -> str:
    return f"{ROOT}/{host_id}/alive"


def capacity_path(host_id: str) -> str:
    return f"{ROOT}/{host_id}/capacity"


def versions_path(host_id: str) -> str:
    return f"{ROOT}/{host_id}/versions"


def desired_path(host_id: str, key: str = "") -> str:
    return f"{ROOT}/{host_id}/desired" + (f"/{key}" if key else "")


def observed_path(host_id: str, key: str = "") -> str:
    return f"{ROOT}/{host_id}/observed" + (f"/{key}" if key else "")


def decode_desired(key: str, data: bytes) -> DesiredBroker:
    """Raises SpecError. The key becomes a directory name, so it may not lead elsewhere."""
    if not key or "/" in key or key.startswith("."):
        raise SpecError(f"{key!r} cannot be a broker's key")
    try:
        row = json.loads(data)
        if row["v"] != FORMAT:
            raise SpecError(f"format {row['v']!r} is not known")
        broker_id = row["broker_id"]
        if not isinstance(broker_id, int) or isinstance(broker_id, bool) or broker_id < 0:
            raise SpecError(f"broker_id {broker_id!r} is not a broker's id")
        return DesiredBroker(
            key=key,
            cluster_id=str(row["cluster_id"]),
            broker_id=broker_id,
            generation=int(row["generation"]),
            wanted=Wanted(row["state"]),
            config={str(name): str(value) for name, value in row["config"].items()},
            secret=str(row.get("secret") or ""),
            version=str(row.get("version") or OWN),
            log_dirs=_names(row, "log_dirs"),
            given_up=_names(row, "given_up"),
        )
    except KeyError as error:
        raise SpecError(f"{error.args[0]} is missing") from error
    except RecursionError as error:
        raise SpecError("it is nested too deep") from error
    except (ValueError, TypeError, AttributeError, OverflowError) as error:
        if isinstance(error, SpecError):
            raise
        raise SpecError(str(error)) from error


def _names(row: Mapping[str, Any], field: str) -> tuple[str, ...]:
    """Of data directories beside `main`. Raises SpecError."""
    given = row.get(field) or []
    sound = isinstance(given, list) and all(
        isinstance(each, str) and is_name(each) for each in given
    )
    if not sound or len(given) > EXTRA_MAX:
        raise SpecError(f"{field}: expected at most {EXTRA_MAX} names of data directories")
    return tuple(each for each in dict.fromkeys(given) if each != MAIN)


def cluster_root(desired: DesiredBroker) -> str:
    """The part of ZooKeeper that is the broker's cluster's, as this host's agent sees it."""
    return f"{CLUSTERS}/{desired.cluster_id}"


def broker_settings(
    desired: DesiredBroker, sealed: Mapping[str, str], *, log_dirs: str, own_chroot: str = ""
) -> dict[str, str]:
    """All that the broker's file shall say, checked by the brokers' own table.

    The plan checked what a tenant chose; this is checked again, because whoever writes the desired
    state decides what runs on this host. Identity and paths are the agent's, a broker stays inside
    its cluster's part of ZooKeeper, and passwords and users come sealed or not at all.

    Args:
        desired: what is wanted.
        sealed: the settings that were in its `secret`.
        log_dirs: the broker's log directories on this host, with commas between.
        own_chroot: the agent's own, below which everything of this installation is; "" for none.

    Raises:
        SpecError: names the first key that is not allowed, and what would be.
    """
    own = {"broker.id": str(desired.broker_id), "log.dirs": log_dirs}
    for key, value in {**desired.config, **sealed}.items():
        if key in ("log.dir", "log.dirs", "node.id") or own.get(key, value) != value:
            raise SpecError(f"{key} is the agent's to set")
    for key in desired.config:
        # Also those of one listener: listener.name.<listener>.sasl.jaas.config.
        if any(key == name or key.endswith(f".{name}") for name in _SENSITIVE):
            raise SpecError(f"{key} has to be sealed")
    chroot = f"{own_chroot}{cluster_root(desired)}"
    settings = {**desired.config, **sealed, **own}
    if chroot_of(settings.get("zookeeper.connect", "")) != chroot:
        raise SpecError(f"zookeeper.connect has to end with {chroot}")
    # Which protocols there are, the broker's own release knows; it may be newer than the agent.
    protocol = settings.get(PROTOCOL_KEY)
    if protocol is not None and not _PROTOCOL.fullmatch(protocol):
        raise SpecError(f"{PROTOCOL_KEY}: {protocol[:_SHOWN_MAX]!r} is no version")
    checked = {key: value for key, value in settings.items() if key != PROTOCOL_KEY}
    try:
        unknown = BrokerConfig.parse(checked).unknown
    except ConfigError as error:
        raise SpecError(f"{error.key}: {error.reason}") from error
    if unknown:
        raise SpecError(f"{unknown[0][:_SHOWN_MAX]!r} is not a setting of a broker")
    return settings


def generation_of(data: bytes) -> int:
    """The generation of a desired state, also of one that cannot be understood; 0 for none."""
    try:
        generation = json.loads(data)["generation"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return 0
    return generation if isinstance(generation, int) and generation > 0 else 0


def encode_observed(
    *,
    generation: int,
    state: str,
    pid: int | None,
    restarts: int,
    since_ms: int,
    exit_code: int | None,
    message: str,
    log_tail: list[str],
    ends: Iterable[End] = (),
    version: Mapping[str, str] | None = None,
    log_dirs: Iterable[LogDir] = (),
    zookeeper: str = "",
) -> bytes:
    """Bounded, whatever a broker writes: `ends` are of a supervisor, which keeps few of them.
    `zookeeper` is the connect string that the process was started with.
    """
    row: dict[str, Any] = {
        "v": FORMAT,
        "generation": generation,
        "state": state,
        "pid": pid,
        "restarts": restarts,
        "since_ms": since_ms,
        "exit_code": exit_code,
        "message": message[:1_000],
        "log_tail": [line[:500] for line in log_tail],
        "version": dict(version or {}),
        "zookeeper": zookeeper,
        "log_dirs": [
            {"name": each.name, "path": str(each.path), "problem": each.problem[:200]}
            for each in log_dirs
        ],
        "ends": [
            {
                "at_ms": end.at_ms,
                "exit_code": end.exit_code,
                "message": end.message[:200],
                "log_tail": [line[:300] for line in end.log_tail],
            }
            for end in ends
        ],
    }
    return json.dumps(row).encode()


def encode_host(
    *,
    host_id: str,
    rack: str,
    address: str,
    port_range: tuple[int, int],
    agent_version: str,
    incarnation: Incarnation,
    labels: Mapping[str, str] | None = None,
    answers: Iterable[str] = (),
    data_dirs: Iterable[DataDir] = (),
    zookeeper: str = "",
    ensemble: str = "",
) -> bytes:
    """`answers` are the kinds of questions that its agent takes (`questions`); `zookeeper` its
    connect string, and `ensemble` the identity of the tree that this leads to (`ensemble`).
    """
    return json.dumps(
        {
            "v": FORMAT,
            "host_id": host_id,
            "directory_id": incarnation.directory_id,
            "boot_id": incarnation.boot_id,
            "rack": rack,
            "address": address,
            "port_range": list(port_range),
            "agent_version": agent_version,
            "labels": dict(labels or {}),
            "answers": sorted(answers),
            "data_dirs": [
                {"name": each.name, "directory_id": each.directory_id} for each in data_dirs
            ],
            "zookeeper": {"connect": zookeeper, "ensemble": ensemble},
        }
    ).encode()


def chroot_of(connect_string: str) -> str:
    """The chroot of a `zookeeper.connect` value, "" for none."""
    _, slash, path = connect_string.partition("/")
    return f"/{path.strip('/')}" if slash and path.strip("/") else ""
