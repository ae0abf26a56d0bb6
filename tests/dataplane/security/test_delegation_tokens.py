"""Delegation tokens: who may make, see, renew and end them, and what they open."""

import asyncio
import base64
import logging
import sys

import pytest

from dataplane.broker.networking.peer_login import PeerCredentials, ScramClient
from dataplane.broker.security.audit_log import LOGGER
from dataplane.handlers.registry import HANDLED
from dataplane.model.errors import ErrorCode as E
from dataplane.model.errors import KafkaError
from dataplane.security.acl import AclOperation, PatternType, Permission, ResourceType
from dataplane.security.delegation_tokens import (
    TOKENS,
    DelegationToken,
    Lifetimes,
    decode_token,
    encode_token,
)
from dataplane.security.principal import ANONYMOUS, Principal
from dataplane.wire import apis
from dataplane.wire.apis import ApiKey
from tests.dataplane.groups.hosted import Hosted
from tests.waiting import until

ROOT, ALICE, BOB, CAROL = (Principal.user(name) for name in ("root", "alice", "bob", "carol"))
DAY_MS = 86_400_000
TOKEN = DelegationToken("id", ALICE, BOB, (CAROL,), 1, 2, 3)


def struct(api: ApiKey, name: str):
    request_class, _ = apis.load(api)
    return getattr(sys.modules[request_class.__module__], name)


@pytest.fixture
async def hosted():
    made = await Hosted(
        partition_count=1,
        authorizer_class_name="kafka.security.authorizer.AclAuthorizer",
        super_users="User:root",
        delegation_token_secret_key="key of all brokers",
    ).start()
    made.connection.security_protocol = "SASL_PLAINTEXT"
    made.connection.principal = ALICE
    yield made
    await made.stop()


async def make(hosted, version=3, *, renewers=(), owner=None, lifetime_ms=-1):
    renewer = struct(ApiKey.CREATE_DELEGATION_TOKEN, "CreatableRenewers")
    return await hosted.call(
        ApiKey.CREATE_DELEGATION_TOKEN,
        version,
        renewers=[renewer(principal_type=p.type, principal_name=p.name) for p in renewers],
        max_lifetime_ms=lifetime_ms,
        **(
            {"owner_principal_type": owner.type, "owner_principal_name": owner.name}
            if owner
            else {}
        ),
    )


async def seen(hosted, *owners):
    owner = struct(ApiKey.DESCRIBE_DELEGATION_TOKEN, "DescribeDelegationTokenOwner")
    listed = [owner(principal_type=p.type, principal_name=p.name) for p in owners] or None
    answer = await hosted.call(ApiKey.DESCRIBE_DELEGATION_TOKEN, 3, owners=listed)
    return {token.token_id: token for token in answer.tokens}


async def change(hosted, verb, made, period_ms=-1):
    period = "renew_period_ms" if verb == "RENEW" else "expiry_time_period_ms"
    fields = {"hmac": bytes(made.hmac), period: period_ms}
    answer = await hosted.call(ApiKey[f"{verb}_DELEGATION_TOKEN"], 2, **fields)
    return answer.expiry_timestamp_ms


async def refused(code, coroutine):
    with pytest.raises(KafkaError) as error:
        await coroutine
    assert error.value.code is code


async def grant(hosted, principal, operation, resource_type, name):
    api = ApiKey.CREATE_ACLS
    before, hosted.connection.principal = hosted.connection.principal, ROOT
    creation = struct(api, "AclCreation")(
        resource_type=resource_type,
        resource_name=name,
        resource_pattern_type=PatternType.LITERAL,
        principal=str(principal),
        host="*",
        operation=operation,
        permission_type=Permission.ALLOW,
    )
    answer = await hosted.call(api, 3, creations=[creation])
    assert answer.results[0].error_code == E.NONE
    hosted.connection.principal = before


class TokenClient(ScramClient):
    """With extensions in its first message, as KIP-48 has them."""

    def __init__(self, credentials, nonce, extension):
        super().__init__(credentials, nonce)
        self._first_bare += extension


async def log_in(hosted, made, *, secret=None, extension=",tokenauth=true", name=None):
    """As a client that was given the token; the last answer."""
    connection = hosted.connection
    connection.authenticated, connection.sasl, connection.sasl_mechanism = False, None, None
    connection.principal, connection.is_token_login = ANONYMOUS, False
    password = secret or base64.b64encode(bytes(made.hmac)).decode()
    mechanism = "SCRAM-SHA-512"
    await hosted.call(ApiKey.SASL_HANDSHAKE, 1, mechanism=mechanism)
    credentials = PeerCredentials(name or made.token_id, password, mechanism)
    client = TokenClient(credentials, "nonce", extension)
    answer = await hosted.call(ApiKey.SASL_AUTHENTICATE, 2, auth_bytes=client.first())
    final = client.final(bytes(answer.auth_bytes))
    return await hosted.call(ApiKey.SASL_AUTHENTICATE, 2, auth_bytes=final)


@pytest.mark.parametrize("version", range(HANDLED[ApiKey.CREATE_DELEGATION_TOKEN][1] + 1))
async def test_a_token_is_made_and_described(hosted, version):
    made = await make(hosted, version, renewers=[BOB])
    now_ms = hosted.clock.realtime_ms()
    assert (made.principal_type, made.principal_name) == ("User", "alice")
    assert made.issue_timestamp_ms == now_ms
    assert made.expiry_timestamp_ms == now_ms + DAY_MS
    assert made.max_timestamp_ms == now_ms + 7 * DAY_MS
    found = (await seen(hosted))[made.token_id]
    assert bytes(found.hmac) == bytes(made.hmac)
    assert [renewer.principal_name for renewer in found.renewers] == ["bob"]
    assert found.token_requester_principal_name == "alice"


async def test_its_secret_is_stored_nowhere(hosted):
    made = await make(hosted)
    data, _ = await hosted.coordinator.get(f"{TOKENS}/{made.token_id}")
    for form in (bytes(made.hmac), base64.b64encode(bytes(made.hmac)), b"key of all"):
        assert form not in data
    assert decode_token(data).owner == ALICE


async def test_it_logs_in_as_its_owner_until_it_expires(hosted):
    made = await make(hosted, lifetime_ms=60_000)
    answer = await log_in(hosted, made)
    assert answer.error_code == E.NONE
    assert answer.session_lifetime_ms == 60_000
    assert hosted.connection.principal == ALICE
    await refused(E.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, make(hosted))
    await refused(E.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, seen(hosted))
    await refused(E.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, change(hosted, "RENEW", made))
    await refused(E.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, change(hosted, "EXPIRE", made))
    hosted.clock.advance(60_001)
    assert (await log_in(hosted, made)).error_code == E.SASL_AUTHENTICATION_FAILED


@pytest.mark.parametrize(
    "forged",
    [
        {"secret": "x"},
        {"extension": ""},
        {"extension": ",tokenauth=false"},
        {"name": "unknown"},
        {"name": "../../brokers"},
        {"name": "alice"},
    ],
)
async def test_forged_logins(hosted, forged):
    made = await make(hosted)
    assert (await log_in(hosted, made, **forged)).error_code == E.SASL_AUTHENTICATION_FAILED
    assert hosted.connection.principal == ANONYMOUS


@pytest.mark.parametrize(
    ("protocol", "principal"), [("PLAINTEXT", ALICE), ("PLAINTEXT", ANONYMOUS), ("SSL", ANONYMOUS)]
)
async def test_whoever_has_not_logged_in_gets_none(hosted, protocol, principal):
    hosted.connection.security_protocol, hosted.connection.principal = protocol, principal
    await refused(E.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, make(hosted))


async def test_without_a_key_there_are_none():
    made = await Hosted().start()
    made.connection.security_protocol, made.connection.principal = "SASL_SSL", ALICE
    await refused(E.DELEGATION_TOKEN_AUTH_DISABLED, make(made))
    await refused(E.DELEGATION_TOKEN_AUTH_DISABLED, seen(made))
    await made.stop()


async def test_renewing_and_ending(hosted):
    made = await make(hosted, renewers=[BOB])
    start_ms = hosted.clock.realtime_ms()
    hosted.connection.principal = CAROL
    await refused(E.DELEGATION_TOKEN_OWNER_MISMATCH, change(hosted, "RENEW", made))
    await refused(E.DELEGATION_TOKEN_OWNER_MISMATCH, change(hosted, "EXPIRE", made))
    hosted.connection.principal = BOB
    hosted.clock.advance(1_000)
    assert await change(hosted, "RENEW", made) == start_ms + 1_000 + DAY_MS
    assert await change(hosted, "RENEW", made, 2**62) == made.max_timestamp_ms
    assert await change(hosted, "EXPIRE", made, 5_000) == start_ms + 6_000
    made.hmac = bytes(made.hmac)[:-1] + b"?"
    await refused(E.DELEGATION_TOKEN_NOT_FOUND, change(hosted, "RENEW", made))


async def test_an_expired_token_stays_so(hosted):
    made = await make(hosted)
    await change(hosted, "EXPIRE", made, 0)
    hosted.clock.advance(1)
    await refused(E.DELEGATION_TOKEN_EXPIRED, change(hosted, "RENEW", made))
    assert await seen(hosted) == {}


async def test_a_token_is_ended_at_once(hosted):
    made = await make(hosted)
    assert await change(hosted, "EXPIRE", made) == hosted.clock.realtime_ms()
    assert (await log_in(hosted, made)).error_code == E.SASL_AUTHENTICATION_FAILED


async def test_for_another_owner_it_takes_a_grant(hosted):
    await refused(E.DELEGATION_TOKEN_AUTHORIZATION_FAILED, make(hosted, owner=BOB))
    await grant(hosted, ALICE, AclOperation.CREATE_TOKENS, ResourceType.USER, "User:bob")
    made = await make(hosted, owner=BOB)
    assert (made.principal_name, made.token_requester_principal_name) == ("bob", "alice")
    assert made.token_id in await seen(hosted, BOB), "who has asked for it sees it"
    await refused(E.DELEGATION_TOKEN_OWNER_MISMATCH, change(hosted, "RENEW", made))
    await log_in(hosted, made)
    assert hosted.connection.principal == BOB


async def test_no_grant_makes_anybody_a_super_user(hosted):
    await grant(hosted, ALICE, AclOperation.CREATE_TOKENS, ResourceType.USER, "*")
    await grant(hosted, ALICE, AclOperation.DESCRIBE_TOKENS, ResourceType.USER, "*")
    await grant(hosted, ALICE, AclOperation.DESCRIBE, ResourceType.DELEGATION_TOKEN, "*")
    await refused(E.DELEGATION_TOKEN_AUTHORIZATION_FAILED, make(hosted, owner=ROOT))
    hosted.connection.principal = ROOT
    made = await make(hosted)
    hosted.connection.principal = ALICE
    assert made.token_id not in await seen(hosted)


async def test_who_sees_which_tokens(hosted):
    made = await make(hosted, renewers=[BOB])
    hosted.connection.principal = BOB
    assert set(await seen(hosted)) == set(await seen(hosted, ALICE, CAROL)) == {made.token_id}
    assert await seen(hosted, CAROL) == {}
    hosted.connection.principal = CAROL
    assert await seen(hosted) == {}
    await grant(hosted, CAROL, AclOperation.DESCRIBE, ResourceType.DELEGATION_TOKEN, made.token_id)
    assert set(await seen(hosted)) == {made.token_id}


async def test_tokens_that_are_left_out_are_no_denials(hosted, caplog):
    caplog.set_level(logging.INFO, LOGGER)
    await make(hosted)
    caplog.clear()
    hosted.connection.principal = CAROL
    assert await seen(hosted) == {}
    assert [record for record in caplog.records if record.name == LOGGER] == []


@pytest.mark.parametrize(
    ("renewers", "code"),
    [
        ([Principal("Group", "g")], E.INVALID_PRINCIPAL_TYPE),
        ([Principal.user("")], E.INVALID_REQUEST),
        ([Principal.user(str(number)) for number in range(101)], E.INVALID_REQUEST),
    ],
)
async def test_renewers_that_cannot_be(hosted, renewers, code):
    await refused(code, make(hosted, renewers=renewers))


async def test_other_brokers_learn_of_it(hosted):
    other = type(hosted.authorizer.tokens)(
        hosted.coordinator,
        hosted.clock,
        hosted.handlers.entropy,
        hosted.handlers.configs.broker_config,
    )
    await other.start()
    made = await make(hosted)
    await until(lambda: other.live(made.token_id) is not None)
    assert other.secret(made.token_id) == bytes(made.hmac)
    await change(hosted, "EXPIRE", made)
    await until(lambda: other.live(made.token_id) is None)
    await other.stop()


async def test_expired_tokens_are_removed():
    made = await Hosted(
        delegation_token_secret_key="k", delegation_token_expiry_check_interval_ms="20"
    ).start()
    made.connection.security_protocol, made.connection.principal = "SASL_SSL", ALICE
    token = await make(made, lifetime_ms=10)
    kept = await make(made)
    made.clock.advance(11)
    async with asyncio.timeout(10):
        while await made.coordinator.children(TOKENS) != [kept.token_id]:
            await asyncio.sleep(0.01)
    assert made.authorizer.tokens.live(token.token_id) is None
    await made.stop()


def test_nodes():
    assert decode_token(encode_token(TOKEN)) == TOKEN
    old = (
        b'{"version":1,"owner":"User:alice","renewers":["User:carol"],"issueTimestamp":1,'
        b'"maxTimestamp":3,"expiryTimestamp":2,"tokenId":"id"}'
    )
    assert decode_token(old) == TOKEN._replace(requester=ALICE)
    for broken in (b"", b"[]", b"{}", b'{"version":4}', old.replace(b"User:alice", b"alice")):
        with pytest.raises(ValueError):
            decode_token(broken)


def test_lifetimes():
    bounds = Lifetimes(longest_ms=100, between_renewals_ms=30)
    assert bounds.of_new(1_000, -1) == (1_030, 1_100)
    assert bounds.of_new(1_000, 20) == (1_020, 1_020)
    assert bounds.of_new(1_000, 10**18) == (1_030, 1_100)
    token = TOKEN._replace(ends_ms=1_100)
    assert bounds.renewed(token, 1_050, -1).expires_ms == 1_080
    assert bounds.renewed(token, 1_090, -1).expires_ms == 1_100
    assert bounds.renewed(token, 1_090, 0).expires_ms == 1_090
