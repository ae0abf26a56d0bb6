"""One broker in memory, asked as on the wire: frames in, decoded answers out."""

from __future__ import annotations

import asyncio
import types
import uuid
from typing import TYPE_CHECKING

from dataplane.broker.broker_lifecycle import BrokerLifecycle
from dataplane.broker.context import ConnectionInfo, HandlerContext
from dataplane.broker.delayed.deferred import Deferred
from dataplane.broker.groups.group_coordinator import GroupCoordinator
from dataplane.broker.metadata.config_admin import ConfigAdmin
from dataplane.broker.metadata.config_store import ConfigStore
from dataplane.broker.metadata.internal_topics import InternalTopics
from dataplane.broker.metadata.metadata_cache import MetadataCache
from dataplane.broker.metrics import Metrics
from dataplane.broker.producer_ids import ProducerIdManager
from dataplane.broker.quotas.client_quotas import ClientQuotas
from dataplane.broker.quotas.quota_manager import QuotaManager
from dataplane.broker.replicas.staged_appends import StagedAnswer
from dataplane.broker.security.audit_log import AuditLog
from dataplane.broker.security.authorizer import Authorizer
from dataplane.broker.security.sasl_mechanisms import SaslMechanisms
from dataplane.broker.transactions.marker_sender import MarkerSender
from dataplane.broker.transactions.transaction_coordinator import TransactionCoordinator
from dataplane.broker.transactions.verifier import TransactionVerifier
from dataplane.cluster.image import BrokerInfo, ClusterImage, Endpoint, TopicImage
from dataplane.compose.replication import build_replica_manager
from dataplane.config import BrokerConfig
from dataplane.log.manager.log_manager import LogManager
from dataplane.model.errors import ErrorCode
from dataplane.model.ids import TopicPartition
from dataplane.model.partition import PartitionState
from dataplane.ports.fakes.background import InlineBackground
from dataplane.ports.fakes.clock import FakeClock
from dataplane.ports.fakes.coordinator import FakeZooKeeper
from dataplane.ports.fakes.entropy import FakeEntropy
from dataplane.ports.fakes.filesystem import MemoryFileSystem
from dataplane.security.principal import ANONYMOUS
from dataplane.server.dispatch import Dispatcher
from dataplane.wire.apis import load
from dataplane.wire.codec import decode
from dataplane.wire.headers import encode_request_frame, parse_response_header
from dataplane.wire.record_batch import NewRecord, build_batch

if TYPE_CHECKING:
    from collections.abc import Callable

ME, PEER, THIRD = 1, 2, 3
LISTENER = "PLAINTEXT"


class NoPeers:
    """Nobody to ask: followers wait."""

    def endpoint(self, broker_id: int) -> None:
        raise ConnectionError(f"broker {broker_id} is not in this test")


class StandIn:
    """Peers that a test puts in the place of nobody: whatever is asked goes to `target`."""

    def __init__(self) -> None:
        self.target: object = NoPeers()

    def __getattr__(self, name: str) -> object:
        return getattr(self.target, name)


class NoController:
    """This broker is not the controller and knows of no other."""

    controller_id = -1
    is_active = False
    context = None
    unclean_elections = 0


class ProofOnPaper:
    """Says `answer` when it is asked whether a partition is led here."""

    def __init__(self) -> None:
        self.answer = ErrorCode.NONE
        self.asked = 0

    async def ask(self, _partition) -> ErrorCode:
        self.asked += 1
        return self.answer


class ControllerOnPaper:
    """Notes what is asked of the controller; never answers unless `answer` makes one."""

    controller_id = ME

    def __init__(self) -> None:
        self.asked: list[object] = []
        self.created: list[str] = []
        self.answer: Callable[[object], object] | None = None

    async def request(self, message: object, version: int, *, timeout_ms: int) -> object:
        self.asked.append(message)
        if self.answer is not None:
            return self.answer(message)
        return await asyncio.Event().wait()

    def create_in_background(self, topic: str) -> int:
        self.created.append(topic)
        return 5


class OneBroker:
    """Broker 1 of a cluster of three; `ask` sends a request and decodes the answer.

    `controller` takes the place of its part in the controller election.
    """

    def __init__(self, *, controller: object | None = None, **settings: str) -> None:
        defaults = {"listeners": "PLAINTEXT://127.0.0.1:0", "log.dirs": "/data"}
        given = {key.replace("_", "."): value for key, value in settings.items()}
        self.clock = FakeClock()
        self.fs = MemoryFileSystem()
        self.fs.make_dirs("/data")
        endpoints = {
            n: {LISTENER: Endpoint("127.0.0.1", 9000 + n, LISTENER)} for n in (ME, PEER, THIRD)
        }
        image = ClusterImage(
            cluster_id="c",
            controller_id=ME,
            brokers={n: BrokerInfo(id=n, listeners=ends) for n, ends in endpoints.items()},
        )
        config = BrokerConfig.parse(defaults | given)
        self.lifecycle = BrokerLifecycle(broker_id=ME, cluster_id="c", broker_epoch=7)
        self.entropy = FakeEntropy()
        self.proof = ProofOnPaper()
        self.coordinator = FakeZooKeeper().connect()
        self.metadata_cache = MetadataCache(image)
        self.metrics = Metrics()
        self.configs = ConfigStore(self.coordinator, self.clock, config, broker_id=ME)
        self.config_admin = ConfigAdmin(self.configs, self.metadata_cache, broker_id=ME)
        self.peers = StandIn()
        self.producer_ids = ProducerIdManager(self.coordinator, ME)
        self.controller = controller or NoController()
        self.controller_client = ControllerOnPaper()
        self.authorizer = Authorizer(self.coordinator, self.clock, self.entropy, config)
        self.logs = LogManager(
            self.fs,
            self.clock,
            self.entropy,
            InlineBackground(),
            log_dirs=config.log_dirs,
            broker_id=ME,
        )
        self.logs.load()
        self.replica_manager = build_replica_manager(
            self.logs,
            coordinator=self.coordinator,
            lifecycle=self.lifecycle,
            clock=self.clock,
            entropy=self.entropy,
            configs=self.configs,
            metadata_cache=self.metadata_cache,
            metrics=self.metrics,
            peers=self.peers,
            controller_client=self.controller_client,
        )
        self.transaction_coordinator = TransactionCoordinator(
            self.replica_manager,
            self.metadata_cache,
            self.configs,
            self.clock,
            producer_ids=self.producer_ids,
            sender=MarkerSender(self.peers, self.metadata_cache, self.metrics, self.clock),
        )
        self.handlers = self._handler_context()
        self.dispatcher = Dispatcher(self.handlers)
        self.info = ConnectionInfo(LISTENER, LISTENER, "127.0.0.1", ANONYMOUS)
        self.mutes: list[int] = []
        """How long each time no request of the connection was to be looked at, in ms."""
        self.connection = types.SimpleNamespace(info=self.info, mute=self.mutes.append)
        self.ids: dict[str, uuid.UUID] = {}

    def _handler_context(self) -> HandlerContext:
        return HandlerContext(
            cluster_id=self.lifecycle.cluster_id,
            clock=self.clock,
            entropy=self.entropy,
            metadata_cache=self.metadata_cache,
            metrics=self.metrics,
            configs=self.configs,
            config_admin=self.config_admin,
            client_quotas=ClientQuotas(self.configs),
            quotas=QuotaManager(self.configs, self.clock, self.authorizer.is_platforms_own),
            internal_topics=InternalTopics(self.controller_client, self.configs),
            replica_manager=self.replica_manager,
            group_coordinator=GroupCoordinator(
                self.replica_manager,
                self.metadata_cache,
                self.configs,
                self.clock,
                self.entropy,
                proof=self.proof,
            ),
            transaction_coordinator=self.transaction_coordinator,
            transaction_verifier=TransactionVerifier(
                self.replica_manager, self.peers, self.metadata_cache, self.configs
            ),
            producer_ids=self.producer_ids,
            authorizer=self.authorizer,
            audit=AuditLog(self.clock, self.metrics),
            sasl=SaslMechanisms(
                self.configs, self.authorizer, self.clock, self.entropy, self.metrics
            ),
            controller=self.controller,
            controller_client=self.controller_client,
        )

    def topic(
        self,
        name: str,
        *,
        leader: int = ME,
        replicas: tuple[int, ...] = (ME,),
        isr: tuple[int, ...] | None = None,
        leader_epoch: int = 0,
        partitions: int = 1,
    ) -> uuid.UUID:
        """Have the controller's word: a topic with these states, here and in the metadata."""
        topic_id = self.ids.setdefault(name, uuid.uuid5(uuid.NAMESPACE_DNS, name))
        states = tuple(
            PartitionState(
                index=index,
                leader=leader,
                leader_epoch=leader_epoch,
                partition_epoch=leader_epoch,
                replicas=replicas,
                isr=isr or replicas,
            )
            for index in range(partitions)
        )
        image = self.metadata_cache.image
        topics = {**image.topics, name: TopicImage(name, topic_id, states)}
        self.metadata_cache.replace(
            ClusterImage(
                cluster_id="c",
                controller_id=ME,
                brokers=image.brokers,
                topics=topics,
                names_by_id={**image.names_by_id, topic_id: name},
            )
        )
        if ME in replicas:
            for state in states:
                error = self.replica_manager.apply_state(
                    TopicPartition(name, state.index), topic_id, state, is_new=True
                )
                assert error == 0
        return topic_id

    def partition(self, topic: str, index: int = 0):
        return self.replica_manager.get(TopicPartition(topic, index))

    # -- asking

    def submit(self, message: object, version: int, client_id: str = "test"):
        """The dispatcher's raw answer: parts, a deferred, or None."""
        frame = encode_request_frame(message, version, 99, client_id)
        answer = self.dispatcher.submit(self.connection, memoryview(frame)[4:])
        return answer.finish() if isinstance(answer, StagedAnswer) else answer

    async def ask(self, message: object, version: int, client_id: str = "test"):
        answer = self.submit(message, version, client_id)
        return read_answer(message, version, await settled(answer))

    async def stop(self) -> None:
        await self.dispatcher.stop()
        await self.replica_manager.stop()


async def settled(answer: object, timeout_s: float = 5.0):
    """The parts of an answer, waiting for them if need be."""
    if not isinstance(answer, Deferred):
        return answer
    future = asyncio.get_running_loop().create_future()
    answer.when_done(future.set_result)
    return await asyncio.wait_for(future, timeout_s)


def read_answer(message: object, version: int, parts: list):
    """Decode the parts of an answer as a client would."""
    joined = memoryview(
        b"".join(part.read() if hasattr(part, "position") else bytes(part) for part in parts)
    )
    assert int.from_bytes(joined[:4], "big") == len(joined) - 4
    correlation_id, position = parse_response_header(joined[4:], message.API_KEY, version)
    assert correlation_id == 99
    response, end = decode(load(message.API_KEY)[1], version, joined[4:], position)
    assert end == len(joined) - 4, "bytes are left over"
    return response


def batch(*values: str, **options: object) -> bytes:
    """An encoded batch of records with these values."""
    records = [
        NewRecord(key=None, value=value.encode(), headers=(), timestamp_ms=1_000 + number)
        for number, value in enumerate(values)
    ]
    return bytes(build_batch(records, **options))
