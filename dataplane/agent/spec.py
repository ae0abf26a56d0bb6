"""What stands under /penstock/hosts: what is wanted of a host, and what its agent reports."""

from __future__ import annotations

import dataclasses
import enum
import json
from typing import Any

ROOT = "/penstock/hosts"
FORMAT = 1


class SpecError(ValueError):
    """A desired broker that cannot be understood; the message says what is wrong with it."""


class Wanted(enum.Enum):
    """What a broker shall be."""

    RUNNING = "running"
    STOPPED = "stopped"
    DELETED = "deleted"


@dataclasses.dataclass(frozen=True, slots=True)
class DesiredBroker:
    """One broker that a host shall run. `secret` is a Fernet token, or empty."""

    key: str
    cluster_id: str
    broker_id: int
    generation: int
    wanted: Wanted
    config: dict[str, str]
    secret: str = dataclasses.field(default="", repr=False)


def host_path(host_id: str) -> str:
    return f"{ROOT}/{host_id}"


def alive_path(host_id: str) -> str:
    return f"{ROOT}/{host_id}/alive"


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
        )
    except KeyError as error:
        raise SpecError(f"{error.args[0]} is missing") from error
    except (ValueError, TypeError, AttributeError) as error:
        if isinstance(error, SpecError):
            raise
        raise SpecError(str(error)) from error


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
) -> bytes:
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
    }
    return json.dumps(row).encode()


def encode_host(
    *, host_id: str, rack: str, address: str, port_range: tuple[int, int], agent_version: str
) -> bytes:
    return json.dumps(
        {
            "v": FORMAT,
            "host_id": host_id,
            "rack": rack,
            "address": address,
            "port_range": list(port_range),
            "agent_version": agent_version,
        }
    ).encode()


def chroot_of(connect_string: str) -> str:
    """The chroot of a `zookeeper.connect` value, "" for none."""
    _, slash, path = connect_string.partition("/")
    return f"/{path.strip('/')}" if slash and path.strip("/") else ""
