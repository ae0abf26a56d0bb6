"""What an answer's `error_message` holds when nothing went wrong: what Kafka 3.9 sends there.

Kafka's handlers leave some of these fields alone (an empty string), set others to null, and one to
the name of error 0. A handler of ours that names no message gets the declaration's default, so the
declarations are held against Kafka here, all of them; and no handler says it in another way.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import pathlib
from collections.abc import Iterator

import pytest

from dataplane import handlers
from dataplane.broker.metadata.registration import ensure_layout
from dataplane.broker.networking.peer_login import PeerCredentials, ScramClient
from dataplane.handlers.registry import HANDLED
from dataplane.security.principal import Principal
from dataplane.wire.apis import ApiKey, load
from dataplane.wire.schema import Field, fields_of
from tests.dataplane.groups.hosted import Hosted
from tests.dataplane.handlers.one_broker import OneBroker, batch
from tests.waiting import turns

UNSET, NULL = "", None
PRODUCED = "ProduceResponse.responses.partition_responses"
ON_SUCCESS = {
    f"{PRODUCED}.record_errors.batch_index_error_message": NULL,
    f"{PRODUCED}.error_message": NULL,
    "FindCoordinatorResponse.error_message": "NONE",
    "FindCoordinatorResponse.coordinators.error_message": UNSET,
    "ConsumerGroupHeartbeatResponse.error_message": NULL,
    "ConsumerGroupDescribeResponse.groups.error_message": NULL,
    "CreateTopicsResponse.topics.error_message": NULL,
    "DeleteTopicsResponse.responses.error_message": NULL,
    "DescribeAclsResponse.error_message": UNSET,
    "CreateAclsResponse.results.error_message": UNSET,
    "DeleteAclsResponse.filter_results.error_message": NULL,
    "DeleteAclsResponse.filter_results.matching_acls.error_message": NULL,
    "DescribeConfigsResponse.results.error_message": UNSET,
    "AlterConfigsResponse.responses.error_message": NULL,
    "SaslAuthenticateResponse.error_message": UNSET,
    "CreatePartitionsResponse.results.error_message": NULL,
    "ElectLeadersResponse.replica_election_results.partition_result.error_message": NULL,
    "IncrementalAlterConfigsResponse.responses.error_message": NULL,
    "AlterPartitionReassignmentsResponse.error_message": UNSET,
    "AlterPartitionReassignmentsResponse.responses.partitions.error_message": NULL,
    "ListPartitionReassignmentsResponse.error_message": UNSET,
    "DescribeClientQuotasResponse.error_message": NULL,
    "AlterClientQuotasResponse.entries.error_message": NULL,
    "DescribeUserScramCredentialsResponse.error_message": UNSET,
    "DescribeUserScramCredentialsResponse.results.error_message": UNSET,
    "AlterUserScramCredentialsResponse.results.error_message": UNSET,
    "DescribeClusterResponse.error_message": NULL,
    "DescribeProducersResponse.topics.partitions.error_message": NULL,
    "UpdateFeaturesResponse.error_message": NULL,
    "UpdateFeaturesResponse.results.error_message": NULL,
}


def is_message(item: Field) -> bool:
    return item.name.endswith("error_message")


def structs(path: str, struct: type) -> Iterator[tuple[str, type]]:
    """A response and the structs in it, each by its path."""
    yield path, struct
    for item in fields_of(struct):
        kind = item.kind if item.kind.item is None else item.kind.item
        if kind.struct_class is not None:
            yield from structs(f"{path}.{item.name}", kind.struct_class)


def test_every_declaration_defaults_to_what_kafka_sends() -> None:
    declared = {
        f"{path}.{item.name}": item.fresh_default()
        for api in HANDLED
        for path, struct in structs(load(api)[1].__name__, load(api)[1])
        for item in fields_of(struct)
        if is_message(item)
    }
    assert declared == ON_SUCCESS


def test_no_handler_names_an_empty_message() -> None:
    found = [
        f"{source.name}:{node.value.lineno}"
        for source in pathlib.Path(handlers.__file__).parent.glob("*.py")
        for node in ast.walk(ast.parse(source.read_text()))
        if isinstance(node, ast.keyword)
        and (node.arg or "").endswith("error_message")
        and isinstance(node.value, ast.Constant)
        and not node.value.value
    ]
    assert found == []


# -- and that it is so on the wire, where a handler can be asked without a cluster


def said(path: str, answer: object, version: int) -> Iterator[tuple[str, str | None]]:
    """Every message of an answer, as it was read."""
    for item in fields_of(type(answer)):
        value = getattr(answer, item.name)
        if version not in item.versions:
            continue
        if item.name == "error_code":
            assert value == 0
        elif is_message(item):
            yield f"{path}.{item.name}", value
        for entry in value if isinstance(value, list) else [value]:
            if hasattr(type(entry), "__wire_fields__"):
                yield from said(f"{path}.{item.name}", entry, version)


def check(answer: object, version: int, *, least: int = 1) -> None:
    found = list(said(type(answer).__name__, answer, version))
    assert len(found) >= least
    for path, value in found:
        assert value == ON_SUCCESS[path], path


def made(api: ApiKey, struct: str, /, **fields: object) -> object:
    return getattr(importlib.import_module(load(api)[0].__module__), struct)(**fields)


def versions(api: ApiKey, first: int = 0) -> list[int]:
    return list(range(max(first, HANDLED[api][0]), HANDLED[api][1] + 1))


@pytest.fixture
async def hosted():
    made = await Hosted(
        partition_count=1,
        authorizer_class_name="kafka.security.authorizer.AclAuthorizer",
        super_users="User:root",
    ).start()
    await turns()
    made.connection.principal = Principal.user("root")
    yield made
    await made.stop()


@pytest.mark.parametrize("version", versions(ApiKey.FIND_COORDINATOR, 1))
async def test_find_coordinator(hosted, version) -> None:
    asked = {"coordinator_keys": ["g"]} if version >= 4 else {"key": "g"}
    check(await hosted.call(ApiKey.FIND_COORDINATOR, version, **asked), version)


@pytest.mark.parametrize("version", versions(ApiKey.CREATE_ACLS))
async def test_acls(hosted, version) -> None:
    binding = {"resource_type": 2, "resource_pattern_type": 3, "operation": 3, "permission_type": 3}
    creation = made(
        ApiKey.CREATE_ACLS,
        "AclCreation",
        resource_name="t",
        principal="User:a",
        host="*",
        **binding,
    )
    check(await hosted.call(ApiKey.CREATE_ACLS, version, creations=[creation]), version)
    asked = {
        **dict.fromkeys(("resource_name_filter", "principal_filter", "host_filter")),
        "resource_type_filter": 1,
        "pattern_type_filter": 1,
        "operation": 1,
        "permission_type": 1,
    }
    check(await hosted.call(ApiKey.DESCRIBE_ACLS, version, **asked), version)
    wanted = made(ApiKey.DELETE_ACLS, "DeleteAclsFilter", **asked)
    check(await hosted.call(ApiKey.DELETE_ACLS, version, filters=[wanted]), version, least=2)


async def test_scram_and_login(hosted) -> None:
    credential = made(
        ApiKey.ALTER_USER_SCRAM_CREDENTIALS,
        "ScramCredentialUpsertion",
        name="a",
        mechanism=1,
        iterations=4096,
        salt=b"s",
        salted_password=hashlib.pbkdf2_hmac("sha256", b"secret", b"s", 4096),
    )
    alter, describe = ApiKey.ALTER_USER_SCRAM_CREDENTIALS, ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS
    check(await hosted.call(alter, 0, upsertions=[credential]), 0)
    check(await hosted.call(describe, 0, users=None), 0, least=2)
    connection = hosted.connection
    for version in versions(ApiKey.SASL_AUTHENTICATE):
        connection.security_protocol, connection.authenticated = "SASL_PLAINTEXT", False
        connection.sasl = None
        await hosted.call(ApiKey.SASL_HANDSHAKE, 1, mechanism="SCRAM-SHA-256")
        client = ScramClient(PeerCredentials("a", "secret", "SCRAM-SHA-256"), "nonce")
        answer = await hosted.call(ApiKey.SASL_AUTHENTICATE, version, auth_bytes=client.first())
        check(answer, version)
        final = client.final(bytes(answer.auth_bytes))
        check(await hosted.call(ApiKey.SASL_AUTHENTICATE, version, auth_bytes=final), version)


async def test_configs_cluster_and_produce(broker: OneBroker) -> None:
    await ensure_layout(broker.coordinator)
    await broker.configs.start()
    broker.topic("t")
    names = {"resource_type": 2, "resource_name": "t"}
    for api, resource, fields in (
        (ApiKey.ALTER_CONFIGS, "AlterConfigsResource", {"configs": []}),
        (ApiKey.INCREMENTAL_ALTER_CONFIGS, "AlterConfigsResource", {"configs": []}),
        (ApiKey.DESCRIBE_CONFIGS, "DescribeConfigsResource", {"configuration_keys": None}),
    ):
        request = load(api)[0](resources=[made(api, resource, **names, **fields)])
        for version in versions(api):
            check(await broker.ask(request, version), version)
    request = load(ApiKey.DESCRIBE_CLUSTER)[0]()
    for version in versions(ApiKey.DESCRIBE_CLUSTER):
        check(await broker.ask(request, version), version)
    api = ApiKey.PRODUCE
    data = made(api, "PartitionProduceData", index=0, records=batch("a"))
    topic = made(api, "TopicProduceData", name="t", partition_data=[data])
    request = load(api)[0](acks=1, timeout_ms=100, topic_data=[topic])
    for version in versions(api, 8):
        check(await broker.ask(request, version), version)
    await broker.configs.stop()
