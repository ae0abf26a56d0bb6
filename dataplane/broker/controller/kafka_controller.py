"""Takes part in the controller election, and while elected runs the controller's queue.

Everything that changes the cluster runs on one queue, one step after another. A step that finds
that another broker took over ends the term; a step whose outcome is unknown makes the term start
again from what ZooKeeper holds.
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from typing import TYPE_CHECKING, Any, TypeVar

from dataplane.broker.controller.controller_election import ControllerElection
from dataplane.broker.controller.term import ControllerTerm
from dataplane.broker.controller.term_watches import TermWatches
from dataplane.broker.controller.zk_client import ControllerMovedError, OutcomeUnknownError
from dataplane.broker.metadata.own_nodes import delete_own_node
from dataplane.cluster import znodes
from dataplane.cluster.context import ControllerContext
from dataplane.cluster.offline_replicas import RETRY_MS_MIN
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.ports.coordinator import (
    CoordinatorError,
    SessionState,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from dataplane.broker.controller.environment import ControllerEnvironment
    from dataplane.cluster.responses import DeletionResults, LeaderAndIsrResult
    from dataplane.model.ids import TopicPartition
    from dataplane.ports.coordinator import NodeStat, Watch

log = logging.getLogger(__name__)

T = TypeVar("T")
RETRY_MS = 100
FIRST_BALANCE_MS = 5_000


@dataclasses.dataclass(slots=True)
class _Step:
    work: Callable[[ControllerTerm], Awaitable[Any]]
    future: asyncio.Future[Any] | None
    needs_term: int | None = None


class KafkaController:
    """One broker's part in controlling. `controller_id` is -1 while nobody is known to."""

    def __init__(self, environment: ControllerEnvironment) -> None:
        self._environment = environment
        self._election = ControllerElection(
            environment.coordinator, environment.clock, broker_id=environment.broker_id
        )
        self._queue: asyncio.Queue[_Step | None] = asyncio.Queue()
        self._controller: ControllerTerm | None = None
        self._active_epoch: int | None = None
        self._watches: list[Watch] = []
        self._term_watches: TermWatches | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self.controller_id = -1
        self.unclean_elections = 0
        """Leaders elected out of sync in all terms of this broker."""

    # -- life -----------------------------------------------------------------------------------

    async def start(self) -> None:
        """Begin to take part; call when this broker is registered and its listeners are open."""
        coordinator = self._environment.coordinator
        loop = asyncio.get_running_loop()
        self._tasks = [
            loop.create_task(self._run(), name="controller"),
            loop.create_task(self._balance_regularly(), name="controller-balance"),
            loop.create_task(self._ask_again_regularly(), name="controller-ask-again"),
        ]
        coordinator.on_session(self._on_session)
        self._watches = [coordinator.watch_data(znodes.CONTROLLER, self._on_controller)]

    async def stop(self) -> None:
        """Leave; if active, give the place up so that another broker takes over at once."""
        for watch in self._watches:
            watch.cancel()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        was_active = self.is_active
        await self._resign()
        if was_active:
            await delete_own_node(self._environment.coordinator, znodes.CONTROLLER)

    @property
    def is_active(self) -> bool:
        return self._active_epoch is not None

    @property
    def epoch(self) -> int | None:
        """The epoch of our term, while active."""
        return self._active_epoch

    @property
    def context(self) -> ControllerContext | None:
        """What our term knows of the cluster, for reading; None while no term is ours."""
        return None if self._controller is None else self._controller.context

    async def submit(self, work: Callable[[ControllerTerm], Awaitable[T]]) -> T:
        """Run a step on the queue. Raises KafkaError(NOT_CONTROLLER) when this broker is not it."""
        if not self.is_active:
            raise KafkaError(ErrorCode.NOT_CONTROLLER)
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._queue.put_nowait(_Step(work, future, self._active_epoch))
        return await future

    def later(self, work: Callable[[ControllerTerm], Awaitable[object]]) -> None:
        """Run a step on the queue, without waiting; dropped when the term has ended by then."""
        if self.is_active:
            self._queue.put_nowait(_Step(work, None, self._active_epoch))

    async def propagated(self, timeout_ms: int) -> bool:
        """Whether this broker has carried out all that was decided so far."""
        controller = self._controller
        if controller is None:
            return False
        return await controller.channels.propagated(
            timeout_ms, required=self._environment.broker_id
        )

    # -- watching -------------------------------------------------------------------------------

    def _on_session(self, state: SessionState) -> None:
        if state is SessionState.EXPIRED:
            self._active_epoch = None  # refuse at once; the queue does the rest
            self._queue.put_nowait(None)

    def _on_controller(self, data: bytes | None, stat: NodeStat | None) -> None:
        self.controller_id = znodes.decode_controller(data) if data is not None else -1
        owner = stat.ephemeral_owner if stat is not None else 0
        if self.is_active and owner != self._environment.coordinator.session_id:
            self._active_epoch = None
        if not self.is_active:
            self._queue.put_nowait(None)

    def _on_leader_and_isr(self, broker: int, answer: LeaderAndIsrResult) -> None:
        context = self.context
        if context is not None and (answer.failed or context.offline_on(broker)):
            self.later(lambda term: term.offline_replicas.answered(broker, answer))

    def _on_deleted(self, broker: int, results: DeletionResults) -> None:
        self.later(lambda term: term.topic_deletion.replicas_deleted(broker, results))

    # -- the queue ------------------------------------------------------------------------------

    async def _run(self) -> None:
        while True:
            step = await self._queue.get()
            try:
                if step is None:
                    await self._stand()
                else:
                    await self._carry_out(step)
            except asyncio.CancelledError:
                self._refuse(step)
                raise
            except (CoordinatorError, ControllerMovedError, OutcomeUnknownError) as error:
                log.warning("the controller's term cannot go on yet: %s", error)
                await self._resign()
                await asyncio.sleep(RETRY_MS / 1000)
                self._queue.put_nowait(None)
            except Exception:
                log.exception(
                    "a bug in the controller: resigning and taking part in the election again"
                )
                await self._resign()
                await asyncio.sleep(RETRY_MS / 1000)
                self._queue.put_nowait(None)

    @staticmethod
    def _refuse(step: _Step | None) -> None:
        if step is not None and step.future is not None and not step.future.done():
            step.future.set_exception(KafkaError(ErrorCode.NOT_CONTROLLER))

    async def _carry_out(self, step: _Step) -> None:
        controller = self._controller
        if controller is None or self._active_epoch != step.needs_term:
            self._refuse(step)
            return
        try:
            result = await step.work(controller)
        except KafkaError as refusal:
            if step.future is not None and not step.future.done():
                step.future.set_exception(refusal)
        except ControllerMovedError as moved:
            log.info("another broker is the controller now: %s", moved)
            self._refuse(step)
            await self._stand()
        except OutcomeUnknownError as unknown:
            log.warning("reading the truth again: %s", unknown)
            self._refuse(step)
            await self._resign()
            await self._stand()
        except BaseException:
            self._refuse(step)
            raise
        else:
            if step.future is not None and not step.future.done():
                step.future.set_result(result)

    # -- election -------------------------------------------------------------------------------

    async def _stand(self) -> None:
        """Become the controller if there is none, stay it if we are, resign if we are not."""
        if self._controller is not None:
            if self.is_active and await self._election.is_ours():
                return
            await self._resign()
        elected = await self._election.elect()
        if elected is not None:
            await self._begin_term(elected.epoch, elected.version)

    async def _begin_term(self, epoch: int, version: int) -> None:
        log.info("broker %d is the controller, epoch %d", self._environment.broker_id, epoch)
        environment = self._environment
        controller = ControllerTerm(
            ControllerContext(epoch, version),
            environment.coordinator,
            environment.peers,
            broker_id=environment.broker_id,
            listener=environment.config.inter_broker_listener,
            clock=environment.clock,
            entropy=environment.entropy,
            broker_config=lambda: environment.config,
            unclean_allowed=lambda topic: environment.configs.topic_config(topic).get_bool(
                "unclean.leader.election.enable"
            ),
            on_unclean=self._on_unclean,
            on_deleted=self._on_deleted,
            on_leader_and_isr=self._on_leader_and_isr,
        )
        self._controller = controller
        self.controller_id = self._environment.broker_id
        self._active_epoch = epoch
        await controller.take_over()
        self._term_watches = TermWatches(environment.coordinator, controller.context, self.later)

    def _on_unclean(self, partition: TopicPartition) -> None:
        self.unclean_elections += 1
        log.warning("%s is led by a replica that was not in sync: records may be lost", partition)

    async def _resign(self) -> None:
        self._active_epoch = None
        controller, self._controller = self._controller, None
        if self._term_watches is not None:
            self._term_watches.cancel()
            self._term_watches = None
        if controller is not None:
            log.info("controller epoch %d ends", controller.context.epoch)
            await controller.stop()

    async def _ask_again_regularly(self) -> None:
        while True:
            await asyncio.sleep(RETRY_MS_MIN / 1000)
            context = self.context
            if context is not None and context.brokers_with_offline:
                self.later(lambda term: term.offline_replicas.ask_again())

    async def _balance_regularly(self) -> None:
        config = self._environment.config
        if not config.get_bool("auto.leader.rebalance.enable"):
            return
        await asyncio.sleep(FIRST_BALANCE_MS / 1000)
        while True:
            self.later(lambda term: term.elections.balance())
            await asyncio.sleep(config.get_int("leader.imbalance.check.interval.seconds"))
