"""The table of APIs: key, name, versions that release 3.9 speaks in ZooKeeper mode, module.

The one table of them: a row is a promise. `handlers/registry` serves, ApiVersions advertises and
`APIS.md` lists exactly these rows, with the versions that our messages can read and write. These
are those of a ZooKeeper-mode 3.9 broker, because clients infer a release from pairs of versions;
the two of the consumer group protocol, which that broker lacks, are those of Kafka 4.
"""

from __future__ import annotations

import enum
import importlib
from typing import TYPE_CHECKING, NamedTuple

from dataplane.wire.schema import NEVER_FLEXIBLE

if TYPE_CHECKING:
    from dataplane.wire.schema import Message


class ApiKey(enum.IntEnum):
    """Keys of the requests that are served, by Kafka's numbers."""

    PRODUCE = 0
    FETCH = 1
    LIST_OFFSETS = 2
    METADATA = 3
    LEADER_AND_ISR = 4
    STOP_REPLICA = 5
    UPDATE_METADATA = 6
    CONTROLLED_SHUTDOWN = 7
    OFFSET_COMMIT = 8
    OFFSET_FETCH = 9
    FIND_COORDINATOR = 10
    JOIN_GROUP = 11
    HEARTBEAT = 12
    LEAVE_GROUP = 13
    SYNC_GROUP = 14
    DESCRIBE_GROUPS = 15
    LIST_GROUPS = 16
    SASL_HANDSHAKE = 17
    API_VERSIONS = 18
    CREATE_TOPICS = 19
    DELETE_TOPICS = 20
    DELETE_RECORDS = 21
    INIT_PRODUCER_ID = 22
    OFFSET_FOR_LEADER_EPOCH = 23
    ADD_PARTITIONS_TO_TXN = 24
    ADD_OFFSETS_TO_TXN = 25
    END_TXN = 26
    WRITE_TXN_MARKERS = 27
    TXN_OFFSET_COMMIT = 28
    DESCRIBE_ACLS = 29
    CREATE_ACLS = 30
    DELETE_ACLS = 31
    DESCRIBE_CONFIGS = 32
    ALTER_CONFIGS = 33
    ALTER_REPLICA_LOG_DIRS = 34
    DESCRIBE_LOG_DIRS = 35
    SASL_AUTHENTICATE = 36
    CREATE_PARTITIONS = 37
    CREATE_DELEGATION_TOKEN = 38
    RENEW_DELEGATION_TOKEN = 39
    EXPIRE_DELEGATION_TOKEN = 40
    DESCRIBE_DELEGATION_TOKEN = 41
    DELETE_GROUPS = 42
    ELECT_LEADERS = 43
    INCREMENTAL_ALTER_CONFIGS = 44
    ALTER_PARTITION_REASSIGNMENTS = 45
    LIST_PARTITION_REASSIGNMENTS = 46
    OFFSET_DELETE = 47
    DESCRIBE_CLIENT_QUOTAS = 48
    ALTER_CLIENT_QUOTAS = 49
    DESCRIBE_USER_SCRAM_CREDENTIALS = 50
    ALTER_USER_SCRAM_CREDENTIALS = 51
    ALTER_PARTITION = 56
    UPDATE_FEATURES = 57
    DESCRIBE_CLUSTER = 60
    DESCRIBE_PRODUCERS = 61
    DESCRIBE_TRANSACTIONS = 65
    LIST_TRANSACTIONS = 66
    ALLOCATE_PRODUCER_IDS = 67
    CONSUMER_GROUP_HEARTBEAT = 68
    CONSUMER_GROUP_DESCRIBE = 69
    DESCRIBE_TOPIC_PARTITIONS = 75


class ApiSpec(NamedTuple):
    """One row of the table. `module` is below `dataplane.wire.messages`, loaded at first use."""

    key: ApiKey
    name: str
    min_version: int
    max_version: int
    flexible_from: int
    module: str

    def supports(self, version: int) -> bool:
        return self.min_version <= version <= self.max_version

    def is_flexible(self, version: int) -> bool:
        return version >= self.flexible_from


def _spec(key: ApiKey, max_version: int, flexible_from: int = NEVER_FLEXIBLE) -> ApiSpec:
    module = key.name.lower()
    name = "".join(part.capitalize() for part in module.split("_"))
    return ApiSpec(key, name, 0, max_version, flexible_from, module)


_ROWS = (
    _spec(ApiKey.PRODUCE, 11, 9),
    _spec(ApiKey.FETCH, 17, 12),
    _spec(ApiKey.LIST_OFFSETS, 9, 6),
    _spec(ApiKey.METADATA, 12, 9),
    _spec(ApiKey.LEADER_AND_ISR, 7, 4),
    _spec(ApiKey.STOP_REPLICA, 4, 2),
    _spec(ApiKey.UPDATE_METADATA, 8, 6),
    _spec(ApiKey.CONTROLLED_SHUTDOWN, 3, 3),
    _spec(ApiKey.OFFSET_COMMIT, 9, 8),
    _spec(ApiKey.OFFSET_FETCH, 9, 6),
    _spec(ApiKey.FIND_COORDINATOR, 6, 3),
    _spec(ApiKey.JOIN_GROUP, 9, 6),
    _spec(ApiKey.HEARTBEAT, 4, 4),
    _spec(ApiKey.LEAVE_GROUP, 5, 4),
    _spec(ApiKey.SYNC_GROUP, 5, 4),
    _spec(ApiKey.DESCRIBE_GROUPS, 5, 5),
    _spec(ApiKey.LIST_GROUPS, 5, 3),
    _spec(ApiKey.SASL_HANDSHAKE, 1),
    _spec(ApiKey.API_VERSIONS, 4, 3),
    _spec(ApiKey.CREATE_TOPICS, 7, 5),
    _spec(ApiKey.DELETE_TOPICS, 6, 4),
    _spec(ApiKey.DELETE_RECORDS, 2, 2),
    _spec(ApiKey.INIT_PRODUCER_ID, 5, 2),
    _spec(ApiKey.OFFSET_FOR_LEADER_EPOCH, 4, 4),
    _spec(ApiKey.ADD_PARTITIONS_TO_TXN, 5, 3),
    _spec(ApiKey.ADD_OFFSETS_TO_TXN, 4, 3),
    _spec(ApiKey.END_TXN, 4, 3),
    _spec(ApiKey.WRITE_TXN_MARKERS, 1, 1),
    _spec(ApiKey.TXN_OFFSET_COMMIT, 4, 3),
    _spec(ApiKey.DESCRIBE_ACLS, 3, 2),
    _spec(ApiKey.CREATE_ACLS, 3, 2),
    _spec(ApiKey.DELETE_ACLS, 3, 2),
    _spec(ApiKey.DESCRIBE_CONFIGS, 4, 4),
    _spec(ApiKey.ALTER_CONFIGS, 2, 2),
    _spec(ApiKey.ALTER_REPLICA_LOG_DIRS, 2, 2),
    _spec(ApiKey.DESCRIBE_LOG_DIRS, 4, 2),
    _spec(ApiKey.SASL_AUTHENTICATE, 2, 2),
    _spec(ApiKey.CREATE_PARTITIONS, 3, 2),
    _spec(ApiKey.CREATE_DELEGATION_TOKEN, 3, 2),
    _spec(ApiKey.RENEW_DELEGATION_TOKEN, 2, 2),
    _spec(ApiKey.EXPIRE_DELEGATION_TOKEN, 2, 2),
    _spec(ApiKey.DESCRIBE_DELEGATION_TOKEN, 3, 2),
    _spec(ApiKey.DELETE_GROUPS, 2, 2),
    _spec(ApiKey.ELECT_LEADERS, 2, 2),
    _spec(ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, 1),
    _spec(ApiKey.ALTER_PARTITION_REASSIGNMENTS, 0, 0),
    _spec(ApiKey.LIST_PARTITION_REASSIGNMENTS, 0, 0),
    _spec(ApiKey.OFFSET_DELETE, 0),
    _spec(ApiKey.DESCRIBE_CLIENT_QUOTAS, 1, 1),
    _spec(ApiKey.ALTER_CLIENT_QUOTAS, 1, 1),
    _spec(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, 0, 0),
    _spec(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, 0, 0),
    _spec(ApiKey.ALTER_PARTITION, 3, 0),
    _spec(ApiKey.UPDATE_FEATURES, 1, 0),
    _spec(ApiKey.DESCRIBE_CLUSTER, 1, 0),
    _spec(ApiKey.DESCRIBE_PRODUCERS, 0, 0),
    _spec(ApiKey.DESCRIBE_TRANSACTIONS, 0, 0),
    _spec(ApiKey.LIST_TRANSACTIONS, 1, 0),
    _spec(ApiKey.ALLOCATE_PRODUCER_IDS, 0, 0),
    _spec(ApiKey.CONSUMER_GROUP_HEARTBEAT, 1, 0),
    _spec(ApiKey.CONSUMER_GROUP_DESCRIBE, 1, 0),
    _spec(ApiKey.DESCRIBE_TOPIC_PARTITIONS, 0, 0),
)

API_TABLE: dict[ApiKey, ApiSpec] = {row.key: row for row in _ROWS}


def load(api_key: ApiKey | int) -> tuple[type[Message], type[Message]]:
    """The request and response classes of an API, importing their module at first use."""
    spec = API_TABLE[ApiKey(api_key)]
    module = importlib.import_module(f"dataplane.wire.messages.{spec.module}")
    return getattr(module, f"{spec.name}Request"), getattr(module, f"{spec.name}Response")
