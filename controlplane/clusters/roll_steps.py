"""One tick of a roll: choose the next broker, or take the one under way one state further.

Each tick reads the truth, does at most one thing and stores what it has come to. Whatever does not
come to pass within its time ends the roll by its name: nothing waits for ever, a pause neither.
"""

import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final

from controlplane.clusters import services
from controlplane.clusters.models import Broker, Cluster
from controlplane.clusters.probing import Probe, probes
from controlplane.clusters.roll_book import RollBook
from controlplane.clusters.roll_look import accepted_by, look, objections
from controlplane.clusters.rolls import (
    Facts,
    Health,
    Obstacle,
    behind,
    candidates,
    obstacles,
    summed_up,
    to_elect,
)
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.port import ClusterGateway
from controlplane.operations.details import broker_params, detail_of, together
from controlplane.operations.operations import (
    Done,
    Progress,
    StepContext,
    StepFailedError,
    StepRetryError,
    Wait,
)
from controlplane.operations.rolled import (
    CATCHING_UP,
    DONE,
    ELECTING,
    FAILED,
    LEFT,
    OBSERVING,
    RESTARTED,
    RESTARTING,
    RETURNING,
    WAITING,
)

log = logging.getLogger(__name__)
SAFE_S: Final = 900.0
"""How long something may be in the way of the next broker."""
RETURN_S: Final = 600.0
"""How long a broker may take to run again and to register; it may have logs to recover."""
IN_SYNC_S: Final = 1_800.0
"""How long its replicas may take to read what they have missed."""
ELECT_S: Final = 60.0
"""After that the roll goes on: who leads is a matter of balance, not of safety."""
PROBE_S: Final = 10.0
"""How long a probe may take until it is acknowledged; then the roll goes on unmeasured."""
WORSE_S: Final = 10.0
"""For so long a canary has to look worse: metadata of one moment may be old."""
PAUSED_S: Final = 86_400.0
SILENT_S: Final = 60.0
"""After a canary's restart nobody can be asked for so long: that is worse, too."""
ELECTED_AT_ONCE: Final = 500
POLL_S: Final = 0.25
SAFE_POLL_S: Final = 1.0
PAUSED_POLL_S: Final = 5.0
"""Resuming makes the next tick due at once."""
CANARY_POLL_S: Final = 2.0


@dataclass(slots=True, kw_only=True)
class Roller:
    """A roll within one tick.

    Attributes:
        brokers: every broker that the cluster should have, as rows.
        broker_count: how many it was made with (`services.counted_brokers`).
        generations: what each broker of the roll is to be started as, by id.
        canary_s: how long the first one is looked at; 0: not.
        in_sync_s: how long replicas of one may take to read what they have missed.
    """

    context: StepContext
    cluster: Cluster
    brokers: Sequence[Broker]
    broker_count: int
    gateway: ClusterGateway
    generations: dict[int, int]
    book: RollBook
    canary_s: float
    now_s: float
    probe: Probe | None = None
    in_sync_s: float = IN_SYNC_S

    def tick(self) -> Wait | None:
        """`_advance`, with what the probe has seen of the broker under way."""
        current = self.book.under_way
        if current is not None:
            self.look_at_clients(current)
        waits = self._advance()
        if waits is None:
            probes().drop(self.context.operation.id)
        return waits

    def look_at_clients(self, broker: int) -> None:
        """The roll goes on whether it can be measured or not."""
        restarted_s = self.book.row(broker).get("restarted_s")
        try:
            self.probe = probes().of(self.context.operation.id, self.cluster, self.gateway)
            if self.probe is not None and restarted_s is not None:
                self.book.see(broker, self.probe.id, self.probe.figures(restarted_s))
        except GatewayError as error:
            log.info("%s: not measured: %s", self.context.operation.id, error)

    def _advance(self) -> Wait | None:
        """None once every broker is done.

        Raises:
            StepFailedError: the roll ends here.
        """
        current = self.book.under_way
        try:
            if current is not None:
                return self._carry_on(current)
            return self._choose() if self.book.waiting else None
        except GatewayError as error:
            if not (error.retriable or error.unknown_outcome):
                raise
            return self._not_yet(current, error.said)
        except StepRetryError as error:
            return self._not_yet(current, error.detail)

    # -- between two brokers
    def _choose(self) -> Wait:
        if (paused := self._paused()) is not None:
            return paused
        facts = self.facts()
        if self.book.baseline is None:
            self.book.set_baseline(asdict(Health.of(facts)))
        accepted = accepted_by(self.context.operation.plan.impact)
        first: list[Obstacle] = []
        for broker in candidates(self.book.waiting, facts.controller):
            found = obstacles(broker, facts, accepted)
            if not found:
                self.book.move(broker, RESTARTING, self.now_s)
                return self._wait(0.0, detail_of("roll/next", broker=str(broker)))
            first = first or found
        return self._in_the_way([one.text for one in first])

    def _paused(self) -> Wait | None:
        at = self.context.operation.paused_at
        if at is None:
            return None
        self.book.clear()
        if self.now_s - at.timestamp() > PAUSED_S:
            raise StepFailedError(
                "paused-too-long",
                together(
                    detail_of("failed/paused-too-long", hours=round(PAUSED_S / 3_600)), self.said()
                ),
            )
        said = together(
            detail_of("roll/paused", by=self.context.operation.paused_by),
            detail_of("roll/next", broker=str(self.book.waiting[0])),
        )
        return self._wait(PAUSED_POLL_S, said)

    def _in_the_way(self, texts: list[str]) -> Wait:
        """Raises StepFailedError: `roll-not-safe`; nothing is taken down that is not done yet."""
        texts = list(dict.fromkeys(texts))
        if self.book.blocked(texts, self.now_s) > SAFE_S:
            raise StepFailedError(
                "roll-not-safe",
                together(
                    self.said(),
                    detail_of("lead/no-broker-taken", minutes=round(SAFE_S / 60)),
                    *texts,
                ),
                obstacles=texts,
            )
        return self._wait(SAFE_POLL_S, together(detail_of("lead/waiting"), texts[0]))

    def _not_yet(self, current: int | None, text: str) -> Wait:
        """Nobody could be asked: the times go on all the same."""
        state = self.book.states[current] if current is not None else WAITING
        if current is None or state == RESTARTING:
            return self._in_the_way([text])
        if state == ELECTING:
            if self.book.lasts_s(current, self.now_s) > ELECT_S:
                return self._elected(current, text)
            return self._wait(SAFE_POLL_S, text)
        if state == OBSERVING:
            if self.book.worse(self.now_s) > SILENT_S:
                self._stop_canary(current, text)
            return self._wait(CANARY_POLL_S, text)
        return self._within(current, self.in_sync_s if state == CATCHING_UP else RETURN_S, text)

    # -- one broker
    def _carry_on(self, broker: int) -> Wait:
        state = self.book.states[broker]
        if state == RESTARTING:
            return self._restart(broker)
        if state == RETURNING:
            return self._await_return(broker)
        if state == CATCHING_UP:
            return self._await_sync(broker)
        if state == ELECTING:
            return self._elect(broker)
        return self._observe(broker)

    def _restart(self, broker: int) -> Wait:
        """Asked again right before, of every broker; what was begun is only said again."""
        row = self.broker_row(broker)
        if not self.is_begun(row):
            if self._waits_for_probe(broker):
                return self._wait(POLL_S, detail_of("roll/probe-waits"))
            if self.context.operation.paused_at is not None:
                self.book.move(broker, WAITING, self.now_s)
                return self._wait(0.0, detail_of("roll/paused-before"))
            facts = self.facts()
            accepted = accepted_by(self.context.operation.plan.impact)
            found = obstacles(broker, facts, accepted)
            if not found and broker == facts.controller and len(self.book.waiting):
                text = detail_of("obstacle/became-controller", broker=str(broker))
                found = [Obstacle(code="became-controller", text=text)]
            found = found or objections(self.gateway, broker, facts, accepted)
            if found:
                self.book.move(broker, WAITING, self.now_s)
                return self._in_the_way([one.text for one in found])
        self.start_again(row)
        self.book.clear()
        self.book.move(broker, RETURNING, self.now_s)
        return self._wait(POLL_S, detail_of("roll/restarts", broker=str(broker)))

    # -- what it asks of hosts and of this service's tables; a simulation brings its own
    def facts(self) -> Facts:
        return look(self.gateway, self.brokers)

    def start_again(self, row: Broker) -> None:
        generation = self.generations[row.broker_id]
        services.restart_to(self.cluster, row, generation, count=self.broker_count)

    def process_of(self, row: Broker) -> Done | Wait:
        """Raises StepFailedError: it does not start."""
        return services.await_processes_of([row], only=row.broker_id)

    def registration_of(self, broker: int) -> Done | Wait:
        return services.await_registration(self.cluster, only=broker)

    # -- one broker, once it is to come back
    def _waits_for_probe(self, broker: int) -> bool:
        is_young = self.book.lasts_s(broker, self.now_s) < PROBE_S
        return is_young and self.probe is not None and not self.probe.is_ready

    def _await_return(self, broker: int) -> Wait:
        try:
            process = self.process_of(self.broker_row(broker))
        except StepFailedError as error:
            self.book.move(broker, FAILED, self.now_s, error.detail)
            raise
        if isinstance(process, Wait):
            return self._within(broker, RETURN_S, process.detail)
        registered = self.registration_of(broker)
        if isinstance(registered, Wait):
            return self._within(broker, RETURN_S, registered.detail)
        self.book.move(broker, CATCHING_UP, self.now_s)
        return self._wait(0.0, detail_of("roll/registered", broker=str(broker)))

    def _await_sync(self, broker: int) -> Wait:
        in_sync, every = behind(broker, self.gateway.list_topics())
        if in_sync < every:
            text = detail_of("replicas/so-far", in_sync=in_sync, replicas=every)
            return self._within(broker, self.in_sync_s, text)
        self.book.move(broker, ELECTING, self.now_s)
        return self._wait(0.0, detail_of("roll/in-sync", broker=str(broker)))

    def _elect(self, broker: int) -> Wait:
        wanted = to_elect(broker, self.gateway.list_topics())
        if not wanted:
            return self._elected(broker, "")
        self.gateway.elect_preferred_leaders(wanted[:ELECTED_AT_ONCE])
        if self.book.lasts_s(broker, self.now_s) > ELECT_S:
            left = detail_of("roll/led-by-others", partitions=len(wanted))
            return self._elected(broker, left)
        said = detail_of("roll/leaders", broker=str(broker), left=len(wanted))
        return self._wait(POLL_S, said)

    def _elected(self, broker: int, note: str) -> Wait:
        is_canary = self.canary_s > 0 and self.book.done == 0 and bool(self.book.waiting)
        self.book.move(broker, OBSERVING if is_canary else DONE, self.now_s, note)
        return self._wait(0.0, detail_of("roll/back", broker=str(broker)))

    def _observe(self, broker: int) -> Wait:
        """The roll stops by itself when things got worse, and stay so."""
        now = Health.of(self.facts())
        worse: str = now.worse_than(Health(**(self.book.baseline or asdict(now))))
        worse = worse or self._clients_failed(broker)
        if not worse:
            self.book.not_worse()
        elif self.book.worse(self.now_s) > WORSE_S:
            self._stop_canary(broker, worse)
        left_s = self.canary_s - self.book.lasts_s(broker, self.now_s)
        if left_s <= 0 and not worse:
            self.book.move(broker, DONE, self.now_s, self.book.noted(broker))
            return self._wait(0.0, detail_of("canary/not-worse", seconds=round(self.canary_s)))
        detail = worse or detail_of("canary/to-go", seconds=round(left_s))
        return self._wait(CANARY_POLL_S, together(detail_of("lead/looking"), detail))

    def _clients_failed(self, broker: int) -> str:
        """Since its replicas were in sync: what a restart itself costs is no fault of the new."""
        if self.probe is None:
            return ""
        since_s = self.book.row(broker).get("in_sync_s", self.now_s)
        failed = self.probe.figures(since_s)["failed"]
        return detail_of("canary/probe-failed", records=failed) if failed else ""

    def _stop_canary(self, broker: int, worse: str) -> None:
        self.book.move(broker, FAILED, self.now_s, worse)
        raise StepFailedError(
            "canary-worse",
            together(self.said(), detail_of("lead/since-restart", broker=str(broker)), worse),
        )

    # -- the way out
    def settle(self) -> Wait | None:
        """After another end than the plan's: who is under way comes back, nobody else is taken."""
        current = self.book.under_way
        state = self.book.states[current] if current is not None else ""
        if current is not None and state == RESTARTING:
            if not self.is_begun(self.broker_row(current)):
                self.book.move(current, LEFT, self.now_s)
                return self._wait(0.0, detail_of("roll/not-restarted-yet", broker=str(current)))
            self.start_again(self.broker_row(current))
            self.book.move(current, RETURNING, self.now_s)
            return self._wait(POLL_S, detail_of("roll/restarts", broker=str(current)))
        if current is not None and state == OBSERVING:
            self.book.move(current, DONE, self.now_s)
            return self._wait(0.0)
        if current is not None:
            try:
                return self.tick()
            except StepFailedError as error:
                return self._wait(0.0, error.detail)
        probes().drop(self.context.operation.id)
        for broker in self.book.waiting:
            self.book.move(broker, LEFT, self.now_s)
        self.book.clear()
        return None

    # -- small things
    def said(self) -> str:
        return summed_up(self.book.states, RESTARTED, FAILED)

    def broker_row(self, broker: int) -> Broker:
        """Raises StepFailedError: somebody removed it meanwhile."""
        for row in self.brokers:
            if row.broker_id == broker:
                return row
        raise StepFailedError("broker-gone", detail_of("failed/broker-gone", broker=str(broker)))

    def is_begun(self, row: Broker) -> bool:
        return row.generation >= self.generations[row.broker_id]

    def _within(self, broker: int, limit_s: float, text: str) -> Wait:
        """Wait, as long as the broker's state may last.

        Raises:
            StepFailedError: named by the state that it did not leave.
        """
        self.book.note(broker, text)
        if self.book.lasts_s(broker, self.now_s) <= limit_s:
            return self._wait(
                POLL_S, together(detail_of("lead/brokers", **broker_params([broker])), text)
            )
        state = self.book.states[broker]
        self.book.move(broker, FAILED, self.now_s, text)
        raise StepFailedError(
            "broker-not-back" if state == RETURNING else "replicas-not-in-sync",
            together(
                self.said(),
                detail_of(
                    "lead/broker-took-longer", broker=str(broker), minutes=round(limit_s / 60)
                ),
                text,
            ),
        )

    def _wait(self, seconds: float, detail: str = "") -> Wait:
        return Wait(seconds=seconds, detail=detail, progress=self.progress())

    def progress(self) -> Progress:
        return Progress(done=self.book.done, total=len(self.book.states), unit="brokers")
