"""cluster.empty_log_directory: every replica leaves a directory, which is then taken away.

The others have room for all of it, or the plan is refused → a limit on what brokers copy →
replicas are moved by AlterReplicaLogDirs, some at a time, read anew on every tick, so that any
worker goes on where another was killed → the limit is lifted, whatever happens → the directory is
asked once more, right before each restart → the broker starts without it (its agent leaves no
directory out that holds replicas) → every broker says so, and its replicas are in sync.

Of a directory that has failed nothing can be copied. Its replicas are read anew from the others, so
it is refused while one of them is in sync nowhere else, or is still counted as in sync here: a
broker that begins a replica from nothing must not be the one that others cut their logs to.
"""

from typing import Any, Final

from controlplane.clusters import emptying_steps as steps_of
from controlplane.clusters.capacity import MAIN
from controlplane.clusters.emptying_plan import emptied, summarized, warnings_of
from controlplane.clusters.log_dir_roll import (
    BEFORE,
    REFILL_S,
    DirectoryKind,
    Names,
    asked_again,
    names_of,
    order_of,
)
from controlplane.clusters.log_dir_rules import (
    ABSENT,
    FAILED,
    Directory,
    after_removing,
    directory,
)
from controlplane.clusters.log_dir_shapes import (
    RATE,
    EmptyLogDirectoryDiffSerializer,
    EmptyLogDirectoryInputs,
)
from controlplane.clusters.log_dirs import directories_of, named_by, rooms_of
from controlplane.clusters.models import Broker
from controlplane.clusters.operations_base import cluster_of
from controlplane.clusters.rebuild_limits import limiter
from controlplane.clusters.roll_steps import Roller
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
from controlplane.common.problems import Conflict, field_problem
from controlplane.gateway.port import ClusterGateway
from controlplane.operations.blast_radius import Extent
from controlplane.operations.details import detail_of, together
from controlplane.operations.models import Operation, Plan
from controlplane.operations.operations import (
    Done,
    Phase,
    PlanContext,
    PlanDraft,
    StepContext,
    StepFailedError,
    StepRetryError,
    StepSpec,
    Wait,
)
from controlplane.operations.read_back import read_back, verified_by

FAILED_AT: Final = "failed"
"""In the preconditions: of which brokers the directory has failed."""
MOVE_DEADLINE_S: Final = 7 * 86_400.0
"""Named ends come much sooner (`emptying_steps.STALLED_S`)."""
REMOVED_STAYS: Final = detail_of("remains/directory-removed")


class EmptyLogDirectory(DirectoryKind):
    name = "cluster.empty_log_directory"
    restores = "the brokers get the directory again, empty"
    final = "replicas stay where they went"
    inputs = EmptyLogDirectoryInputs
    diff_shape = EmptyLogDirectoryDiffSerializer

    def plan(self, context: PlanContext, inputs: dict[str, Any]) -> PlanDraft:
        cluster, name = cluster_of(context), inputs["directory"]
        removes = inputs.get("remove", True)
        if removes and name == MAIN:
            raise field_problem(
                "/inputs/remove", "The first directory can be emptied and not taken away."
            )
        gateway = self.gateway(context)
        rows = rolled(cluster, inputs.get("brokers"))
        among = _among(gateway, rows)
        rows = [row for row in rows if _uses(row, name, among[row.broker_id])]
        if not rows:
            raise Conflict(f"No broker has the directory {name}.", code="nothing-to-do")
        topics = gateway.list_topics()
        planned, lost = order_of(gateway, rows, topics)
        by_id = {row.broker_id: row for row in rows}
        brokers = [
            {
                **row,
                **emptied(
                    by_id[row["id"]], among[row["id"]], name, topics, gateway, removes=removes
                ),
            }
            for row in planned
        ]
        if not removes and not any(row["leaving"] for row in brokers):
            raise Conflict(f"The directory {name} is empty.", code="nothing-to-do")
        replicas = sum(row["leaving"] for row in brokers)
        return PlanDraft(
            resource=f"cluster/{cluster.name}",
            diff={
                "directory": name,
                "remove": removes,
                "bytes_per_s": inputs.get("bytes_per_s", RATE),
                "brokers": brokers,
                "canary_s": inputs.get("canary_s", CANARY_S),
            },
            summary=summarized(name, replicas, len(rows), removes=removes),
            preconditions={
                GENERATIONS: {str(row.broker_id): row.generation for row in rows},
                BEFORE: names_of(rows),
                FAILED_AT: sorted(row["id"] for row in brokers if row["state"] == FAILED),
            },
            warnings=[
                *warnings_of(brokers, name),
                *(roll_warnings(cluster, planned, lost) if removes else []),
            ],
            blast_radius=extents(lost) if removes else [],
            typed_name=cluster.name,
        )

    def preconditions_now(self, context: PlanContext, plan: Plan) -> dict[str, Any]:
        name = plan.diff["directory"]
        rows = rolled(cluster_of(context), [row["id"] for row in plan.diff["brokers"]])
        among = _among(self.gateway(context), rows)
        return {
            GENERATIONS: {str(row.broker_id): row.generation for row in rows},
            BEFORE: names_of(rows),
            FAILED_AT: sorted(
                broker for broker, found in among.items() if directory(name, found).state == FAILED
            ),
        }

    def blast_radius_now(self, context: PlanContext, plan: Plan) -> list[Extent]:
        return super().blast_radius_now(context, plan) if plan.diff["remove"] else []

    def prepare(self, operation: Operation, plan: Plan) -> None:
        limiter().prepare(operation, plan.diff["bytes_per_s"])

    def undo(self, plan: Plan) -> tuple[str, dict[str, Any]] | None:
        if not plan.diff["remove"]:
            return None
        return "cluster.add_log_directory", {
            "directory": plan.diff["directory"],
            "brokers": [row["id"] for row in plan.diff["brokers"]],
            "canary_s": plan.diff["canary_s"],
        }

    # -- what a broker is to have, and what is asked right before
    def after(self, context: StepContext, row: Broker) -> Names:
        name, broker = context.diff["directory"], row.broker_id
        before = context.preconditions[BEFORE].get(str(broker), row.log_dirs)
        kept = [each for each in row.given_up_dirs if each != name]
        failed = broker in context.preconditions[FAILED_AT]
        return after_removing(before, name), [*kept, name] if failed else kept

    def check_now(self, context: StepContext, row: Broker) -> None:
        gateway, name = self.gateway(context), context.diff["directory"]
        with asked_again():
            among = _among(gateway, [row])[row.broker_id]
        one = directory(name, among)
        if one.state == FAILED:
            if row.broker_id not in context.preconditions[FAILED_AT]:
                raise StepFailedError(
                    "directory-failed",
                    detail_of("failed/directory-failed", broker=str(row.broker_id), directory=name),
                )
            steps_of.require_elsewhere(gateway, row.broker_id, among)
        elif row.broker_id in context.preconditions[FAILED_AT] and one.state != ABSENT:
            raise StepFailedError(
                "plan-stale",
                detail_of("failed/directory-works", broker=str(row.broker_id), directory=name),
            )
        elif one.replicas:
            # New replicas go to the directory with the fewest, which is the one that was emptied.
            steps_of.begin(gateway, row.broker_id, name, among)
            raise StepRetryError(
                detail_of(
                    "directory/came-meanwhile",
                    replicas=len(one.replicas),
                    directory=name,
                    broker=str(row.broker_id),
                )
            )

    def roller(self, context: StepContext) -> Roller:
        made = super().roller(context)
        if context.preconditions[FAILED_AT]:
            made.in_sync_s = REFILL_S
        return made

    # -- steps
    def limit(self, context: StepContext) -> Done | Wait:
        return steps_of.limit(context, self.gateway(context))

    def move(self, context: StepContext) -> Done | Wait:
        rows = self._rows(context)
        with asked_again():
            said, rooms = named_by(rows), rooms_of(rows)
        return steps_of.move(context, self.gateway(context), rows, said, rooms)

    def lift(self, context: StepContext) -> Done | Wait:
        return steps_of.lift(context, self.gateway(context))

    def hold(self, context: StepContext) -> Done | Wait:
        rows = self._rows(context)
        with asked_again():
            said = named_by(rows)
        return steps_of.hold(context, self.gateway(context), rows, said)

    def roll(self, context: StepContext) -> Done | Wait:
        if not context.diff["remove"]:
            return Done(detail=detail_of("directory/kept"))
        return super().roll(context)

    def settle(self, context: StepContext) -> Done | Wait:
        if not context.diff["remove"]:
            return Done(detail=detail_of("roll/none-meant"))
        return super().settle(context)

    def verify(self, context: StepContext) -> Done | Wait:
        rows, name = self._rows(context), context.diff["directory"]
        with asked_again():
            among = _among(self.gateway(context), rows)
        for row in rows:
            one = directory(name, among[row.broker_id])
            if context.diff["remove"] and one.state != ABSENT:
                if one.problem:
                    raise StepFailedError(
                        "directory-not-empty",
                        together(
                            detail_of(
                                "lead/directory-kept", broker=str(row.broker_id), directory=name
                            ),
                            one.problem,
                        ),
                    )
                still = detail_of(
                    "directory/still-there", broker=str(row.broker_id), directory=name
                )
                return read_back(still, poll_s=1.0)
            if one.replicas:
                there = detail_of(
                    "directory/replicas-there",
                    replicas=len(one.replicas),
                    directory=name,
                    broker=str(row.broker_id),
                )
                return read_back(there, poll_s=1.0)
        found = RollKind.verify(self, context)
        if isinstance(found, Wait):
            return found
        code = "directory/unused" if context.diff["remove"] else "directory/no-replicas"
        did = detail_of(code, directory=name, brokers=len(rows))
        return read_back(None, detail=together(did, found.detail), progress=found.progress)

    def _rows(self, context: StepContext) -> list[Broker]:
        """With their cluster, which is then not asked for by itself."""
        wanted = [row["id"] for row in context.diff["brokers"]]
        found = Broker.objects.select_related("cluster").filter(
            cluster_id=context.operation.cluster_id,
            cluster__tenant=context.tenant,
            cluster__deleted_at=None,
        )
        rows = list(found.filter(broker_id__in=wanted))
        if rows:
            context.cluster = rows[0].cluster
        return rows

    steps = (
        StepSpec(
            name="check",
            title="No more hangs on the brokers than the plan says",
            run=RollKind.check,
            writes=False,
        ),
        StepSpec(
            name="limit",
            title="Limit what brokers copy between directories",
            run=limit,
            restored_by=("lift",),
        ),
        StepSpec(
            name="move",
            title="Move every replica to the other directories of its broker",
            run=move,
            deadline_s=MOVE_DEADLINE_S,
            restored_by=("hold",),
            stays=steps_of.ARRIVED,
        ),
        StepSpec(
            name="roll",
            title="Start the brokers without the directory, one after the other",
            run=roll,
            deadline_s=ROLL_DEADLINE_S,
            restored_by=("settle",),
            stays=REMOVED_STAYS,
        ),
        verified_by(
            verify,
            title="No replica lies there, and every broker says so",
            deadline_s=REFILL_S,
        ),
        StepSpec(
            name="hold",
            title="End the moves that are under way",
            run=hold,
            phase=Phase.RESTORE,
        ),
        StepSpec(
            name="settle",
            title="Wait for the broker under way, leave the others as they are",
            run=settle,
            phase=Phase.RESTORE,
            deadline_s=IN_SYNC_DEADLINE_S + 600.0,
        ),
        StepSpec(
            name="lift",
            title="Take the limit off the brokers",
            run=lift,
            phase=Phase.ALWAYS,
        ),
    )


def _among(gateway: ClusterGateway, rows: list[Broker]) -> dict[int, list[Directory]]:
    """What each broker has, by broker."""
    said, rooms = named_by(rows), rooms_of(rows)
    return {
        row.broker_id: directories_of(gateway, row, said, rooms.get(row.host_id)) for row in rows
    }


def _uses(row: Broker, name: str, among: list[Directory]) -> bool:
    return name == MAIN or name in row.log_dirs or directory(name, among).state != ABSENT
