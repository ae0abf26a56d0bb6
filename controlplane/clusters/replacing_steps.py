"""What one tick of a replacement does. Each reads the truth, and does at most one thing.

A tick that only notes what the next one does answers `Wait(0)`: ticks take few statements, and
whoever goes on after a killed worker goes on with what was noted.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

from controlplane.clusters import losing, owed, services
from controlplane.clusters import replacing_places as places
from controlplane.clusters.hosts import hosts
from controlplane.clusters.models import Broker, Cluster, LostBroker, OwedDeletion
from controlplane.clusters.rebuild_limits import RENEW_S, limiter
from controlplane.clusters.replacing_rules import (
    MOVE,
    NAMED_MAX,
    NOTHING_ACCEPTED,
    in_the_way,
    sole_holder,
    still_counted,
)
from controlplane.clusters.reports import Observed
from controlplane.clusters.roll_look import look, objections
from controlplane.clusters.rolls import behind, to_elect
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.port import BrokerView, ClusterGateway
from controlplane.operations.details import (
    Detail,
    detail_from,
    detail_of,
    name_params,
    rows_of,
    together,
)
from controlplane.operations.operations import (
    Done,
    Progress,
    StepContext,
    StepFailedError,
    Wait,
)
from controlplane.operations.read_back import read_back_everywhere

MEMO: Final = "replace"
SAFE_S: Final = 900.0
"""How long something may be in the way before anything was done."""
ELECT_S: Final = 60.0
ELECTED_AT_ONCE: Final = 500
POLL_S: Final = 0.25
SAFE_POLL_S: Final = 1.0
SYNC_POLL_S: Final = 1.0
NEXT: Final = Wait(seconds=0.0)


@dataclass(slots=True, kw_only=True)
class Replacement:
    """A replacement within one tick. `row` is null while the broker is a lost one.

    Attributes:
        generation: of the broker's row when the plan was made; 0 of a lost broker.
        planned: the place that was chosen.
    """

    context: StepContext
    cluster: Cluster
    brokers: Sequence[Broker]
    broker_count: int
    gateway: ClusterGateway
    broker: int
    way: str
    generation: int
    planned: dict[str, Any]
    now_s: float

    @property
    def memo(self) -> dict[str, Any]:
        found: dict[str, Any] = self.context.memo.setdefault(MEMO, {})
        return found

    @property
    def row(self) -> Broker | None:
        return next((row for row in self.brokers if row.broker_id == self.broker), None)

    def own_row(self) -> Broker:
        """Raises StepFailedError: somebody removed it meanwhile."""
        row = self.row
        if row is None:
            raise StepFailedError(
                "broker-gone", detail_of("failed/broker-gone", broker=str(self.broker))
            )
        return row

    # -- away from where it is
    def leave(self) -> Done | Wait:
        """It is stopped where it is; of one whose host is away it is declared that it is lost."""
        if not self._has_left():
            if (waits := self._unsafe()) is not None:
                return waits
            if "from" not in self.memo and self.row is not None:
                self._note_where(self.row)
                return NEXT
        return self._stop() if self.way == MOVE else self._lose()

    def _has_left(self) -> bool:
        row = self.row
        return row is None if self.way != MOVE else self.own_row().generation > self.generation

    def _unsafe(self) -> Wait | None:
        """What is in the way, asked of every broker. Raises StepFailedError `replace-not-safe`."""
        facts = look(self.gateway, self.brokers)
        found = in_the_way(self.way, self.broker, facts)
        if not found and self.way == MOVE:
            found = objections(self.gateway, self.broker, facts, NOTHING_ACCEPTED)
        if not found:
            self.memo.pop("blocked_since_s", None)
            return None
        texts = list(dict.fromkeys(one.text for one in found))
        since_s = float(self.memo.setdefault("blocked_since_s", self.now_s))
        if self.now_s - since_s > SAFE_S:
            raise StepFailedError(
                "replace-not-safe",
                together(
                    detail_of(
                        "lead/broker-not-taken",
                        broker=str(self.broker),
                        minutes=round(SAFE_S / 60),
                    ),
                    *texts,
                ),
                obstacles=[one.text for one in found],
            )
        return Wait(seconds=SAFE_POLL_S, detail=together(detail_of("lead/waiting"), *texts))

    def _stop(self) -> Done | Wait:
        row = self.own_row()
        places.note_state(row, "stopped", self.generation + 1)
        if row.generation == self.generation + 1:
            places.write_state(self.cluster, row, count=self.broker_count)
        return Done(detail=detail_of("scale/to-stop", broker=str(self.broker)))

    def _note_where(self, row: Broker) -> None:
        """With its directories: begun elsewhere it says its new ones in their place."""
        with places.zookeeper():
            self.memo["directories"] = hosts().directories_of(
                self.cluster.zookeeper_path, self.broker
            )
        self.memo["from"] = places.place_of(row)

    def _lose(self) -> Done | Wait:
        row = self.row
        if row is not None:
            places.lose(row, self.context.operation.actor)
            return NEXT
        return Done(detail=detail_of("replace/lost", broker=str(self.broker)))

    def await_left(self) -> Done | Wait:
        """Its process has ended; of a lost one ZooKeeper was told that it may not come back."""
        if self.way != MOVE:
            return self._await_fence()
        row = self.own_row()
        report = services.reports_of([row]).get(self.broker)
        if report is not None and report.state == "stopped":
            return Done(detail=detail_of("replace/ended"))
        return Wait(seconds=POLL_S, detail=_agent_says(report))

    def _await_fence(self) -> Done | Wait:
        lost = LostBroker.objects.filter(cluster=self.cluster, broker_id=self.broker).first()
        if lost is not None:
            self.memo["from"] = {"address": lost.address, "client_port": lost.client_port}
        if lost is not None and lost.fenced_at is None:
            with places.zookeeper():
                losing.fence_broker(lost)
            return NEXT
        return Done(detail=detail_of("replace/fenced"))

    def await_out_of_isr(self) -> Done | Wait:
        """Every live broker says that it is in no ISR: an empty one may begin."""
        live = {node.id for node in self.gateway.describe_cluster().brokers}
        if self.broker in live:
            registered = detail_of("scale/still-registered", broker=str(self.broker))
            return Wait(seconds=POLL_S, detail=registered)
        names = [
            topic.name
            for topic in self.gateway.list_topics()
            if any(self.broker in part.replicas for part in topic.partitions)
        ]
        for other in sorted(live):
            try:
                seen = self.gateway.at(other).describe_topics(names).values()
            except GatewayError as error:
                if not error.retriable:
                    raise
                silent = detail_of("obstacle/broker-silent", broker=str(other))
                return Wait(seconds=SAFE_POLL_S, detail=silent)
            left = still_counted(self.broker, seen)
            if left:
                still = _of_partitions("replace/still-counted", left)
                says = detail_of("tail/as-broker-says", broker=str(other))
                return Wait(seconds=POLL_S, detail=together(still, says))
        return Done(detail=detail_of("replace/not-counted"))

    # -- to where it goes
    def move(self) -> Done | Wait:
        memo = self.memo
        if "to" not in memo:
            memo["to"] = places.still_free(self.cluster, self.broker, self.planned)
            return NEXT
        row = self.row
        before = memo.get("from")
        if self.way != MOVE and row is None:
            places.add_row(self.cluster, self.broker, memo["to"], self._next_generation)
            return NEXT
        if self.way == MOVE and not memo.get("is_owed"):
            places.owe(self.own_row(), before or {}, self._next_generation)
            memo["is_owed"] = True
            return NEXT
        if self.way == MOVE and self.own_row().generation < self._next_generation:
            places.move_row(self.own_row(), memo["to"], self._next_generation)
            return NEXT
        places.follow_address(self.cluster, before, memo["to"])
        return Done(detail=detail_of("replace/moved"))

    @property
    def _next_generation(self) -> int:
        return self.generation + 2

    def limit(self) -> Done | Wait:
        """On those that will send to it; on itself as soon as it is there."""
        if not self.memo.get("is_limited"):
            if self._limit_wanted() is None:
                return Done(detail=detail_of("limit/not-asked"))
            self.memo["is_limited"] = True
            return NEXT
        said = self._keep_limit()
        return Done(detail=said or detail_of("replace/limit-stands"))

    def _limit_wanted(self) -> int | None:
        """As it is asked for now: it may be changed until all is in sync."""
        return limiter().wanted(self.context.operation, self._planned_limit)

    @property
    def _planned_limit(self) -> int | None:
        limit: int | None = self.context.diff.get("throttle_bytes_per_s")
        return limit

    def _keep_limit(self) -> str:
        return limiter().keep(
            self.gateway, self.context.operation, self.broker, self.gateway.list_topics()
        )

    def unlimit(self) -> Done | Wait:
        """Lifted first, noted by the next tick: beat lifts once more what nobody has noted."""
        kept = self.memo.pop("lifted", None)
        if kept is not None:
            limiter().lifted(self.context.operation)
            # An earlier version kept the text alone.
            return Done(detail=kept if isinstance(kept, str) else detail_from(kept))
        said, is_to_note = limiter().lift(self.gateway, self.context.operation)
        if not is_to_note:
            return Done(detail=said)
        self.memo["lifted"] = rows_of(together(said))
        return Wait(seconds=0.0, detail=said)

    def _limit_again(self) -> Wait | None:
        """On itself too, and on whoever was away; now and then, as its lease wants to be renewed,
        and at once when another limit is asked for.

        One tick only notes that the next one does it. What had to be set is read again by another.
        """
        memo = self.memo
        if memo.pop("limit_is_due", False):
            memo["limit_kept_s"] = self.now_s
            said, is_reread = self._keep_limit(), memo.pop("limit_is_read_again", False)
            if said and not is_reread:
                memo["limit_is_read_again"] = memo["limit_is_due"] = True
                return Wait(seconds=SYNC_POLL_S, detail=said)
            return None
        wanted = self._limit_wanted()
        kept_s = memo.get("limit_kept_s", 0.0)
        is_another = wanted != memo.get("limit_wanted", self._planned_limit)
        if not is_another and (wanted is None or self.now_s - kept_s < RENEW_S):
            return None
        memo["limit_wanted"], memo["limit_is_due"] = wanted, True
        return NEXT

    def begin(self) -> Done:
        places.write_state(self.cluster, self.own_row(), count=self.broker_count)
        return Done(detail=detail_of("replace/to-start", broker=str(self.broker)))

    def await_there(self) -> Done | Wait:
        """Its process runs there, and it has registered."""
        found = services.await_processes_of([self.own_row()], only=self.broker)
        if isinstance(found, Wait):
            return found
        return services.await_registration(self.cluster, only=self.broker)

    def await_sync(self) -> Done | Wait:
        in_sync, every = behind(self.broker, self.gateway.list_topics())
        progress = Progress(done=in_sync, total=every, unit="replicas")
        if in_sync < every:
            if (waits := self._limit_again()) is not None:
                return waits
            text = detail_of("replicas/so-far", in_sync=in_sync, replicas=every)
            return Wait(seconds=SYNC_POLL_S, detail=text, progress=progress)
        return Done(detail=detail_of("replicas/in-sync", replicas=every), progress=progress)

    def elect(self) -> Done | Wait:
        """Its own leaders again; who leads is a matter of balance, so this ends nothing."""
        wanted = to_elect(self.broker, self.gateway.list_topics())
        if not wanted:
            return Done(detail=detail_of("replace/leads"))
        since_s = float(self.memo.setdefault("electing_since_s", self.now_s))
        if self.now_s - since_s > ELECT_S:
            return Done(detail=detail_of("replace/led-by-others", partitions=len(wanted)))
        self.gateway.elect_preferred_leaders(wanted[:ELECTED_AT_ONCE])
        return Wait(seconds=POLL_S, detail=detail_of("replace/leaders", partitions=len(wanted)))

    def wipe(self) -> Done | Wait:
        """What it left is fenced, and its host is told to delete it: from here it stays."""
        if self.way != MOVE:
            return Done(detail=detail_of("replace/deleted-later"))
        if not self.memo.get("wiping"):
            self.memo["wiping"] = True
            return NEXT
        left = OwedDeletion.objects.filter(
            host_id=self.memo["from"]["host_id"], key=self.own_row().key
        ).first()
        with places.zookeeper():
            hosts().fence_directories(self.cluster.zookeeper_path, self.memo.get("directories", ()))
            if left is not None:
                owed.say(left)
        return Done(detail=detail_of("replace/deleted"))

    def verify(self) -> Done | Wait:
        names = [
            topic.name
            for topic in self.gateway.list_topics()
            if any(self.broker in part.replicas for part in topic.partitions)
        ]

        def differing(view: BrokerView, _: int) -> str | None:
            in_sync, every = behind(self.broker, view.describe_topics(names).values())
            return (
                None
                if in_sync == every
                else detail_of("replace/in-sync-of", in_sync=in_sync, replicas=every)
            )

        return read_back_everywhere(
            self.context, self.gateway, differing, detail=detail_of("replace/counted-in")
        )

    # -- the way back
    @property
    def _stays_there(self) -> tuple[Detail, Detail] | None:
        """Why it is not brought back, and as what remains; None when it is."""
        broker = str(self.broker)
        if self.memo.get("wiping"):
            said = detail_of("replace/stays-in-sync")
            return said, detail_of("remains/broker-in-sync", broker=broker)
        if self.way == MOVE:
            return None
        if self.row is not None:
            return detail_of("replace/stays"), detail_of("remains/broker-goes-on", broker=broker)
        return detail_of("replace/stays-lost"), detail_of("remains/broker-lost", broker=broker)

    def bring_back(self) -> Done | Wait:
        """It starts again where it was, with what it had, once nothing of it is left elsewhere."""
        if (stays := self._stays_there) is not None:
            said, what = stays
            return Done(detail=said, remains=(what,))
        row, before = self.own_row(), self.memo.get("from")
        if before is None or row.generation == self.generation:
            return Done(detail=detail_of("replace/not-stopped"))
        if row.generation < self._last:
            return self._withdraw(row, before)
        if "to" in self.memo and not self.memo.get("is_cleared"):
            self._clear(row, before, self.memo["to"])
            return NEXT
        if not self.memo.get("is_told"):
            places.write_state(self.cluster, row, count=self.broker_count)
            self.memo["is_told"] = True
            return NEXT
        found = services.await_processes_of([row], only=self.broker)
        return Done(detail=detail_of("replace/where-it-was")) if isinstance(found, Done) else found

    @property
    def _last(self) -> int:
        """Its generation once it is back where it was."""
        return self.generation + 4

    def _withdraw(self, row: Broker, before: dict[str, Any]) -> Wait:
        """What was begun at the new place is stopped and deleted; never what alone has records."""
        if row.generation >= self._next_generation:
            if row.generation == self._next_generation:
                alone = sole_holder(self.broker, self.gateway.list_topics())
                if alone:
                    return Wait(seconds=SAFE_POLL_S, detail=_of_partitions("replace/alone", alone))
                places.note_state(row, "deleted", self._next_generation + 1)
                return NEXT
            if not self.memo.get("is_withdrawn"):
                places.write_state(self.cluster, row, count=self.broker_count)
                self.memo["is_withdrawn"] = True
                return NEXT
            waits = self._await_withdrawn(row)
            if waits is not None:
                return waits
        places.move_row(row, before, self._last)
        return NEXT

    def _await_withdrawn(self, row: Broker) -> Wait | None:
        """Until it has ended there, and no partition counts it: then the old one may start."""
        report = services.reports_of([row]).get(self.broker)
        if (report is None or report.state != "deleted") and not self._is_shut_out(row):
            return Wait(seconds=POLL_S, detail=_agent_says(report))
        found = self.await_out_of_isr()
        return found if isinstance(found, Wait) else None

    def _is_shut_out(self, row: Broker) -> bool:
        """Its new host went away meanwhile: what it has there is fenced, and wiped later."""
        if any(host.alive and host.host_id == row.host_id for host in places.hosts_now()):
            return False
        path = self.cluster.zookeeper_path
        with places.zookeeper():
            said = hosts().directories_of(path, self.broker)
            hosts().fence_directories(path, set(said) - set(self.memo.get("directories", ())))
        places.owe(row, places.place_of(row), row.generation)
        self.memo["owes"] = True
        return True

    def _clear(self, row: Broker, before: dict[str, Any], to: dict[str, Any]) -> None:
        """Nothing is owed of the old place any more, and the new one has no nodes of it."""
        if not self.memo.get("is_forgotten"):
            places.forget_owed(self.cluster, self.broker, before["host_id"])
            self.memo["is_forgotten"] = True
            return
        places.follow_address(self.cluster, to, before)
        if not self.memo.get("owes"):
            with places.zookeeper():
                hosts().forget_broker((to["host_id"], row.key))
        self.memo["is_cleared"] = True


def _agent_says(report: Observed | None) -> Detail:
    return detail_of("agent/says", state=None if report is None else report.state)


def _of_partitions(code: str, names: Collection[str]) -> Detail:
    return detail_of(code, partitions=len(names), **name_params(names, NAMED_MAX))
