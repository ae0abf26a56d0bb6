"""cluster.add_log_directory: brokers get another directory of their hosts for their logs.

Each host says that it has the directory and how much room → no more hangs on the brokers than the
plan says → broker by broker, as `cluster.restart` does it, each started with the directory → every
broker says that it has it, and that it works. Replicas stay where they are; new ones go there too.
The undo empties it and takes it away.
"""

from typing import Any

from controlplane.clusters.capacity import MAIN, DirectoryRoom
from controlplane.clusters.log_dir_roll import (
    BEFORE,
    DirectoryKind,
    Names,
    asked_again,
    names_change,
    names_of,
    order_of,
)
from controlplane.clusters.log_dir_rules import FAILED, WORKING, after_adding, directory
from controlplane.clusters.log_dir_shapes import (
    AddLogDirectoryDiffSerializer,
    AddLogDirectoryInputs,
)
from controlplane.clusters.log_dirs import HostRoom, directories_of, rooms_of
from controlplane.clusters.models import Broker
from controlplane.clusters.operations_base import cluster_of
from controlplane.clusters.rolling import (
    CANARY_S,
    GENERATIONS,
    IN_SYNC_DEADLINE_S,
    ROLL_DEADLINE_S,
    RollKind,
    extents,
    roll_warnings,
    rolled,
)
from controlplane.clusters.versions_read import reported_by
from controlplane.common.problems import Conflict, field_problem
from controlplane.operations.details import detail_of, together
from controlplane.operations.models import Plan
from controlplane.operations.operations import (
    Done,
    Phase,
    PlanContext,
    PlanDraft,
    StepContext,
    StepFailedError,
    StepSpec,
    Wait,
)
from controlplane.operations.read_back import read_back, verified_by
from controlplane.operations.summaries import summary_of
from controlplane.operations.warnings import warning_of

ADDED_STAYS = detail_of("remains/directory-added")


class AddLogDirectory(DirectoryKind):
    name = "cluster.add_log_directory"
    restores = "the directory is emptied and taken away from the brokers"
    inputs = AddLogDirectoryInputs
    diff_shape = AddLogDirectoryDiffSerializer

    def plan(self, context: PlanContext, inputs: dict[str, Any]) -> PlanDraft:
        cluster, name = cluster_of(context), inputs["directory"]
        if name == MAIN:
            raise field_problem("/inputs/directory", "Every broker has this one.")
        rows = rolled(cluster, inputs.get("brokers"))
        rooms = rooms_of(rows)
        chosen = _chosen(rows, rooms, name, asked="brokers" in inputs)
        gateway = self.gateway(context)
        topics = gateway.list_topics()
        planned, lost = order_of(gateway, chosen, topics)
        by_id = {row.broker_id: row for row in chosen}
        found = {row.broker_id: rooms[row.host_id].capacity.directory(name) for row in chosen}
        return PlanDraft(
            resource=f"cluster/{cluster.name}",
            diff={
                "directory": name,
                "brokers": [
                    _added(row, by_id[row["id"]], found[row["id"]], name) for row in planned
                ],
                "canary_s": inputs.get("canary_s", CANARY_S),
            },
            summary=summary_of("cluster.add_log_directory", brokers=len(chosen), directory=name),
            preconditions={
                GENERATIONS: {str(row.broker_id): row.generation for row in chosen},
                BEFORE: names_of(chosen),
            },
            warnings=[*_warnings(chosen, rooms, name), *roll_warnings(cluster, planned, lost)],
            blast_radius=extents(lost),
            typed_name=cluster.name,
        )

    def preconditions_now(self, context: PlanContext, plan: Plan) -> dict[str, Any]:
        wanted = [row["id"] for row in plan.diff["brokers"]]
        rows = rolled(cluster_of(context), wanted)
        _chosen(rows, rooms_of(rows), plan.diff["directory"], asked=True)
        return {
            GENERATIONS: {str(row.broker_id): row.generation for row in rows},
            BEFORE: names_of(rows),
        }

    def undo(self, plan: Plan) -> tuple[str, dict[str, Any]] | None:
        return "cluster.empty_log_directory", {
            "directory": plan.diff["directory"],
            "brokers": [row["id"] for row in plan.diff["brokers"]],
            "canary_s": plan.diff["canary_s"],
        }

    def after(self, context: StepContext, row: Broker) -> Names:
        name = context.diff["directory"]
        before = context.preconditions[BEFORE].get(str(row.broker_id), row.log_dirs)
        return after_adding(before, name), [each for each in row.given_up_dirs if each != name]

    def check_now(self, context: StepContext, row: Broker) -> None:
        """A disk that has gone since would keep the broker from starting with it."""
        with asked_again():
            room = rooms_of([row])[row.host_id]
        why = _unfit(room, context.diff["directory"])
        if why:
            raise StepFailedError(
                "directory-gone",
                together(detail_of("lead/directory-gone", broker=str(row.broker_id)), why),
            )

    def verify(self, context: StepContext) -> Done | Wait:
        """By what agents gave their brokers, and by what each broker says of its directories."""
        wanted = {row["id"] for row in context.diff["brokers"]}
        rows = [row for row in self._rows(context) if row.broker_id in wanted]
        gateway, name = self.gateway(context), context.diff["directory"]
        with asked_again():
            said = reported_by(rows)
        for row in rows:
            one = directory(name, directories_of(gateway, row, said))
            if one.state == FAILED:
                raise StepFailedError(
                    "directory-failed",
                    together(
                        detail_of(
                            "failed/directory-unusable",
                            broker=str(row.broker_id),
                            directory=name,
                        ),
                        one.error or "",
                        one.problem,
                    ),
                )
            if one.state != WORKING:
                not_yet = detail_of(
                    "directory/not-named", broker=str(row.broker_id), directory=name
                )
                return read_back(not_yet, poll_s=1.0)
        found = RollKind.verify(self, context)
        if isinstance(found, Wait):
            return found
        usable = detail_of("directory/usable", brokers=len(rows), directory=name)
        return read_back(None, detail=together(usable, found.detail), progress=found.progress)

    def _rows(self, context: StepContext) -> list[Broker]:
        return list(Broker.objects.filter(cluster=cluster_of(context)))

    steps = (
        StepSpec(
            name="check",
            title="No more hangs on the brokers than the plan says",
            run=RollKind.check,
            writes=False,
        ),
        StepSpec(
            name="roll",
            title="Start the brokers with the directory, one after the other",
            run=RollKind.roll,
            deadline_s=ROLL_DEADLINE_S,
            restored_by=("settle",),
            stays=ADDED_STAYS,
        ),
        verified_by(
            verify,
            title="Every broker says that it can use the directory, its replicas are in sync",
            deadline_s=IN_SYNC_DEADLINE_S,
        ),
        StepSpec(
            name="settle",
            title="Wait for the broker under way, leave the others as they are",
            run=RollKind.settle,
            phase=Phase.RESTORE,
            deadline_s=IN_SYNC_DEADLINE_S + 600.0,
        ),
    )


def _chosen(
    rows: list[Broker], rooms: dict[str, HostRoom], name: str, *, asked: bool
) -> list[Broker]:
    """Those that get it.

    Raises:
        Conflict: one that was asked for cannot, or none can.
    """
    reasons = {row.broker_id: _unfit(rooms[row.host_id], name) for row in rows}
    without = [row for row in rows if name not in row.log_dirs]
    if not without:
        raise Conflict(f"The brokers have the directory {name} already.", code="nothing-to-do")
    fit = [row for row in without if not reasons[row.broker_id]]
    refused = [row for row in without if reasons[row.broker_id]]
    if refused and (asked or not fit):
        said = [f"Broker {row.broker_id}: {reasons[row.broker_id]}" for row in refused]
        raise Conflict(
            " ".join(said[:3]),
            code="directory-not-there",
            brokers=[
                {"broker_id": row.broker_id, "reason": reasons[row.broker_id]} for row in refused
            ],
        )
    return fit


def _unfit(room: HostRoom, name: str) -> str:
    """Why the broker cannot get it, as a sentence; empty when it can."""
    if room.unknown:
        return room.unknown
    found = room.capacity.directory(name)
    if found is None:
        return f"Its host has no directory {name}."
    return found.problem


def _added(
    planned: dict[str, Any], row: Broker, room: DirectoryRoom | None, name: str
) -> dict[str, Any]:
    return {
        **planned,
        "log_dirs": names_change(row.log_dirs, after_adding(row.log_dirs, name)),
        "total_bytes": room.total_bytes if room else None,
        "free_bytes": room.free_bytes if room else None,
    }


def _warnings(rows: list[Broker], rooms: dict[str, HostRoom], name: str) -> list[dict[str, Any]]:
    found = [warning_of("replicas-stay", "info")]
    shared = [
        row.broker_id
        for row in rows
        if (volumes := rooms[row.host_id].volumes).get(name)
        and any(volumes.get(each) == volumes[name] for each in (MAIN, *row.log_dirs))
    ]
    if shared:
        found.append(warning_of("same-disk", brokers=", ".join(map(str, shared))))
    return found
