"""What a plan to empty a log directory says of each broker, and what refuses it."""

from collections.abc import Iterable
from typing import Any, Final

from controlplane.clusters.emptying_steps import leaders_bytes
from controlplane.clusters.log_dir_roll import names_change
from controlplane.clusters.log_dir_rules import (
    FAILED,
    Directory,
    Missing,
    NoRoomError,
    after_removing,
    directory,
    missing,
    others,
    present_in,
    targets,
)
from controlplane.clusters.models import Broker
from controlplane.common.problems import Conflict, field_problem
from controlplane.common.words import counted
from controlplane.gateway.port import ClusterGateway
from controlplane.gateway.types import TP, TopicDescription
from controlplane.operations.summaries import Summary, summary_of
from controlplane.operations.warnings import warning_of

NAMES_SAID_MAX: Final = 5
PARTITIONS_MAX: Final = 100


def emptied(
    row: Broker,
    among: list[Directory],
    name: str,
    topics: list[TopicDescription],
    gateway: ClusterGateway,
    *,
    removes: bool,
) -> dict[str, Any]:
    """The plan's row beside the roll's. Raises Conflict: it cannot be emptied."""
    one = directory(name, among)
    after = after_removing(row.log_dirs, name) if removes else row.log_dirs
    shown = {"log_dirs": names_change(row.log_dirs, after), "state": one.state}
    if one.state == FAILED:
        if not removes:
            raise field_problem(
                "/inputs/remove", f"{name} has failed: it is taken away, or stays as it is."
            )
        lost = missing(row.broker_id, topics, present_in(among))
        _require_elsewhere(row.broker_id, name, lost)
        sizes = leaders_bytes(gateway, topics, lost.all)
        _require_room(row.broker_id, name, among, sizes)
        return {
            **shown,
            "leaving": len(lost.all),
            "leaving_bytes": None if sizes is None else sum(sizes.values()),
            "moves": [],
        }
    try:
        chosen = targets(one.here, others(name, among))
    except NoRoomError as error:
        raise _no_room(row.broker_id, name, error) from error
    sizes = {replica.tp: replica.size_bytes for replica in one.here}
    return {
        **shown,
        "leaving": len(one.here),
        "leaving_bytes": one.size_bytes,
        "moves": [
            {
                "directory": into,
                "replicas": len(tps),
                "size_bytes": sum(sizes[tp] for tp in tps),
            }
            for into, tps in _by_target(chosen)
        ],
    }


def _by_target(chosen: dict[TP, Directory]) -> list[tuple[str, list[TP]]]:
    found: dict[str, list[TP]] = {}
    for tp, into in chosen.items():
        found.setdefault(into.name, []).append(tp)
    return sorted(found.items())


def _require_room(
    broker: int, name: str, among: list[Directory], sizes: dict[TP, int] | None
) -> None:
    """Where its size is known. Raises Conflict."""
    rooms = [each.room_bytes for each in others(name, among)]
    known = [room for room in rooms if room is not None]
    wanted = sum(sizes.values()) if sizes else 0
    if rooms and len(known) == len(rooms) and wanted > sum(known):
        raise _no_room(broker, name, NoRoomError(wanted=wanted, room=sum(known)))


def _no_room(broker: int, name: str, error: NoRoomError) -> Conflict:
    return Conflict(
        f"The other directories of broker {broker} have no room for what lies in {name}"
        f" ({error.wanted} bytes; {error.room} may be used).",
        code="no-room",
        broker_id=broker,
        wanted_bytes=error.wanted,
        room_bytes=error.room,
    )


def _require_elsewhere(broker: int, name: str, lost: Missing) -> None:
    """Raises Conflict."""
    if lost.only_here:
        raise Conflict(
            f"{name} of broker {broker} has failed, and {counted(len(lost.only_here), 'partition')}"
            f" ({_named(lost.only_here)}) have no other replica in sync: without the directory"
            " their records would be gone. Bring the disk back as it was and restart the broker.",
            code="only-copy",
            partitions=_partitions(lost.only_here),
        )
    if lost.counted:
        raise Conflict(
            f"{name} of broker {broker} has failed, and it is still counted as in sync of"
            f" {counted(len(lost.counted), 'partition')} ({_named(lost.counted)}). That passes by"
            " itself within seconds.",
            code="still-in-sync",
            partitions=_partitions(lost.counted),
        )


def _partitions(found: Iterable[TP]) -> list[dict[str, Any]]:
    return [{"topic": tp.topic, "partition": tp.partition} for tp in sorted(found)[:PARTITIONS_MAX]]


def _named(found: Iterable[TP]) -> str:
    names = [f"{tp.topic}-{tp.partition}" for tp in sorted(found)]
    more = len(names) - NAMES_SAID_MAX
    return ", ".join(names[:NAMES_SAID_MAX]) + (f" and {more} more" if more > 0 else "")


def summarized(name: str, replicas: int, brokers: int, *, removes: bool) -> Summary:
    code = "cluster.empty_log_directory" if removes else "cluster.empty_log_directory/stays"
    return summary_of(code, replicas=replicas, directory=name, brokers=brokers)


def warnings_of(brokers: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    rows = []
    failed = [row["id"] for row in brokers if row["state"] == FAILED]
    if failed:
        rows.append(warning_of("made-anew", directory=name, brokers=", ".join(map(str, failed))))
    if any(row["state"] != FAILED and not row["moves"] and row["leaving"] for row in brokers):
        rows.append(warning_of("room-unknown"))
    return rows
