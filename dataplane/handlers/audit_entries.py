"""What the audit log says of each administrative request: from request and answer to entries.

Names alone are taken: of a setting its key and never its value, of a credential its user.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from dataplane.model.errors import ErrorCode
from dataplane.security.acl import AclOperation, PatternType, Permission, ResourceType
from dataplane.wire.apis import API_TABLE, ApiKey

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dataplane.broker.context import RequestContext

_CONFIG_RESOURCES: Final = {
    2: "Topic",
    4: "Broker",
    8: "BrokerLogger",
    16: "ClientMetrics",
    32: "Group",
}
_ALREADY_SAID: Final = frozenset(
    {
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ErrorCode.GROUP_AUTHORIZATION_FAILED,
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
    }
)
"""The line of the denial says it, with the operation that was lacking."""


PEERS_CLIENT_ID: Final = "broker-"
"""How the client ids begin by which brokers ask each other (`compose`)."""


class Entry(NamedTuple):
    """One thing that was governed. `code` 0 is success."""

    operation: str
    resource: str
    code: int
    detail: str = ""


def audit(context: RequestContext, request: Any, response: Any) -> None:
    """Write what an administrative request did. Those that were to change nothing are left out."""
    key = ApiKey(context.header.api_key)
    if getattr(request, "validate_only", False):
        return
    if key is ApiKey.WRITE_TXN_MARKERS and _is_a_coordinators(context):
        return
    for entry in ENTRIES[key](request, response):
        if entry.code not in _ALREADY_SAID:
            tell(context, entry)


def tell(context: RequestContext, entry: Entry) -> None:
    """Write one entry as it is."""
    context.broker.audit.administered(
        context.connection,
        api=API_TABLE[ApiKey(context.header.api_key)].name,
        operation=entry.operation,
        resource=entry.resource,
        outcome=ErrorCode.of(entry.code).name if entry.code else "SUCCESS",
        detail=entry.detail,
    )


def _is_a_coordinators(context: RequestContext) -> bool:
    """A broker's, of each transaction that ends, where an administrator aborts one that hangs.

    Both need ClusterAction: who could pass for a broker here has the rights of one.
    """
    config = context.broker.configs.broker_config
    is_of_brokers = context.connection.listener_name == config.inter_broker_listener
    return is_of_brokers and (context.header.client_id or "").startswith(PEERS_CLIENT_ID)


def untold(context: RequestContext, response: Any) -> None:
    """Write that something was administered of which no more can be said: a bug of ours."""
    code = getattr(response, "error_code", 0)
    context.broker.audit.administered(
        context.connection,
        api=API_TABLE[ApiKey(context.header.api_key)].name,
        operation="UNKNOWN",
        resource="Unknown",
        outcome=ErrorCode.of(code).name if code else "UNKNOWN",
    )


def _created_topics(_request: Any, response: Any) -> Iterable[Entry]:
    for topic in response.topics:
        yield Entry("CREATE", f"Topic:{topic.name}", topic.error_code)


def _deleted_topics(_request: Any, response: Any) -> Iterable[Entry]:
    for topic in response.responses:
        name = topic.topic_id if topic.name is None else topic.name
        yield Entry("DELETE", f"Topic:{name}", topic.error_code)


def _partitions(request: Any, response: Any) -> Iterable[Entry]:
    counts = {topic.name: topic.count for topic in request.topics}
    for topic in response.results:
        detail = f"partitions {counts.get(topic.name)}"
        yield Entry("ALTER", f"Topic:{topic.name}", topic.error_code, detail)


def _records(request: Any, response: Any) -> Iterable[Entry]:
    wanted = {
        (topic.name, each.partition_index): each.offset
        for topic in request.topics
        for each in topic.partitions
    }
    for topic in response.topics:
        for each in topic.partitions:
            detail = f"before offset {wanted.get((topic.name, each.partition_index))}"
            where = f"Partition:{topic.name}-{each.partition_index}"
            yield Entry("DELETE", where, each.error_code, detail)


def _elections(request: Any, response: Any) -> Iterable[Entry]:
    kind = "unclean" if getattr(request, "election_type", 0) else "preferred"
    if response.error_code:
        yield Entry("ELECT", "Cluster", response.error_code, kind)
    for topic in response.replica_election_results:
        for each in topic.partition_result:
            where = f"Partition:{topic.topic}-{each.partition_id}"
            yield Entry("ELECT", where, each.error_code, kind)


def _reassignments(request: Any, response: Any) -> Iterable[Entry]:
    wanted = {
        (topic.name, each.partition_index): each.replicas
        for topic in request.topics
        for each in topic.partitions
    }
    if response.error_code:
        yield Entry("REASSIGN", "Cluster", response.error_code)
    for topic in response.responses:
        for each in topic.partitions:
            replicas = wanted.get((topic.name, each.partition_index))
            detail = "cancel" if replicas is None else f"replicas {replicas}"
            where = f"Partition:{topic.name}-{each.partition_index}"
            yield Entry("REASSIGN", where, each.error_code, detail)


def _groups(_request: Any, response: Any) -> Iterable[Entry]:
    for group in response.results:
        yield Entry("DELETE", f"Group:{group.group_id}", group.error_code)


def _offsets(request: Any, response: Any) -> Iterable[Entry]:
    group = f"Group:{request.group_id}"
    if response.error_code:
        yield Entry("DELETE_OFFSETS", group, response.error_code)
    for topic in response.topics:
        for each in topic.partitions:
            detail = f"{topic.name}-{each.partition_index}"
            yield Entry("DELETE_OFFSETS", group, each.error_code, detail)


def _added_acls(request: Any, response: Any) -> Iterable[Entry]:
    for acl, result in zip(request.creations, response.results, strict=False):
        where = _pattern(acl.resource_type, acl.resource_pattern_type, acl.resource_name)
        yield Entry("CREATE_ACL", where, result.error_code, _acl(acl))


def _removed_acls(request: Any, response: Any) -> Iterable[Entry]:
    for asked, result in zip(request.filters, response.filter_results, strict=False):
        if result.error_code:
            where = _pattern(
                asked.resource_type_filter,
                asked.pattern_type_filter,
                asked.resource_name_filter or "*",
            )
            yield Entry("DELETE_ACL", where, result.error_code)
        for acl in result.matching_acls:
            where = _pattern(acl.resource_type, acl.pattern_type, acl.resource_name)
            yield Entry("DELETE_ACL", where, acl.error_code, _acl(acl))


def _credentials(request: Any, response: Any) -> Iterable[Entry]:
    deleted = {each.name for each in request.deletions}
    for result in response.results:
        operation = "DELETE_CREDENTIAL" if result.user in deleted else "SET_CREDENTIAL"
        yield Entry(operation, f"User:{result.user}", result.error_code)


def _settings(request: Any, response: Any) -> Iterable[Entry]:
    keys = {
        (each.resource_type, each.resource_name): ",".join(item.name for item in each.configs)
        for each in request.resources
    }
    for result in response.responses:
        kind = _CONFIG_RESOURCES.get(result.resource_type, str(result.resource_type))
        detail = keys.get((result.resource_type, result.resource_name), "")
        where = f"{kind}:{result.resource_name}"
        yield Entry("ALTER_CONFIGS", where, result.error_code, detail)


def _directories(_request: Any, response: Any) -> Iterable[Entry]:
    for topic in response.results:
        for each in topic.partitions:
            where = f"Partition:{topic.topic_name}-{each.partition_index}"
            yield Entry("ALTER_LOG_DIR", where, each.error_code)


def _quotas(request: Any, response: Any) -> Iterable[Entry]:
    keys = [",".join(op.key for op in each.ops) for each in request.entries]
    for number, result in enumerate(response.entries):
        parts = [f"{each.entity_type}={each.entity_name or '<default>'}" for each in result.entity]
        detail = keys[number] if number < len(keys) else ""
        yield Entry("ALTER_QUOTAS", f"Quota:{','.join(parts)}", result.error_code, detail)


def _features(_request: Any, response: Any) -> Iterable[Entry]:
    if response.error_code:
        yield Entry("UPDATE_FEATURES", "Cluster", response.error_code)
    for result in response.results:
        yield Entry("UPDATE_FEATURES", f"Feature:{result.feature}", result.error_code)


def _made_token(request: Any, response: Any) -> Iterable[Entry]:
    """The id is no secret: it is the name that the token logs in by."""
    name = response.principal_name or getattr(request, "owner_principal_name", None)
    detail = f"owner User:{name}" if name else ""
    token = f"DelegationToken:{response.token_id}"
    yield Entry("CREATE_TOKEN", token, response.error_code, detail)


def _markers(request: Any, response: Any) -> Iterable[Entry]:
    """An administrator's: how a hanging transaction is ended."""
    for marker, result in zip(request.markers, response.markers, strict=False):
        kind = "commit" if marker.transaction_result else "abort"
        detail = f"{kind} producer {marker.producer_id} epoch {marker.producer_epoch}"
        for topic in result.topics:
            for each in topic.partitions:
                where = f"Partition:{topic.name}-{each.partition_index}"
                yield Entry("END_TRANSACTION", where, each.error_code, detail)


def _acl(acl: Any) -> str:
    operation = _spelled(AclOperation, acl.operation)
    permission = _spelled(Permission, acl.permission_type)
    return f"{permission} {operation} to {acl.principal} from {acl.host}"


def _pattern(kind: int, pattern: int, name: str) -> str:
    return f"{_spelled(ResourceType, kind)}:{_spelled(PatternType, pattern)}:{name}"


def _spelled(names: type[ResourceType | PatternType | AclOperation | Permission], code: int) -> str:
    try:
        return names(code).name
    except ValueError:
        return str(code)


ENTRIES: Final[dict[ApiKey, Callable[[Any, Any], Iterable[Entry]]]] = {
    ApiKey.CREATE_TOPICS: _created_topics,
    ApiKey.DELETE_TOPICS: _deleted_topics,
    ApiKey.CREATE_PARTITIONS: _partitions,
    ApiKey.DELETE_RECORDS: _records,
    ApiKey.ELECT_LEADERS: _elections,
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: _reassignments,
    ApiKey.DELETE_GROUPS: _groups,
    ApiKey.OFFSET_DELETE: _offsets,
    ApiKey.CREATE_ACLS: _added_acls,
    ApiKey.DELETE_ACLS: _removed_acls,
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: _credentials,
    ApiKey.ALTER_CONFIGS: _settings,
    ApiKey.INCREMENTAL_ALTER_CONFIGS: _settings,
    ApiKey.ALTER_REPLICA_LOG_DIRS: _directories,
    ApiKey.ALTER_CLIENT_QUOTAS: _quotas,
    ApiKey.UPDATE_FEATURES: _features,
    ApiKey.CREATE_DELEGATION_TOKEN: _made_token,
    ApiKey.WRITE_TXN_MARKERS: _markers,
}
"""By API: every one that changes what is everybody's. Those that change a token tell it themselves
(`token_access`), as neither request nor answer names it."""
