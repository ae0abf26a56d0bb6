"""Where single partitions are on their way: a page of them at a time, by the brokers' own word."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from controlplane.clusters.models import Cluster
from controlplane.clusters.selectors import cluster_row, gateway_for
from controlplane.common.problems import NotFound
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.port import ClusterGateway
from controlplane.gateway.readings import ClusterReader, Gap
from controlplane.gateway.types import TP, OngoingReassignment, partitions_by_tp
from controlplane.observed.readers import Reader
from controlplane.observed.sections import REASSIGNMENTS
from controlplane.observed.selectors import Section, asked_now, rows_of, section
from controlplane.operations.models import Operation
from controlplane.operations.states import CANCELLED, CANCELLING
from controlplane.reassignments import rules
from controlplane.reassignments.diffs import moves_in
from controlplane.reassignments.rules import Move, MoveState, reversed_moves
from controlplane.reassignments.services import KIND
from controlplane.tenants.models import Tenant

ACTIVE_SHOWN = 20
"""Rows of what is on the move on a page of the console; the REST list has all, by pages."""

Bytes = Mapping[TP, tuple[int | None, int | None]]


def row_key(tp: TP) -> str:
    """Sorts by topic, then by number; `paging` sorts by text."""
    return f"{tp.topic} {tp.partition:010d}"


def ongoing_rows(gateway: ClusterGateway) -> list[dict[str, Any]]:
    """Every reassignment in progress, whoever started it, in order; without bytes."""
    return [
        {"key": row_key(row.tp), "row": row}
        for row in sorted(gateway.list_reassignments(), key=lambda row: row.tp)
    ]


def ongoing_with_bytes(
    gateway: ClusterGateway, rows: Sequence[OngoingReassignment]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """(rows as REST shows them, gaps)."""
    measured, gaps = _measured(gateway, {row.tp: row.adding for row in rows})
    return [_ongoing_dict(row, measured) for row in rows], gaps


def _ongoing_dict(row: OngoingReassignment, measured: Bytes) -> dict[str, Any]:
    return {
        "topic": row.tp.topic,
        "partition": row.tp.partition,
        "replicas": list(row.replicas),
        "adding": list(row.adding),
        "removing": list(row.removing),
        **_bytes_dict(measured, row.tp),
    }


@dataclass(frozen=True, slots=True)
class Ongoing:
    """What is on the move: `rows` as `ongoing_rows`, and since when that is known.

    `is_kept`: the brokers do not answer now; nobody is asked for the bytes either.
    """

    rows: list[dict[str, Any]]
    observed: dict[str, Any]
    is_kept: bool = False

    def page(
        self, gateway: ClusterGateway, rows: Sequence[OngoingReassignment]
    ) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """As `ongoing_with_bytes`; a measure that is not answered leaves the bytes unknown."""
        if self.is_kept:
            return unmeasured(rows, str(self.observed["stale_reason"]))
        try:
            return ongoing_with_bytes(gateway, rows)
        except GatewayError as error:
            if not error.retriable:
                raise
            return unmeasured(rows, f"the cluster did not answer ({error.code})")


def ongoing(reader: Reader, gateway: ClusterGateway) -> Ongoing:
    """What moves now, or while the brokers do not say, what moved when they last did.

    Raises:
        GatewayError: they refuse, or do not answer and never have.
    """
    try:
        return Ongoing(ongoing_rows(gateway), asked_now())
    except GatewayError as error:
        at = section(reader, REASSIGNMENTS).aside_from(error, sees_whole=reader.sees_whole)
        return kept(reader, at)


def kept(reader: Reader, at: Section) -> Ongoing:
    """As last observed, of the topics that the reader sees."""
    rows = [row.row for row in rows_of(reader, REASSIGNMENTS)]
    found = [
        OngoingReassignment(
            tp=TP(row["topic"], row["partition"]),
            replicas=tuple(row["replicas"]),
            adding=tuple(row["adding"]),
            removing=tuple(row["removing"]),
        )
        for row in rows
        if reader.sees_topic(row["topic"])
    ]
    shown = [{"key": row_key(each.tp), "row": each} for each in sorted(found, key=lambda e: e.tp)]
    return Ongoing(shown, at.as_row(), is_kept=True)


def unmeasured(
    rows: Sequence[OngoingReassignment], reason: str
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """As `ongoing_with_bytes` where nobody says how far they are."""
    gaps = [{"reason": reason, "brokers": []}] if rows else []
    return [_ongoing_dict(row, {}) for row in rows], gaps


def active(cluster: Cluster, gateway: ClusterGateway) -> dict[str, Any]:
    """What moves now, whoever started it: how many partitions, and the first of them."""
    del cluster  # every selector takes it; this one needs only the way in
    found = ongoing_rows(gateway)
    rows, gaps = ongoing_with_bytes(gateway, [each["row"] for each in found[:ACTIVE_SHOWN]])
    return {"total": len(found), "rows": rows, "unknown": gaps}


def active_kept(reader: Reader, at: Section) -> dict[str, Any]:
    """As `active`, of when it was last read."""
    found = kept(reader, at)
    shown = [each["row"] for each in found.rows[:ACTIVE_SHOWN]]
    rows, gaps = unmeasured(shown, "the cluster does not answer now")
    return {"total": len(found.rows), "rows": rows, "unknown": gaps}


def reassignment_of(tenant: Tenant, operation_id: str, *, locked: bool = False) -> Operation:
    rows = Operation.objects.select_for_update(of=("self",)) if locked else Operation.objects.all()
    found = rows.select_related("plan").filter(tenant=tenant, id=operation_id, kind=KIND)
    operation = found.first()
    if operation is None:
        raise NotFound("Reassignment not found.")
    return operation


def planned_rows(operation: Operation) -> list[dict[str, Any]]:
    """The moves of an operation, in order; the way back once it goes back."""
    moves = moves_in(operation.plan.diff)
    if goes_back(operation):
        moves = reversed_moves(moves)
    return [{"key": row_key(move.tp), "move": move} for move in moves]


def goes_back(operation: Operation) -> bool:
    return operation.rolling_back and operation.state in {CANCELLING, CANCELLED}


def moves_with_progress(operation: Operation, moves: Sequence[Move]) -> dict[str, Any]:
    """Their state and bytes; a cluster that does not answer leaves all of it unknown."""
    gateway = gateway_for(cluster_row(operation.tenant, operation.cluster_id or ""))
    tps = {move.tp for move in moves}
    try:
        ongoing = {row.tp for row in gateway.list_reassignments(tps)}
        parts = partitions_by_tp(gateway.describe_topics({tp.topic for tp in tps}).values())
        now = {tp: part.replicas for tp, part in parts.items()}
        states = rules.states_of(rules.survey(moves, now=now, ongoing=ongoing))
        measured, gaps = _measured(gateway, {move.tp: move.adding for move in moves})
    except GatewayError as error:
        states, measured = {}, {}
        gaps = [{"reason": f"the cluster did not answer ({error.code})", "brokers": []}]
    rows = [
        {
            "topic": move.tp.topic,
            "partition": move.tp.partition,
            "before": list(move.before),
            "after": list(move.after),
            "state": states.get(move.tp, MoveState.UNKNOWN).value,
            **_bytes_dict(measured, move.tp),
        }
        for move in moves
    ]
    return {"data": rows, "unknown": gaps}


def _bytes_dict(measured: Bytes, tp: TP) -> dict[str, int | None]:
    moved, to_move = measured.get(tp, (None, None))
    return {"bytes_moved": moved, "bytes_to_move": to_move}


def _measured(
    gateway: ClusterGateway, adding: Mapping[TP, Collection[int]]
) -> tuple[Bytes, list[dict[str, Any]]]:
    """Asks the leaders and the new brokers of these partitions only, about their topics only."""
    if not adding:
        return {}, []
    topics = sorted({tp.topic for tp in adding})
    parts = partitions_by_tp(gateway.describe_topics(topics).values())
    leaders = {tp: parts[tp].leader for tp in adding if tp in parts}
    brokers = {broker for brokers in adding.values() for broker in brokers}
    brokers |= {leader for leader in leaders.values() if leader is not None}
    found = ClusterReader(gateway).replicas(sorted(brokers), topics)
    silent = {broker for gap in found.gaps for broker in gap.brokers}
    held: dict[TP, dict[int, int | None]] = {tp: dict.fromkeys(silent) for tp in adding}
    for replica in found.known:
        if replica.tp in held and not replica.is_future:
            held[replica.tp][replica.broker] = replica.size_bytes
    measured = {tp: rules.bytes_moved(adding[tp], leaders.get(tp), held[tp]) for tp in adding}
    return measured, [_gap_dict(gap) for gap in found.gaps]


def _gap_dict(gap: Gap) -> dict[str, Any]:
    return {"reason": gap.reason, "brokers": list(gap.brokers)}
