"""cluster.change_zookeeper: brokers reach their ensemble by the connect string of their agents.

An ensemble is moved by adding members to it and removing others: the tree stays one, and nothing is
copied here. Every agent was started with the new string, has found the tree of before behind it
(its identity) and said so → for each broker, as `cluster.restart` does it: everything else is whole
→ its row has the new string → its process starts with it, registers in the same cluster, its
replicas are in sync → the next. Verified is what the agents say that processes were started with.
One that does not come back gets its string of before again. The way back is the same kind, once the
agents use that one again.

Strings stand in no diff, warning or sentence, which tenants read; operators see them with hosts.
"""

from collections.abc import Iterable
from typing import Any, Final

from rest_framework import serializers

from controlplane.clusters import services
from controlplane.clusters.connect_rules import (
    NOTHING_TO_DO,
    Agent,
    CannotMoveError,
    Move,
    Use,
    move_of,
    objection,
)
from controlplane.clusters.described import Host
from controlplane.clusters.hosts import READ_WAIT_S, HostsUnavailableError, hosts
from controlplane.clusters.models import Broker, Cluster
from controlplane.clusters.operations_base import cluster_of
from controlplane.clusters.replacing_places import zookeeper
from controlplane.clusters.roll_look import least_in_sync
from controlplane.clusters.roll_steps import RETURN_S, Roller
from controlplane.clusters.rolling import (
    CANARY_MAX_S,
    CANARY_S,
    GENERATIONS,
    IN_SYNC_DEADLINE_S,
    ROLL_DEADLINE_S,
    RolledBrokerSerializer,
    RollKind,
    extents,
    in_order,
    roll_warnings,
    rolled,
    unavoidable_of_all,
)
from controlplane.clusters.zookeeper_away import away
from controlplane.common.problems import Conflict
from controlplane.common.serializers import Shape
from controlplane.gateway.patience import bounded
from controlplane.operations.details import detail_of, together
from controlplane.operations.models import Operation, Plan
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
from controlplane.operations.rolled import FAILED
from controlplane.operations.states import ACTIVE_STATES
from controlplane.operations.summaries import summary_of
from controlplane.operations.warnings import warning_of

KIND: Final = "cluster.change_zookeeper"
TO: Final = "ensemble"
BEFORE: Final = "connect_before"
STAYS = detail_of("remains/connect")


class ChangeZooKeeperInputs(Shape):
    canary_s = serializers.IntegerField(
        required=False, default=CANARY_S, min_value=0, max_value=CANARY_MAX_S
    )


class ChangeZooKeeperDiffSerializer(Shape):
    brokers = RolledBrokerSerializer(many=True, help_text="In the order of the roll.")
    ensemble = serializers.CharField(
        help_text="The identity of the ensemble, which stays: what the service and the agents of"
        " all hosts of the cluster have read there."
    )
    strings_before = serializers.IntegerField(
        help_text="How many different connect strings these brokers use now; afterwards one."
    )
    canary_s = serializers.IntegerField()


class _Reconnected(Roller):
    """A roll in which every broker that starts again reaches ZooKeeper by another string."""

    connect: str

    def start_again(self, row: Broker) -> None:
        generation = self.generations[row.broker_id]
        reconnect(row, self.connect, generation)
        services.restart_to(self.cluster, row, generation, count=self.broker_count)


class ChangeZooKeeper(RollKind):
    name = KIND
    final = "brokers follow their agents: give these the connect string of before, and move again"
    inputs = ChangeZooKeeperInputs
    diff_shape = ChangeZooKeeperDiffSerializer

    def plan(self, context: PlanContext, inputs: dict[str, Any]) -> PlanDraft:
        cluster = cluster_of(context)
        rows = rolled(cluster, None)
        move = _planned(rows)
        moving = [row for row in rows if row.broker_id in move.moving]
        gateway = self.gateway(context)
        topics = gateway.list_topics()
        least = least_in_sync(gateway, [topic.name for topic in topics])
        described = gateway.describe_cluster()
        live = {node.id for node in described.brokers}
        lost = unavoidable_of_all([row.broker_id for row in moving], topics, least)
        planned = in_order(moving, topics, live, described.controller_id)
        return PlanDraft(
            resource=f"cluster/{cluster.name}",
            diff={
                "brokers": planned,
                "ensemble": move.ensemble,
                "strings_before": len({row.zookeeper for row in moving}),
                "canary_s": inputs.get("canary_s", CANARY_S),
            },
            summary=summary_of("cluster.change_zookeeper", brokers=len(moving)),
            preconditions=_preconditions(moving, move),
            warnings=[_BOTH, *roll_warnings(cluster, planned, lost)],
            blast_radius=extents(lost),
            typed_name=cluster.name,
        )

    def preconditions_now(self, context: PlanContext, plan: Plan) -> dict[str, Any]:
        rows = rolled(cluster_of(context), None)
        return _preconditions(
            [row for row in rows if str(row.broker_id) in plan.preconditions[BEFORE]],
            _planned(rows),
        )

    def roller(self, context: StepContext) -> Roller:
        found = super().roller(context)
        made = _Reconnected(**{name: getattr(found, name) for name in found.__slots__})
        made.connect = _move_in(context).connect
        return made

    def prove(self, context: StepContext) -> Done:
        """The agents of all its hosts live by this string, and see the tree of the plan.

        Raises:
            StepFailedError: `ensemble-not-proven`; nothing has been done yet.
        """
        RollKind.check(self, context)
        _check_proven(context, self.roller(context))
        return Done(detail=detail_of("connect/proven"))

    def roll(self, context: StepContext) -> Done | Wait:
        """Before each broker that is not begun yet its host's agent is asked once more."""
        roller = self.roller(context)
        if roller.book.under_way is None and roller.book.waiting:
            _check_proven(context, roller, only=set(roller.book.waiting))
        return roller.tick() or Done(
            detail=detail_of("connect/done", brokers=roller.book.done),
            progress=roller.progress(),
        )

    def verify(self, context: StepContext) -> Done | Wait:
        """By what the agents say that the processes were started with, and by their replicas."""
        roller = self.roller(context)
        connect = f"{_move_in(context).connect}{roller.cluster.zookeeper_path}"
        rolling = {row["id"] for row in context.diff["brokers"]}
        rows = [row for row in roller.brokers if row.broker_id in rolling]
        reports = services.reports_of(rows)
        for row in rows:
            report = reports.get(row.broker_id)
            if report is None or not report.zookeeper:
                text = detail_of("connect/unknown", broker=str(row.broker_id))
                return read_back(text, poll_s=1.0)
            if report.zookeeper != connect:
                text = detail_of("connect/other", broker=str(row.broker_id))
                return read_back(text, poll_s=1.0)
        return RollKind.verify(self, context)

    def put_back(self, context: StepContext) -> Done | Wait:
        """Those that did not come back get their string of before; the others stay."""
        roller = self.roller(context)
        failed = [one for one, state in roller.book.states.items() if state == FAILED]
        if not failed:
            return Done(detail=detail_of("roll/none-behind"))
        before = context.preconditions[BEFORE]
        rows = [row for row in roller.brokers if row.broker_id in failed]
        for row in rows:
            generation = roller.generations[row.broker_id] + 1
            reconnect(row, before[str(row.broker_id)], generation)
            services.restart_to(roller.cluster, row, generation, count=roller.broker_count)
        waits = services.await_processes_of(rows)
        if isinstance(waits, Wait):
            return waits
        return Done(
            detail=detail_of("connect/put-back", brokers=len(rows)),
            remains=(detail_of("remains/connect-put-back", brokers=len(rows)),),
        )

    steps = (
        StepSpec(
            name="check",
            title="Both connect strings lead to the same ensemble, no more hangs on the brokers",
            run=prove,
            writes=False,
        ),
        StepSpec(
            name="roll",
            title="Start the brokers with the new connect string, one after the other",
            run=roll,
            deadline_s=ROLL_DEADLINE_S,
            restored_by=("settle", "back"),
            stays=STAYS,
        ),
        verified_by(
            verify,
            title="Every broker runs with the new connect string, its replicas are in sync",
            deadline_s=IN_SYNC_DEADLINE_S,
        ),
        StepSpec(
            name="settle",
            title="Wait for the broker under way, leave the others as they are",
            run=RollKind.settle,
            phase=Phase.RESTORE,
            deadline_s=IN_SYNC_DEADLINE_S + 600.0,
        ),
        StepSpec(
            name="back",
            title="Put back who did not come back",
            run=put_back,
            phase=Phase.RESTORE,
            deadline_s=RETURN_S,
        ),
    )


_BOTH = warning_of("both-strings")


def uses_of(rows: Iterable[Broker]) -> list[Use]:
    return [Use(broker=row.broker_id, host_id=row.host_id, connect=row.zookeeper) for row in rows]


def agents_of(found: Iterable[Host]) -> dict[str, Agent]:
    return {
        host.host_id: Agent(connect=host.zookeeper, ensemble=host.ensemble, is_alive=host.alive)
        for host in found
    }


def reconnect(row: Broker, connect: str, generation: int) -> None:
    """The broker's connect string from this generation on. Again it changes nothing; a later
    generation is as good.
    """
    if row.generation >= generation:
        return
    rows = Broker.objects.filter(pk=row.pk, generation__lt=generation)
    rows.update(zookeeper=connect, generation=generation)
    row.zookeeper, row.generation = connect, generation


def reconnect_at_once(cluster: Cluster) -> int:
    """Give all brokers of a cluster that is down, as the members of before are gone, the string of
    their agents; how many start again. The proof is the same, and no broker waits for another.
    Again it only tells the hosts once more.

    Raises:
        Conflict: it is not proven, or an operation is under way.
        Unavailable, StepRetryError: ZooKeeper does not answer, or a host has no key.
    """
    if Operation.objects.filter(cluster_id=cluster.id, state__in=ACTIVE_STATES).exists():
        raise Conflict(f"An operation on {cluster.name} is under way.", code="locked")
    rows, count = services.counted_brokers(Broker.objects.filter(cluster=cluster))
    moving: list[Broker] = []
    try:
        move = _planned(rows)
    except Conflict as refused:
        if refused.code != NOTHING_TO_DO:
            raise
    else:
        moving = [row for row in rows if row.broker_id in move.moving]
        for row in moving:
            reconnect(row, move.connect, row.generation + 1)
    for row in rows:
        services.restart_to(cluster, row, row.generation, count=count)
    return len(moving)


def _planned(rows: list[Broker]) -> Move:
    """Raises Conflict, Unavailable."""
    try:
        tree = hosts().ensemble(within_s=bounded(READ_WAIT_S))
        found = hosts().hosts(within_s=bounded(READ_WAIT_S))
    except HostsUnavailableError as error:
        raise away(error) from error
    try:
        return move_of(uses_of(rows), agents_of(found), tree)
    except CannotMoveError as error:
        raise Conflict(error.text, code=error.code) from error


def _preconditions(moving: list[Broker], move: Move) -> dict[str, Any]:
    return {
        GENERATIONS: {str(row.broker_id): row.generation for row in moving},
        TO: {"connect": move.connect, "identity": move.ensemble},
        BEFORE: {str(row.broker_id): row.zookeeper for row in moving},
    }


def _move_in(context: StepContext) -> Move:
    """That of the plan."""
    to = context.preconditions[TO]
    moving = tuple(row["id"] for row in context.diff["brokers"])
    return Move(connect=to["connect"], ensemble=to["identity"], moving=moving)


def _check_proven(context: StepContext, roller: Roller, *, only: set[int] | None = None) -> None:
    """Raises StepFailedError, StepRetryError."""
    move = _move_in(context)
    rows = [row for row in roller.brokers if row.broker_id in (only or set(move.moving))]
    with zookeeper():
        tree = hosts().ensemble()
        agents = agents_of(hosts().hosts())
    said = [objection(row.broker_id, agents.get(row.host_id), move) for row in rows]
    if tree != move.ensemble:
        said.insert(0, detail_of("failed/other-ensemble"))
    why = next(filter(None, said), "")
    if why:
        raise StepFailedError("ensemble-not-proven", together(roller.said(), why))
