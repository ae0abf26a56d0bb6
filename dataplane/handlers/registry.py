"""Which API keys this broker serves, in which versions, and where their handlers live.

A row here is a promise: ApiVersions advertises exactly these rows. The ranges lie within those of
a ZooKeeper-mode 3.9 broker, because clients infer a release from pairs of versions; the two of the
consumer group protocol, which that broker lacks, are those of Kafka 4.

An ordinary handler is `async def handle(ctx, request) -> response | None`. A hot one (Produce,
Fetch, Metadata, DeleteRecords) is `def handle_frame(ctx, frame, position) -> Reply`: it parses in
place, answers without a task where it can, and says so by its place in `HOT`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from dataplane.wire.apis import API_TABLE, ApiKey

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from dataplane.broker.context import RequestContext

    Handler = Callable[[RequestContext, Any], Coroutine[Any, Any, Any]]

HANDLED: dict[ApiKey, tuple[int, int]] = {
    # data path and cluster view
    ApiKey.PRODUCE: (0, 11),
    ApiKey.FETCH: (0, 17),
    ApiKey.API_VERSIONS: (0, 4),
    ApiKey.METADATA: (0, 12),
    ApiKey.LIST_OFFSETS: (0, 9),
    ApiKey.OFFSET_FOR_LEADER_EPOCH: (0, 4),
    ApiKey.DELETE_RECORDS: (0, 2),
    ApiKey.ALTER_REPLICA_LOG_DIRS: (0, 2),
    ApiKey.DESCRIBE_LOG_DIRS: (0, 4),
    ApiKey.DESCRIBE_CLUSTER: (0, 1),
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: (0, 0),
    # groups
    ApiKey.FIND_COORDINATOR: (0, 6),
    ApiKey.JOIN_GROUP: (0, 9),
    ApiKey.SYNC_GROUP: (0, 5),
    ApiKey.HEARTBEAT: (0, 4),
    ApiKey.LEAVE_GROUP: (0, 5),
    ApiKey.OFFSET_COMMIT: (0, 9),
    ApiKey.OFFSET_FETCH: (0, 9),
    ApiKey.OFFSET_DELETE: (0, 0),
    ApiKey.DESCRIBE_GROUPS: (0, 5),
    ApiKey.LIST_GROUPS: (0, 5),
    ApiKey.DELETE_GROUPS: (0, 2),
    ApiKey.CONSUMER_GROUP_HEARTBEAT: (0, 1),
    ApiKey.CONSUMER_GROUP_DESCRIBE: (0, 1),
    # producers
    ApiKey.INIT_PRODUCER_ID: (0, 5),
    ApiKey.ADD_PARTITIONS_TO_TXN: (0, 5),
    ApiKey.ADD_OFFSETS_TO_TXN: (0, 4),
    ApiKey.END_TXN: (0, 4),
    ApiKey.WRITE_TXN_MARKERS: (0, 1),
    ApiKey.TXN_OFFSET_COMMIT: (0, 4),
    ApiKey.DESCRIBE_PRODUCERS: (0, 0),
    ApiKey.DESCRIBE_TRANSACTIONS: (0, 0),
    ApiKey.LIST_TRANSACTIONS: (0, 1),
    # security
    ApiKey.SASL_HANDSHAKE: (0, 1),
    ApiKey.SASL_AUTHENTICATE: (0, 2),
    ApiKey.DESCRIBE_ACLS: (0, 3),
    ApiKey.CREATE_ACLS: (0, 3),
    ApiKey.DELETE_ACLS: (0, 3),
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: (0, 0),
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: (0, 0),
    ApiKey.CREATE_DELEGATION_TOKEN: (0, 3),
    ApiKey.RENEW_DELEGATION_TOKEN: (0, 2),
    ApiKey.EXPIRE_DELEGATION_TOKEN: (0, 2),
    ApiKey.DESCRIBE_DELEGATION_TOKEN: (0, 3),
    # what the controller decides
    ApiKey.CREATE_TOPICS: (0, 7),
    ApiKey.DELETE_TOPICS: (0, 6),
    ApiKey.CREATE_PARTITIONS: (0, 3),
    ApiKey.ELECT_LEADERS: (0, 2),
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: (0, 0),
    ApiKey.LIST_PARTITION_REASSIGNMENTS: (0, 0),
    ApiKey.CONTROLLED_SHUTDOWN: (0, 3),
    ApiKey.ALTER_PARTITION: (0, 3),
    ApiKey.ALLOCATE_PRODUCER_IDS: (0, 0),
    # configuration
    ApiKey.DESCRIBE_CONFIGS: (0, 4),
    ApiKey.ALTER_CONFIGS: (0, 2),
    ApiKey.INCREMENTAL_ALTER_CONFIGS: (0, 1),
    ApiKey.DESCRIBE_CLIENT_QUOTAS: (0, 1),
    ApiKey.ALTER_CLIENT_QUOTAS: (0, 1),
    # the controller's commands
    ApiKey.LEADER_AND_ISR: (0, 7),
    ApiKey.STOP_REPLICA: (0, 4),
    ApiKey.UPDATE_METADATA: (0, 8),
}

# Answered without a task per request: those with codecs of their own, and what waits by deadline.
HOT: frozenset[ApiKey] = frozenset(
    {ApiKey.PRODUCE, ApiKey.FETCH, ApiKey.METADATA, ApiKey.DELETE_RECORDS}
)

_loaded: dict[ApiKey, Any] = {}


def handler_module(api_key: ApiKey) -> Any:
    """The module `dataplane.handlers.<api_name>`, imported at first use of the API."""
    module = _loaded.get(api_key)
    if module is None:
        module = importlib.import_module(f"dataplane.handlers.{API_TABLE[api_key].module}")
        _loaded[api_key] = module
    return module


def handler(api_key: ApiKey) -> Handler:
    """The coroutine function that answers an ordinary API."""
    function: Handler = handler_module(api_key).handle
    return function
