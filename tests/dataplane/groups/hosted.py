"""A broker's group coordinator on real partitions in memory, and handlers called as on the wire."""

from __future__ import annotations

import asyncio
import uuid

from dataplane.broker.context import ConnectionInfo, HandlerContext, RequestContext
from dataplane.broker.delayed.waiting import Wakeups
from dataplane.broker.groups.group_coordinator import GroupCoordinator
from dataplane.broker.metadata.config_admin import ConfigAdmin
from dataplane.broker.metadata.config_store import ConfigStore
from dataplane.broker.metadata.internal_topics import InternalTopics
from dataplane.broker.metadata.metadata_cache import MetadataCache
from dataplane.broker.metrics import Metrics
from dataplane.broker.producer_ids import ProducerIdManager
from dataplane.broker.quotas.client_quotas import ClientQuotas
from dataplane.broker.quotas.quota_manager import QuotaManager
from dataplane.broker.replicas.partition import Partition
from dataplane.broker.security.audit_log import AuditLog
from dataplane.broker.security.authorizer import Authorizer
from dataplane.broker.security.sasl_mechanisms import SaslMechanisms
from dataplane.broker.transactions.marker_sender import MarkerSender
from dataplane.broker.transactions.transaction_coordinator import TransactionCoordinator
from dataplane.broker.transactions.verifier import TransactionVerifier
from dataplane.cluster.image import BrokerInfo, ClusterImage, Endpoint, TopicImage
from dataplane.cluster.topic_names import OFFSETS_TOPIC, TRANSACTIONS_TOPIC
from dataplane.config.broker_config import BrokerConfig
from dataplane.handlers.registry import HANDLED, HOT, handler, handler_module
from dataplane.log.config import LogConfig
from dataplane.log.opening import LogEnvironment
from dataplane.log.partition_log import PartitionLog
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition
from dataplane.model.partition import PartitionState
from dataplane.ports.fakes.background import InlineBackground
from dataplane.ports.fakes.clock import FakeClock
from dataplane.ports.fakes.coordinator import FakeZooKeeper
from dataplane.ports.fakes.entropy import FakeEntropy
from dataplane.ports.fakes.filesystem import MemoryFileSystem
from dataplane.security.principal import ANONYMOUS
from dataplane.wire import apis
from dataplane.wire.apis import ApiKey
from dataplane.wire.codec import decode, encode
from dataplane.wire.headers import RequestHeader, parse_response_header
from dataplane.wire.messages.write_txn_markers import (
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersResponse,
)
from tests.dataplane.handlers.one_broker import (
    ControllerOnPaper,
    NoController,
    ProofOnPaper,
    settled,
)
from tests.dataplane.transaction_answers import verified

ME, OTHER = 1, 2


class FakeReplicaManager:
    """As much of the replica manager as the group coordinator asks of it."""

    def __init__(self) -> None:
        self.by_name = {}
        self.listeners = []

    def get(self, topic_partition):
        return self.by_name.get(topic_partition)

    def leader(self, topic_partition):
        partition = self.get(topic_partition)
        if partition is None or not partition.is_leader:
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        return partition

    def led(self):
        return [partition for partition in self.by_name.values() if partition.is_leader]

    def on_leadership(self, listener):
        self.listeners.append(listener)


class MarkersOnPaper:
    """Brokers that note the markers they are sent, and write them all unless `answer` differs.

    Whether a partition is part of a transaction they answer by `verification`.
    """

    def __init__(self) -> None:
        self.verification = ErrorCode.NONE
        self.verifications = 0
        self.asked = []
        self.answer = None
        self.gate = asyncio.Event()
        self.gate.set()

    async def request(self, broker_id, message, version, *, timeout_ms, channel):
        if message.API_KEY == ApiKey.ADD_PARTITIONS_TO_TXN:
            self.verifications += 1
            await self.gate.wait()
            return verified(message, self.verification)
        self.asked.append((broker_id, message))
        await self.gate.wait()
        if self.answer is not None:
            return self.answer(broker_id, message)
        return markers_answer(message)


async def committed(coordinator, request):
    """What the coordinator answers to a commit, once it does. KafkaError when it refuses."""
    answer = asyncio.get_running_loop().create_future()

    def answered(result, refusal):
        if refusal is None:
            answer.set_result(result)
        else:
            answer.set_exception(refusal)

    coordinator.commit(request, answered)
    return await answer


def markers_answer(message, error=ErrorCode.NONE):
    """The answer to a WriteTxnMarkers in which every partition has this error."""
    return WriteTxnMarkersResponse(
        markers=[
            WritableTxnMarkerResult(
                producer_id=marker.producer_id,
                topics=[
                    WritableTxnMarkerTopicResult(
                        name=topic.name,
                        partitions=[
                            WritableTxnMarkerPartitionResult(partition_index=i, error_code=error)
                            for i in topic.partition_indexes
                        ],
                    )
                    for topic in marker.topics
                ],
            )
            for marker in message.markers
        ]
    )


class Hosted:
    """One broker. With `replicas` (1, 2) writes wait until `replicate` is called."""

    def __init__(self, *, replicas=(ME,), partition_count=2, **settings: str) -> None:
        defaults = {
            "listeners": "PLAINTEXT://127.0.0.1:0",
            "group.initial.rebalance.delay.ms": "0",
            "offsets.topic.num.partitions": str(partition_count),
            "sasl.enabled.mechanisms": "SCRAM-SHA-256,SCRAM-SHA-512",
        }
        given = {key.replace("_", "."): value for key, value in settings.items()}
        self.clock = FakeClock()
        self.fs = MemoryFileSystem()
        self.epoch = 0
        self.replicas = replicas
        self.replica_manager = FakeReplicaManager()
        names = (OFFSETS_TOPIC, TRANSACTIONS_TOPIC, "t", "old")
        topics = {name: _topic(name, partition_count) for name in names}
        listener = {"PLAINTEXT": Endpoint("127.0.0.1", 9092, "PLAINTEXT")}
        image = ClusterImage(
            cluster_id="c", brokers={ME: BrokerInfo(id=ME, listeners=listener)}, topics=topics
        )
        self.metadata_cache = MetadataCache(image)
        config = BrokerConfig.parse(defaults | given)
        coordinator, entropy = FakeZooKeeper().connect(), FakeEntropy()
        self.coordinator = coordinator
        self.proof = ProofOnPaper()
        configs = ConfigStore(coordinator, self.clock, config, broker_id=ME)
        self.authorizer = Authorizer(coordinator, self.clock, entropy, config)
        for index in range(partition_count):
            self._open(TopicPartition(OFFSETS_TOPIC, index))
            self._open(TopicPartition(TRANSACTIONS_TOPIC, index))
        self.group_coordinator = GroupCoordinator(
            self.replica_manager,
            self.metadata_cache,
            configs,
            self.clock,
            entropy,
            proof=self.proof,
        )
        self.peers = MarkersOnPaper()
        metrics, producer_ids = Metrics(), ProducerIdManager(coordinator, ME)
        self.marker_sender = MarkerSender(self.peers, self.metadata_cache, metrics, self.clock)
        self.transaction_coordinator = TransactionCoordinator(
            self.replica_manager,
            self.metadata_cache,
            configs,
            self.clock,
            producer_ids=producer_ids,
            sender=self.marker_sender,
        )
        self.controller_client = ControllerOnPaper()
        self.handlers = HandlerContext(
            cluster_id="c",
            clock=self.clock,
            entropy=entropy,
            metadata_cache=self.metadata_cache,
            metrics=metrics,
            configs=configs,
            config_admin=ConfigAdmin(configs, self.metadata_cache, broker_id=ME),
            client_quotas=ClientQuotas(configs),
            quotas=QuotaManager(configs, self.clock),
            internal_topics=InternalTopics(self.controller_client, configs),
            replica_manager=self.replica_manager,
            group_coordinator=self.group_coordinator,
            transaction_coordinator=self.transaction_coordinator,
            transaction_verifier=TransactionVerifier(
                self.replica_manager, self.peers, self.metadata_cache, configs
            ),
            producer_ids=producer_ids,
            authorizer=self.authorizer,
            audit=AuditLog(self.clock, Metrics()),
            sasl=SaslMechanisms(configs, self.authorizer, self.clock, entropy, Metrics()),
            controller=NoController(),
            controller_client=self.controller_client,
        )
        self.connection = ConnectionInfo("PLAINTEXT", "PLAINTEXT", "127.0.0.1", ANONYMOUS)

    async def start(self) -> Hosted:
        await self.authorizer.start()
        await self.group_coordinator.start()
        await self.transaction_coordinator.start()
        for partition in self.replica_manager.by_name.values():
            self.lead(partition.topic_partition)
        return self

    async def loaded(self) -> Hosted:
        """Wait until what the group partitions hold has been read."""
        async with asyncio.timeout(10):
            while (
                self.group_coordinator.list_groups()[0] is not ErrorCode.NONE
                or self.transaction_coordinator.list_transactions()[0] is not ErrorCode.NONE
            ):
                await asyncio.sleep(0)
        return self

    async def stop(self) -> None:
        await self.group_coordinator.stop()
        await self.transaction_coordinator.stop()
        await self.authorizer.stop()

    def _open(self, topic_partition) -> None:
        directory = f"/data/{topic_partition}"
        self.fs.make_dirs(directory)
        log = PartitionLog(
            LogEnvironment(self.fs, self.clock, InlineBackground()),
            topic_partition,
            directory,
            LogConfig(),
        )
        self.replica_manager.by_name[topic_partition] = Partition(
            topic_partition,
            uuid.uuid4(),
            log,
            broker_id=ME,
            clock=self.clock,
            lag_ms_max=30_000,
            min_isr=1,
            wakeups=Wakeups(),
            propose_isr=lambda _partition, _effect: None,
        )

    def _announce(self, topic_partition, *, is_leader: bool) -> None:
        for listener in self.replica_manager.listeners:
            listener(topic_partition, is_leader, self.epoch)

    def lead(self, topic_partition) -> None:
        self.epoch += 1
        state = PartitionState(
            index=topic_partition.partition,
            leader=ME,
            leader_epoch=self.epoch,
            replicas=self.replicas,
            isr=self.replicas,
        )
        self.replica_manager.by_name[topic_partition].become_leader(state)
        self._announce(topic_partition, is_leader=True)

    def follow(self, topic_partition) -> None:
        self.epoch += 1
        partition = self.replica_manager.by_name[topic_partition]
        partition.become_follower(
            PartitionState(
                index=topic_partition.partition,
                leader=OTHER,
                leader_epoch=self.epoch,
                replicas=self.replicas,
                isr=self.replicas,
            )
        )
        self._announce(topic_partition, is_leader=False)

    def replicate(self) -> None:
        """The other replica fetches up to the end of every log."""
        for partition in self.replica_manager.by_name.values():
            partition.on_follower_fetch(OTHER, partition.log.log_end_offset)

    async def call(self, api, version: int, **fields):
        """Send a request through codec and handler, and read the answer as a client would."""
        lowest, highest = HANDLED[api]
        assert lowest <= version <= highest
        request_class, response_class = apis.load(api)
        sent = encode(request_class(**fields), version)
        request, end = decode(request_class, version, memoryview(sent))
        assert end == len(sent)
        header = RequestHeader(api, version, 1, "client", 0)
        context = RequestContext(self.handlers, self.connection, header)
        if api in HOT:
            reply = handler_module(api).handle_frame(context, memoryview(sent), 0)
            frame = memoryview(b"".join(await settled(reply)))[4:]
            _correlation_id, start = parse_response_header(frame, api, version)
            return decode(response_class, version, frame, start)[0]
        response = await handler(api)(context, request)
        received = encode(response, version)
        answer, end = decode(response_class, version, memoryview(received))
        assert end == len(received)
        return answer


def _topic(name: str, count: int) -> TopicImage:
    partitions = tuple(
        PartitionState(index=i, leader=ME, replicas=(ME,), isr=(ME,)) for i in range(count)
    )
    return TopicImage(name, uuid.uuid4(), partitions)
