"""What requests leave in the audit log, and that no secret is left anywhere."""

from __future__ import annotations

import json
import logging
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dataplane.broker.metadata.registration import ensure_layout
from dataplane.broker.security.audit_log import LOGGER
from dataplane.config import BROKER_CONFIGS, BrokerConfig, ConfigError, ConfigType
from dataplane.handlers import audit_entries
from dataplane.security.principal import Principal
from dataplane.wire.apis import ApiKey
from dataplane.wire.errors import WireError
from dataplane.wire.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialUpsertion,
)
from dataplane.wire.messages.create_acls import AclCreation, CreateAclsRequest
from dataplane.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from dataplane.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from dataplane.wire.messages.list_groups import ListGroupsRequest
from dataplane.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.dataplane.handlers.one_broker import ME, OneBroker
from tests.dataplane.handlers.test_thread_counts import incremental, replacing, stopped

SECRETS = sorted(name for name, key in BROKER_CONFIGS.items() if key.type is ConfigType.PASSWORD)


def lines(caplog):
    found = [json.loads(r.getMessage()) for r in caplog.records if r.name == LOGGER]
    caplog.clear()
    return found


async def started(name="admin", **others):
    broker = OneBroker(
        **{
            "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
            "super.users": "User:admin",
            **others,
        }
    )
    await ensure_layout(broker.coordinator)
    await broker.configs.start()
    await broker.authorizer.start()
    broker.info.principal = Principal.user(name)
    return broker


@pytest.fixture(autouse=True)
def _listening(caplog):
    caplog.set_level(logging.INFO, LOGGER)


async def test_a_denied_request_is_one_line_and_what_is_only_left_out_is_none(caplog):
    broker = await started("mallory")
    broker.topic("secret")
    await broker.ask(MetadataRequest(topics=None), 9)
    await broker.ask(ListGroupsRequest(), 4)
    assert lines(caplog) == []
    await broker.ask(MetadataRequest(topics=[MetadataRequestTopic(name="secret")]), 9)
    await broker.ask(incremental(str(ME), "log.retention.ms", "60000", dry=False), 1)
    found = [(x["event"], x["api"], x["operation"], x["resource"]) for x in lines(caplog)]
    assert found == [
        ("denied", "Metadata", "DESCRIBE", "TOPIC:LITERAL:secret"),
        ("denied", "IncrementalAlterConfigs", "ALTER_CONFIGS", "CLUSTER:LITERAL:kafka-cluster"),
    ]
    await stopped(broker)


async def test_what_was_administered_is_said_with_its_outcome(caplog):
    broker = await started()
    broker.topic("t")
    acl = AclCreation(
        resource_type=2, resource_name="t", principal="User:bob", host="*", operation=3,
        permission_type=3,
    )  # fmt: skip
    await broker.ask(CreateAclsRequest(creations=[acl]), 1)
    await broker.ask(incremental(str(ME), "log.retention.ms", "60000", dry=False), 1)
    await broker.ask(replacing(str(ME), "log.retention.ms", "no number", dry=False), 1)
    await broker.ask(incremental(str(ME), "log.retention.ms", "70000", dry=True), 1)
    records = DeleteRecordsTopic(
        name="t", partitions=[DeleteRecordsPartition(partition_index=0, offset=7)]
    )
    await broker.ask(DeleteRecordsRequest(topics=[records], timeout_ms=0), 1)
    found = lines(caplog)
    assert {x["event"] for x in found} == {"administered"}
    assert [(x["operation"], x["resource"], x["outcome"], x.get("detail")) for x in found] == [
        ("CREATE_ACL", "TOPIC:LITERAL:t", "SUCCESS", "ALLOW READ to User:bob from *"),
        ("ALTER_CONFIGS", f"Broker:{ME}", "SUCCESS", "log.retention.ms"),
        ("ALTER_CONFIGS", f"Broker:{ME}", "INVALID_CONFIG", "log.retention.ms"),
        ("DELETE", "Partition:t-0", "OFFSET_OUT_OF_RANGE", "before offset 7"),
    ]
    await stopped(broker)


@pytest.mark.parametrize("error", [KeyError("x"), WireError("y")])
async def test_what_cannot_be_told_is_answered_as_it_went(caplog, monkeypatch, error):
    """A bug in what reads the answer may neither lose it nor change it, nor be silent."""

    def broken(_request, _response):
        raise error

    monkeypatch.setitem(audit_entries.ENTRIES, ApiKey.CREATE_ACLS, broken)
    broker = await started()
    acl = AclCreation(
        resource_type=2, resource_name="t", principal="User:bob", host="*", operation=3,
        permission_type=3,
    )  # fmt: skip
    answer = await broker.ask(CreateAclsRequest(creations=[acl]), 1)
    assert [each.error_code for each in answer.results] == [0]
    assert broker.metrics.failed_requests.value == 1
    assert [(x["api"], x["operation"], x["outcome"]) for x in lines(caplog)] == [
        ("CreateAcls", "UNKNOWN", "UNKNOWN")
    ]
    await stopped(broker)


PASSWORDS = st.text(st.sampled_from("ABCDEFGHJKxyz0123456789!$%"), min_size=12, max_size=24).map(
    "Pw-{}".format
)


@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(password=PASSWORDS)
async def test_no_password_is_found_anywhere(caplog, password):
    caplog.set_level(logging.DEBUG)
    caplog.clear()
    jaas = (
        "org.apache.kafka.common.security.plain.PlainLoginModule required "
        f'username="a" password="{password}" user_a="{password}";'
    )
    static = dict.fromkeys(SECRETS, password)
    del static["penstock.bootstrap.scram"], static["sasl.jaas.config"]
    static["listener.name.plaintext.plain.sasl.jaas.config"] = jaas
    static["listener.name.plaintext.ssl.key.password"] = password
    broker = await started(**static)
    seen = []
    # Set by every key and every way, refused or not.
    for key in [*SECRETS, "listener.name.plaintext.ssl.key.password"]:
        for make in (incremental, replacing):
            seen += [
                await broker.ask(make(entity, key, password, dry=False), 1)
                for entity in ("", str(ME))
            ]
    upsertion = ScramCredentialUpsertion(
        name="user", mechanism=1, iterations=4096, salt=b"salt" * 4, salted_password=b"0" * 32
    )
    seen.append(await broker.ask(AlterUserScramCredentialsRequest(upsertions=[upsertion]), 0))
    # Described with everything that there is to say.
    for entity in ("", str(ME)):
        resource = DescribeConfigsResource(
            resource_type=4, resource_name=entity, configuration_keys=None
        )
        asked = DescribeConfigsRequest(
            resources=[resource], include_synonyms=True, include_documentation=True
        )
        answer = await broker.ask(asked, 4)
        described = {each.name: each for each in answer.results[0].configs}
        if entity:
            for key in SECRETS:
                if key in described:
                    assert described[key].is_sensitive
                    assert described[key].value is None
                    assert all(each.value is None for each in described[key].synonyms)
            assert len(described.keys() & set(SECRETS)) > 10
        seen.append(answer)
    for wrong in SECRETS:
        try:
            BROKER_CONFIGS[wrong].parse(password)
        except ConfigError as error:
            seen.append(str(error))
    text = repr(seen) + "".join(record.getMessage() for record in caplog.records)
    assert password not in text, [
        text[max(0, m.start() - 300) : m.end()] for m in re.finditer(re.escape(password), text)
    ][:2]
    assert not await kept(broker, password)
    await stopped(broker)


async def kept(broker, password, path="/"):
    """Paths of nodes of ZooKeeper that hold the password."""
    data, _stat = await broker.coordinator.get(path)
    found = [path] if password.encode() in data else []
    for name in await broker.coordinator.children(path):
        found += await kept(broker, password, f"{path.rstrip('/')}/{name}")
    return found


def test_a_refused_configuration_does_not_show_its_secrets():
    given = {"listeners": "PLAINTEXT://127.0.0.1:0", "ssl.key.password": "hunter2-secret"}
    with pytest.raises(ConfigError) as caught:
        BrokerConfig.parse({**given, "log.retention.ms": "x"})
    assert "hunter2" not in str(caught.value)
