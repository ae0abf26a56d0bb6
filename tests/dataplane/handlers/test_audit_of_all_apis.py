"""Every API once by whoever may nothing, and once by a super user: what the audit log says."""

from __future__ import annotations

import base64
import logging
import types
from typing import Any

import pytest

from dataplane.broker.security.audit_log import LOGGER
from dataplane.handlers.audit_entries import ENTRIES
from dataplane.handlers.registry import HANDLED
from dataplane.model.errors import ErrorCode
from dataplane.security.principal import Principal
from dataplane.wire.apis import API_TABLE, ApiKey, load
from dataplane.wire.schema import fields_of
from tests.dataplane.handlers.one_broker import NoController
from tests.dataplane.handlers.one_of_everything import NAME, SECRET, asked, filled
from tests.dataplane.handlers.test_audit import lines, started
from tests.dataplane.handlers.test_thread_counts import stopped

# What is not denied but answered without what the caller may not see, or is for everybody.
LEAVES_OUT = {
    ApiKey.LIST_GROUPS, ApiKey.LIST_TRANSACTIONS, ApiKey.DESCRIBE_DELEGATION_TOKEN,
    ApiKey.DESCRIBE_CLUSTER,
}  # fmt: skip
FOR_EVERYBODY = {ApiKey.API_VERSIONS, ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE}
# Their rules know owners and renewers; what they refuse is told with its outcome.
TOKENS = {
    ApiKey.CREATE_DELEGATION_TOKEN, ApiKey.RENEW_DELEGATION_TOKEN, ApiKey.EXPIRE_DELEGATION_TOKEN,
}  # fmt: skip
# Reads, a client's own work, and what brokers tell each other.
NOT_ADMINISTRATIVE = {
    ApiKey.PRODUCE, ApiKey.FETCH, ApiKey.LIST_OFFSETS, ApiKey.METADATA, ApiKey.LEADER_AND_ISR,
    ApiKey.STOP_REPLICA, ApiKey.UPDATE_METADATA, ApiKey.CONTROLLED_SHUTDOWN, ApiKey.OFFSET_COMMIT,
    ApiKey.OFFSET_FETCH, ApiKey.FIND_COORDINATOR, ApiKey.JOIN_GROUP, ApiKey.HEARTBEAT,
    ApiKey.LEAVE_GROUP, ApiKey.SYNC_GROUP, ApiKey.DESCRIBE_GROUPS, ApiKey.LIST_GROUPS,
    ApiKey.SASL_HANDSHAKE, ApiKey.API_VERSIONS, ApiKey.INIT_PRODUCER_ID,
    ApiKey.OFFSET_FOR_LEADER_EPOCH, ApiKey.ADD_PARTITIONS_TO_TXN, ApiKey.ADD_OFFSETS_TO_TXN,
    ApiKey.END_TXN, ApiKey.TXN_OFFSET_COMMIT, ApiKey.DESCRIBE_ACLS, ApiKey.DESCRIBE_CONFIGS,
    ApiKey.DESCRIBE_LOG_DIRS, ApiKey.SASL_AUTHENTICATE, ApiKey.DESCRIBE_DELEGATION_TOKEN,
    ApiKey.LIST_PARTITION_REASSIGNMENTS, ApiKey.DESCRIBE_CLIENT_QUOTAS,
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, ApiKey.ALTER_PARTITION, ApiKey.DESCRIBE_CLUSTER,
    ApiKey.DESCRIBE_PRODUCERS, ApiKey.DESCRIBE_TRANSACTIONS, ApiKey.LIST_TRANSACTIONS,
    ApiKey.ALLOCATE_PRODUCER_IDS, ApiKey.CONSUMER_GROUP_HEARTBEAT, ApiKey.CONSUMER_GROUP_DESCRIBE,
    ApiKey.DESCRIBE_TOPIC_PARTITIONS,
}  # fmt: skip
ADMINISTRATIVE = set(HANDLED) - NOT_ADMINISTRATIVE


class ActiveController(NoController):
    """Who is denied gets no further than to be told so."""

    is_active = True
    context = types.SimpleNamespace(topics={NAME: None}, partition_count=1)

    async def submit(self, _work: object) -> dict[object, str]:
        """By id there is no topic; nothing else is asked before who may."""
        return {}


@pytest.fixture(autouse=True)
def _listening(caplog):
    caplog.set_level(logging.INFO, LOGGER)


def secrets_in(caplog) -> list[str]:
    forms = (SECRET.decode(), SECRET.hex(), base64.b64encode(SECRET).decode()[:-3])
    written = "".join(record.getMessage() for record in caplog.records)
    return [form for form in forms if form in written]


def test_every_api_is_one_or_the_other() -> None:
    assert set(ENTRIES) | TOKENS == ADMINISTRATIVE
    assert not NOT_ADMINISTRATIVE - set(HANDLED)


@pytest.mark.parametrize("api", sorted(HANDLED), ids=lambda api: api.name)
async def test_who_may_nothing_leaves_a_line_of_each_denial(caplog, api: ApiKey) -> None:
    broker = await started(
        "mallory", controller=ActiveController(), delegation_token_secret_key="key"
    )
    broker.topic(NAME)
    broker.connection.authenticated = lambda: None
    broker.connection.close_after_answer = lambda: None
    broker.info.security_protocol = "SASL_PLAINTEXT"
    request, version = asked(api)
    await broker.ask(request, version)
    assert secrets_in(caplog) == []
    found = lines(caplog)
    name = API_TABLE[api].name
    if api in LEAVES_OUT | FOR_EVERYBODY:
        assert [each for each in found if each["event"] == "denied"] == []
    elif api in TOKENS - {ApiKey.CREATE_DELEGATION_TOKEN}:
        assert [(x["event"], x["outcome"]) for x in found] == [
            ("administered", "DELEGATION_TOKEN_NOT_FOUND")
        ]
    else:
        denied = [each for each in found if each["event"] == "denied"]
        assert denied, found
        assert {(each["api"], each["principal"]) for each in denied} == {(name, "User:mallory")}
        assert not [each for each in found if each.get("outcome") == "SUCCESS"]
    await stopped(broker)


@pytest.mark.parametrize("api", sorted(NOT_ADMINISTRATIVE), ids=lambda api: api.name)
def test_what_governs_nothing_has_no_entries(api: ApiKey) -> None:
    assert api not in ENTRIES


@pytest.mark.parametrize("code", [0, ErrorCode.POLICY_VIOLATION], ids=["done", "refused"])
@pytest.mark.parametrize("api", sorted(ENTRIES), ids=lambda api: api.name)
async def test_what_was_done_or_refused_is_a_line_of_what_it_was(api: ApiKey, code: int) -> None:
    """By the answer of one of everything; in every version."""
    lowest, highest = HANDLED[api]
    for version in range(lowest, highest + 1):
        request = filled(api, load(api)[0], version)
        response = filled(api, load(api)[1], version)
        _fail(response, code)
        found = list(ENTRIES[api](request, response))
        assert {each.code for each in found} == {code}, version
        assert all((each.operation and ":" in each.resource) or code for each in found)
        told = repr(found)
        assert SECRET.decode() not in told
        assert NAME in told or "bob" in told
        assert "1000.0" not in told, "no value"


def _fail(response: Any, code: int) -> None:
    for item in fields_of(type(response)):
        value = getattr(response, item.name)
        if item.name == "error_code":
            setattr(response, item.name, code)
        elif isinstance(value, list):
            for each in value:
                if hasattr(type(each), "__wire_fields__"):
                    _fail(each, code)


async def test_changes_of_a_token_name_it_and_not_its_secret(caplog) -> None:
    broker = await started("alice", delegation_token_secret_key="key")
    broker.info.security_protocol = "SASL_PLAINTEXT"
    await broker.authorizer.tokens.start()
    make = load(ApiKey.CREATE_DELEGATION_TOKEN)[0]
    made = await broker.ask(make(max_lifetime_ms=-1), 3)
    secret = bytes(made.hmac)
    renew, expire = load(ApiKey.RENEW_DELEGATION_TOKEN)[0], load(ApiKey.EXPIRE_DELEGATION_TOKEN)[0]
    await broker.ask(renew(hmac=secret, renew_period_ms=60_000), 2)
    broker.info.principal = Principal.user("mallory")
    await broker.ask(expire(hmac=secret, expiry_time_period_ms=-1), 2)
    broker.info.principal = Principal.user("alice")
    await broker.ask(expire(hmac=secret, expiry_time_period_ms=-1), 2)
    written = "".join(record.getMessage() for record in caplog.records)
    found = lines(caplog)
    token = f"DelegationToken:{made.token_id}"
    assert [(x["principal"], x["operation"], x["resource"], x["outcome"]) for x in found] == [
        ("User:alice", "CREATE_TOKEN", token, "SUCCESS"),
        ("User:alice", "RENEW_TOKEN", token, "SUCCESS"),
        ("User:mallory", "EXPIRE_TOKEN", token, "DELEGATION_TOKEN_OWNER_MISMATCH"),
        ("User:alice", "EXPIRE_TOKEN", token, "SUCCESS"),
    ]
    for form in (secret.hex(), base64.b64encode(secret).decode(), secret.decode("latin-1")):
        assert form not in written
    await stopped(broker)


@pytest.mark.parametrize(
    ("listener", "client_id", "told"),
    [
        ("PLAINTEXT", "broker-2", 0),
        ("PLAINTEXT", "kafka-transactions", 1),
        ("EXTERNAL", "broker-2", 1),
    ],
)
async def test_markers_of_an_administrator_are_told_and_a_brokers_are_not(
    caplog, listener: str, client_id: str, told: int
) -> None:
    broker = await started()
    broker.info.listener_name = listener
    request, version = asked(ApiKey.WRITE_TXN_MARKERS)
    await broker.ask(request, version, client_id)
    found = lines(caplog)
    assert [(x["operation"], x["resource"]) for x in found] == [
        ("END_TRANSACTION", f"Partition:{NAME}-0")
    ] * told
    await stopped(broker)
