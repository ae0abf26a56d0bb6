"""Brokers that only obey the controller: they keep what they were sent, as images and roles."""

from __future__ import annotations

import asyncio

from dataplane.broker.broker_lifecycle import BrokerLifecycle
from dataplane.broker.controller.environment import ControllerEnvironment
from dataplane.broker.controller.kafka_controller import KafkaController
from dataplane.broker.metadata.config_store import ConfigStore
from dataplane.broker.metadata.registration import (
    Registration,
    ensure_cluster_id,
    ensure_layout,
)
from dataplane.broker.networking.peer_client import PeerUnavailableError
from dataplane.cluster.image import ZERO_UUID, BrokerInfo, ClusterImage, Endpoint
from dataplane.cluster.offline_replicas import RETRY_MS_MAX
from dataplane.config import BrokerConfig
from dataplane.model.errors import ErrorCode
from dataplane.model.ids import TopicPartition
from dataplane.ports.fakes.clock import FakeClock
from dataplane.ports.fakes.entropy import FakeEntropy
from dataplane.ports.fakes.filesystem import MemoryFileSystem
from dataplane.wire.codec import decode, encode
from dataplane.wire.messages.leader_and_isr import (
    LeaderAndIsrPartitionError,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicError,
)
from dataplane.wire.messages.stop_replica import (
    StopReplicaPartitionError,
    StopReplicaRequest,
    StopReplicaResponse,
)
from dataplane.wire.messages.update_metadata import UpdateMetadataRequest, UpdateMetadataResponse


class Network:
    """Finds a fake broker by its port and carries encoded messages to it."""

    def __init__(self):
        self.brokers = {}

    async def request_to(self, endpoint, message, version, *, timeout_ms, channel):
        await asyncio.sleep(0)
        broker = self.brokers.get(endpoint.port)
        if broker is None or not broker.reachable:
            raise PeerUnavailableError("down")
        received, _ = decode(type(message), version, memoryview(encode(message, version)))
        return broker.obey(received)


class FakeBroker:
    """A registered broker with a part in the controller election."""

    def __init__(self, broker_id, coordinator, network, tmp_path, *, rack=None, settings=None):
        self.id = broker_id
        self.coordinator = coordinator
        self.network = network
        self.reachable = True
        self.image = ClusterImage()
        self.roles = {}
        self.new_roles = set()
        self.deleted = []
        self.failed = set()
        self.stopped = []
        self.requests = []
        config = BrokerConfig.parse(
            {
                "broker.id": str(broker_id),
                "zookeeper.connect": "fake",
                "listeners": f"PLAINTEXT://127.0.0.1:{9000 + broker_id}",
                **(settings or {}),
            }
        )
        self.lifecycle = BrokerLifecycle(broker_id=broker_id, cluster_id="c")
        self.clock = FakeClock()
        self.entropy = FakeEntropy(broker_id)
        self.configs = ConfigStore(coordinator, self.clock, config, broker_id=broker_id)
        self.host = KafkaController(
            ControllerEnvironment(
                broker_id=broker_id,
                coordinator=coordinator,
                clock=self.clock,
                entropy=self.entropy,
                configs=self.configs,
                peers=network,
            )
        )
        listeners = {"PLAINTEXT": Endpoint("127.0.0.1", 9000 + broker_id, "PLAINTEXT")}
        self.registration = Registration(
            coordinator,
            BrokerInfo(broker_id, rack=rack, listeners=listeners),
            clock=self.clock,
            files=MemoryFileSystem(),
            process_id=broker_id,
            log_dir=f"/{broker_id}",
            on_registered=lambda epoch: setattr(self.lifecycle, "broker_epoch", epoch),
        )

    async def start(self):
        await ensure_layout(self.coordinator)
        await ensure_cluster_id(self.coordinator, self.entropy)
        self.network.brokers[9000 + self.id] = self
        await self.configs.start()
        await self.registration.start()
        await self.host.start()
        return self

    async def die(self):
        """The process is gone; its session lingers until somebody ends it."""
        self.reachable = False
        self.coordinator.vanish()
        await self.host.stop()

    async def stop(self):
        await self.host.stop()
        await self.configs.stop()
        await self.registration.stop()

    def obey(self, request):
        self.requests.append(request)
        match request:
            case UpdateMetadataRequest():
                self.image = self.image.with_update(request)
                return UpdateMetadataResponse()
            case LeaderAndIsrRequest():
                topics = [self._take_up(topic) for topic in request.topic_states]
                return LeaderAndIsrResponse(topics=topics)
            case StopReplicaRequest():
                return StopReplicaResponse(partition_errors=list(self._stop(request)))
        raise AssertionError(request)

    def _take_up(self, topic):
        errors = []
        for state in topic.partition_states:
            key = TopicPartition(topic.topic_name, state.partition_index)
            code = ErrorCode.KAFKA_STORAGE_ERROR if key in self.failed else ErrorCode.NONE
            errors.append(
                LeaderAndIsrPartitionError(
                    partition_index=state.partition_index, error_code=int(code)
                )
            )
            if code is ErrorCode.NONE:
                self.roles[key] = state
                if state.is_new:
                    self.new_roles.add(key)
        return LeaderAndIsrTopicError(topic_id=topic.topic_id, partition_errors=errors)

    def _stop(self, request):
        for topic in request.topic_states:
            for state in topic.partition_states:
                key = TopicPartition(topic.topic_name, state.partition_index)
                code = ErrorCode.KAFKA_STORAGE_ERROR if key in self.failed else ErrorCode.NONE
                yield StopReplicaPartitionError(
                    topic_name=key.topic, partition_index=key.partition, error_code=int(code)
                )
                if code is ErrorCode.NONE:
                    self.roles.pop(key, None)
                    (self.deleted if state.delete_partition else self.stopped).append(key)

    async def restart(self):
        """Another life, with every log directory whole."""
        self.failed = set()
        await self.registration.stop()
        await self.registration.start()


def by_name(*names):
    """Topics to delete, whatever their ids are."""
    return dict.fromkeys(names, ZERO_UUID)


async def ask_again(leader):
    """Its controller asks for offline replicas, however long ago it did so last."""
    leader.clock.advance(RETRY_MS_MAX)
    await leader.host.submit(lambda term: term.offline_replicas.ask_again())


async def until(condition, timeout_s=20.0, what=""):
    try:
        async with asyncio.timeout(timeout_s):
            while not condition():
                await asyncio.sleep(0.005)
    except TimeoutError:
        raise AssertionError(f"never became true: {what or condition}") from None


def active(brokers):
    found = [b for b in brokers if b.host.is_active]
    return found[0] if len(found) == 1 else None
