"""Kafka's ZooKeeper layout: paths, and what stands in the nodes (JSON, as Kafka 3.9 writes it).

Decoding is strict about what we need and lenient about what others may add. Raises ValueError for
a node that cannot be understood.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import uuid
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, unquote

from dataplane.cluster.image import BrokerInfo, Endpoint
from dataplane.model.partition import PartitionState

CONTROLLER = "/controller"
CONTROLLER_EPOCH = "/controller_epoch"
BROKER_IDS = "/brokers/ids"
TOPICS = "/brokers/topics"
CLUSTER_ID = "/cluster/id"
DELETE_TOPICS = "/admin/delete_topics"
REASSIGN_PARTITIONS = "/admin/reassign_partitions"
PREFERRED_ELECTION = "/admin/preferred_replica_election"
CONFIG = "/config"
CONFIG_CHANGES = "/config/changes"
CONFIG_CHANGE_PREFIX = "/config/changes/config_change_"
PRODUCER_IDS = "/latest_producer_id_block"
ISR_CHANGES = "/isr_change_notification"
ISR_CHANGE_PREFIX = "/isr_change_notification/isr_change_"
LOG_DIR_EVENTS = "/log_dir_event_notification"
BROKER_SEQUENCE = "/brokers/seqid"
KNOWN_BROKERS = "/brokers/known_brokers"
FORMER_KNOWN_BROKERS = "/brokers/dealt_with"
"""Where earlier versions keep what KNOWN_BROKERS holds; read once, then removed."""
DIRECTORIES = "/brokers/directories"
"""Which log directories each broker has, by their `directory.id`; ours alone."""
FENCED_DIRECTORIES = "/brokers/fenced_directories"
"""A child for each log directory that was declared lost; ours alone."""
DEFAULT_ENTITY = "<default>"

PERSISTENT_PATHS = (
    "/consumers",
    BROKER_IDS,
    TOPICS,
    BROKER_SEQUENCE,
    KNOWN_BROKERS,
    CONFIG_CHANGES,
    "/config/topics",
    "/config/brokers",
    "/config/users",
    "/config/clients",
    "/config/ips",
    DELETE_TOPICS,
    ISR_CHANGES,
    PRODUCER_IDS,
    LOG_DIR_EVENTS,
    DIRECTORIES,
    FENCED_DIRECTORIES,
    "/cluster",
)
"""Nodes that every broker makes sure of when it starts, as Kafka does."""


def _dump(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _load(data: bytes) -> dict[str, Any]:
    value = json.loads(data)
    if not isinstance(value, dict):
        raise ValueError(f"expected a JSON object, found {data[:80]!r}")  # noqa: TRY004 - bad data
    return value


# -- brokers --------------------------------------------------------------------------------------


def broker_path(broker_id: int) -> str:
    return f"{BROKER_IDS}/{broker_id}"


def encode_broker(broker: BrokerInfo, *, timestamp_ms: int) -> bytes:
    """`/brokers/ids/N`, version 5."""
    plaintext = next(
        (e for e in broker.listeners.values() if e.security_protocol == "PLAINTEXT"), None
    )
    value: dict[str, Any] = {
        "version": 5,
        # The legacy host and port fields name a PLAINTEXT listener, or none.
        "host": plaintext.host if plaintext else None,
        "port": plaintext.port if plaintext else -1,
        "jmx_port": -1,
        "timestamp": str(timestamp_ms),
        "endpoints": [f"{n}://{_host(e.host)}:{e.port}" for n, e in broker.listeners.items()],
        "listener_security_protocol_map": {
            name: endpoint.security_protocol for name, endpoint in broker.listeners.items()
        },
        "features": {},
    }
    if broker.rack is not None:
        value["rack"] = broker.rack
    return _dump(value)


def encode_directories(directory_ids: Iterable[str]) -> bytes:
    """`/brokers/directories/N`."""
    return _dump({"version": 1, "directories": sorted(directory_ids)})


def decode_broker(broker_id: int, data: bytes, czxid: int) -> BrokerInfo:
    value = _load(data)
    protocols = value.get("listener_security_protocol_map", {})
    listeners = {}
    for text in value["endpoints"]:
        name, _, address = str(text).partition("://")
        host, _, port = address.rpartition(":")
        listeners[name] = Endpoint(host.strip("[]"), int(port), protocols.get(name, name))
    return BrokerInfo(id=broker_id, epoch=czxid, rack=value.get("rack"), listeners=listeners)


def _host(host: str) -> str:
    return f"[{host}]" if ":" in host else host


# -- controller -----------------------------------------------------------------------------------


def encode_known_brokers(brokers: Mapping[int, BrokerInfo]) -> bytes:
    """The registrations that the controllers' decisions rest on (ours alone, Kafka has none)."""
    return _dump({"version": 1, "epochs": {str(b): info.epoch for b, info in brokers.items()}})


def decode_known_brokers(data: bytes) -> dict[int, int]:
    """Broker epochs by broker; empty before any controller has written them."""
    epochs = _load(data).get("epochs", {}) if data else {}
    return {int(broker): int(epoch) for broker, epoch in epochs.items()}


def encode_controller(broker_id: int, *, timestamp_ms: int) -> bytes:
    return _dump(
        {
            "version": 2,
            "brokerid": broker_id,
            "timestamp": str(timestamp_ms),
            "kraftControllerEpoch": -1,
        }
    )


def decode_controller(data: bytes) -> int:
    return int(_load(data)["brokerid"])


def encode_cluster_id(cluster_id: str) -> bytes:
    return _dump({"version": "1", "id": cluster_id})


def decode_cluster_id(data: bytes) -> str:
    return str(_load(data)["id"])


# -- topics ---------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class TopicNode:
    """`/brokers/topics/T`: who holds which partition. Kept per partition index."""

    topic_id: uuid.UUID | None
    replicas: dict[int, tuple[int, ...]]
    adding: dict[int, tuple[int, ...]] = dataclasses.field(default_factory=dict)
    removing: dict[int, tuple[int, ...]] = dataclasses.field(default_factory=dict)


def topic_path(topic: str) -> str:
    return f"{TOPICS}/{topic}"


def partitions_path(topic: str) -> str:
    return f"{TOPICS}/{topic}/partitions"


def partition_path(topic: str, index: int) -> str:
    return f"{TOPICS}/{topic}/partitions/{index}"


def state_path(topic: str, index: int) -> str:
    return f"{TOPICS}/{topic}/partitions/{index}/state"


def delete_topic_path(topic: str) -> str:
    return f"{DELETE_TOPICS}/{topic}"


def encode_uuid(value: uuid.UUID) -> str:
    """Kafka's spelling: URL-safe base64 without padding."""
    return base64.urlsafe_b64encode(value.bytes).rstrip(b"=").decode()


def decode_uuid(text: str) -> uuid.UUID:
    return uuid.UUID(bytes=base64.urlsafe_b64decode(text + "=="))


def _lists(sets: dict[int, tuple[int, ...]]) -> dict[str, list[int]]:
    return {str(index): list(members) for index, members in sorted(sets.items())}


def _tuples(value: dict[str, list[int]]) -> dict[int, tuple[int, ...]]:
    return {int(index): tuple(members) for index, members in value.items()}


def encode_topic(node: TopicNode) -> bytes:
    """Version 3: partitions, adding, removing, topic id."""
    value: dict[str, Any] = {
        "removing_replicas": _lists({k: v for k, v in node.removing.items() if v}),
        "partitions": _lists(node.replicas),
        "adding_replicas": _lists({k: v for k, v in node.adding.items() if v}),
        "version": 3,
    }
    if node.topic_id is not None:
        value["topic_id"] = encode_uuid(node.topic_id)
    return _dump(value)


def decode_topic(data: bytes) -> TopicNode:
    value = _load(data)
    topic_id = value.get("topic_id")
    return TopicNode(
        topic_id=decode_uuid(topic_id) if topic_id else None,
        replicas=_tuples(value["partitions"]),
        adding=_tuples(value.get("adding_replicas", {})),
        removing=_tuples(value.get("removing_replicas", {})),
    )


def encode_state(state: PartitionState) -> bytes:
    """`…/partitions/P/state`, version 1."""
    return _dump(
        {
            "controller_epoch": state.controller_epoch,
            "leader": state.leader,
            "version": 1,
            "leader_epoch": state.leader_epoch,
            "isr": list(state.isr),
            "leader_recovery_state": state.leader_recovery_state,
        }
    )


def decode_state(assigned: PartitionState, data: bytes, version: int) -> PartitionState:
    """Put what the state node says into the assignment. `version` is the node's."""
    value = _load(data)
    return dataclasses.replace(
        assigned,
        leader=int(value["leader"]),
        leader_epoch=int(value["leader_epoch"]),
        isr=tuple(value["isr"]),
        controller_epoch=int(value["controller_epoch"]),
        leader_recovery_state=int(value.get("leader_recovery_state", 0)),
        partition_epoch=version,
    )


# -- configuration --------------------------------------------------------------------------------


def sanitize(name: str) -> str:
    """Entity names under /config/users and the like, as Kafka's Sanitizer: URL-encoded.

    A user may be named `<default>`: its node is `%3Cdefault%3E`, for `DEFAULT_ENTITY` is the node
    of all those without one of their own, and never goes through here.
    """
    return quote(name, safe="").replace("~", "%7E")


def desanitize(name: str) -> str:
    """What `sanitize` made a node's name of."""
    return unquote(name)


def config_path(entity_type: str, name: str) -> str:
    """`entity_type` is topics, brokers, users, clients, ips or groups; `name` is sanitised."""
    return f"{CONFIG}/{entity_type}/{name}"


def encode_config(values: dict[str, str]) -> bytes:
    return _dump({"version": 1, "config": values})


def decode_config(data: bytes) -> dict[str, str]:
    if not data:
        return {}
    return {str(k): str(v) for k, v in _load(data).get("config", {}).items()}


def encode_config_change(entity_path: str) -> bytes:
    """`entity_path` is relative to /config, such as `topics/orders`."""
    return _dump({"version": 2, "entity_path": entity_path})


def decode_config_change(data: bytes) -> str:
    value = _load(data)
    if "entity_path" in value:
        return str(value["entity_path"])
    return f"{value['entity_type']}/{value['entity_name']}"


# -- admin ----------------------------------------------------------------------------------------


def encode_reassignments(targets: dict[tuple[str, int], tuple[int, ...]]) -> bytes:
    return _dump(
        {
            "version": 1,
            "partitions": [
                {"topic": topic, "partition": index, "replicas": list(replicas)}
                for (topic, index), replicas in sorted(targets.items())
            ],
        }
    )


def decode_reassignments(data: bytes) -> dict[tuple[str, int], tuple[int, ...]]:
    return {
        (str(item["topic"]), int(item["partition"])): tuple(item["replicas"])
        for item in _load(data).get("partitions", [])
    }


def decode_preferred_election(data: bytes) -> list[tuple[str, int]]:
    return [
        (str(item["topic"]), int(item["partition"])) for item in _load(data).get("partitions", [])
    ]


def encode_isr_changes(partitions: Iterable[tuple[str, int]]) -> bytes:
    """Partitions whose ISR a leader has written itself."""
    noted = [{"topic": topic, "partition": index} for topic, index in partitions]
    return _dump({"version": 1, "partitions": noted})


def decode_isr_changes(data: bytes) -> list[tuple[str, int]]:
    return decode_preferred_election(data)  # the same form


@dataclasses.dataclass(frozen=True, slots=True)
class ProducerIdBlock:
    """A range of producer ids handed to one broker; both ends inclusive."""

    broker_id: int
    first_id: int
    last_id: int


def encode_producer_ids(block: ProducerIdBlock) -> bytes:
    return _dump(
        {
            "version": 1,
            "broker": block.broker_id,
            "block_start": str(block.first_id),
            "block_end": str(block.last_id),
        }
    )


def decode_producer_ids(data: bytes) -> ProducerIdBlock | None:
    if not data:
        return None
    value = _load(data)
    return ProducerIdBlock(int(value["broker"]), int(value["block_start"]), int(value["block_end"]))
