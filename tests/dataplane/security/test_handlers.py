"""ACL, SCRAM and SASL APIs in every version, and what group APIs refuse without a grant."""

import hashlib
import json
import sys

import pytest

from dataplane.broker.networking.peer_login import PeerCredentials, ScramClient
from dataplane.broker.security.audit_log import LOGGER
from dataplane.handlers.registry import HANDLED
from dataplane.handlers.sasl_authenticate import bare_token
from dataplane.model.errors import ErrorCode as E
from dataplane.model.errors import KafkaError
from dataplane.security.acl import AclOperation, PatternType, Permission, ResourceType
from dataplane.security.principal import ANONYMOUS, Principal
from dataplane.wire import apis
from dataplane.wire.apis import ApiKey
from tests.dataplane.groups.hosted import Hosted

ROOT, ALICE = Principal.user("root"), Principal.user("alice")


def versions(api: ApiKey) -> list[int]:
    lowest, highest = HANDLED[api]
    return list(range(lowest, highest + 1))


def struct(api: ApiKey, name: str):
    request_class, _ = apis.load(api)
    return getattr(sys.modules[request_class.__module__], name)


@pytest.fixture
async def hosted():
    made = await Hosted(
        partition_count=1,
        authorizer_class_name="kafka.security.authorizer.AclAuthorizer",
        super_users="User:root",
        sasl_jaas_config="m required password=hunter2;",
    ).start()
    await made.loaded()
    made.connection.principal = ROOT
    yield made
    await made.stop()


def creation(**changes):
    fields = {
        "resource_type": ResourceType.TOPIC,
        "resource_name": "t",
        "resource_pattern_type": PatternType.LITERAL,
        "principal": "User:alice",
        "host": "*",
        "operation": AclOperation.READ,
        "permission_type": Permission.ALLOW,
    }
    return struct(ApiKey.CREATE_ACLS, "AclCreation")(**(fields | changes))


EVERYTHING = {
    "resource_type_filter": ResourceType.ANY,
    "resource_name_filter": None,
    "pattern_type_filter": PatternType.ANY,
    "principal_filter": None,
    "host_filter": None,
    "operation": AclOperation.ANY,
    "permission_type": Permission.ANY,
}


@pytest.mark.parametrize("version", versions(ApiKey.CREATE_ACLS))
async def test_grants_are_created_described_and_deleted(hosted, version):
    creations = [creation()]
    if version >= 1:
        creations.append(creation(resource_pattern_type=PatternType.PREFIXED))
    answer = await hosted.call(ApiKey.CREATE_ACLS, version, creations=creations)
    assert [result.error_code for result in answer.results] == [0] * len(creations)
    wanted = EVERYTHING if version >= 1 else EVERYTHING | {"pattern_type_filter": 3}
    answer = await hosted.call(ApiKey.DESCRIBE_ACLS, version, **wanted)
    assert [(r.resource_name, r.pattern_type) for r in answer.resources] == [
        ("t", pattern) for pattern in (3, 4)[: len(creations)]
    ]
    assert answer.resources[0].acls[0].principal == "User:alice"
    filters = [struct(ApiKey.DELETE_ACLS, "DeleteAclsFilter")(**wanted)]
    answer = await hosted.call(ApiKey.DELETE_ACLS, version, filters=filters)
    assert len(answer.filter_results[0].matching_acls) == len(creations)
    assert (await hosted.call(ApiKey.DESCRIBE_ACLS, version, **wanted)).resources == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"resource_type": ResourceType.ANY}, "resource type"),
        ({"resource_type": 99}, "99"),
        ({"resource_pattern_type": PatternType.MATCH}, "pattern type"),
        ({"operation": AclOperation.ANY}, "operation"),
        ({"permission_type": Permission.ANY}, "permission"),
        ({"resource_name": ""}, "empty resource name"),
        ({"resource_name": "a/b"}, "slash"),
        ({"principal": "alice"}, "User:alice"),
        ({"host": ""}, "host"),
        ({"resource_type": ResourceType.CLUSTER}, "kafka-cluster"),
    ],
)
async def test_a_bad_grant_is_refused_by_itself(hosted, changes, words):
    creations = [creation(**changes), creation()]
    answer = await hosted.call(ApiKey.CREATE_ACLS, 3, creations=creations)
    bad, good = answer.results
    assert (bad.error_code, good.error_code) == (E.INVALID_REQUEST, E.NONE)
    assert words in bad.error_message


async def test_governing_needs_a_grant_on_the_cluster(hosted):
    hosted.connection.principal = ALICE
    for api, fields in (
        (ApiKey.CREATE_ACLS, {"creations": [creation()]}),
        (ApiKey.DESCRIBE_ACLS, EVERYTHING),
        (ApiKey.DELETE_ACLS, {}),
        (ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, {"users": None}),
    ):
        with pytest.raises(KafkaError) as refused:
            await hosted.call(api, HANDLED[api][1], **fields)
        assert refused.value.code is E.CLUSTER_AUTHORIZATION_FAILED
    deletion = struct(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, "ScramCredentialDeletion")
    answer = await hosted.call(
        ApiKey.ALTER_USER_SCRAM_CREDENTIALS, 0, deletions=[deletion(name="bob", mechanism=1)]
    )
    assert answer.results[0].error_code == E.CLUSTER_AUTHORIZATION_FAILED


async def test_groups_and_topics_need_grants(hosted):
    hosted.connection.principal = ALICE
    found = await hosted.call(ApiKey.FIND_COORDINATOR, 3, key="g")
    assert found.error_code == E.GROUP_AUTHORIZATION_FAILED
    for api, fields in (
        (ApiKey.JOIN_GROUP, {}),
        (ApiKey.SYNC_GROUP, {}),
        (ApiKey.HEARTBEAT, {}),
        (ApiKey.LEAVE_GROUP, {}),
    ):
        with pytest.raises(KafkaError) as refused:
            await hosted.call(api, HANDLED[api][1], group_id="g", **fields)
        assert refused.value.code is E.GROUP_AUTHORIZATION_FAILED
    partition = struct(ApiKey.OFFSET_COMMIT, "OffsetCommitRequestPartition")
    topic = struct(ApiKey.OFFSET_COMMIT, "OffsetCommitRequestTopic")
    topics = [topic(name="t", partitions=[partition(partition_index=0, committed_offset=1)])]
    committed = await hosted.call(ApiKey.OFFSET_COMMIT, 9, group_id="g", topics=topics)
    assert committed.topics[0].partitions[0].error_code == E.GROUP_AUTHORIZATION_FAILED
    described = await hosted.call(ApiKey.DESCRIBE_GROUPS, 5, groups=["g"])
    assert described.groups[0].error_code == E.GROUP_AUTHORIZATION_FAILED
    deleted = await hosted.call(ApiKey.DELETE_GROUPS, 2, groups_names=["g"])
    assert deleted.results[0].error_code == E.GROUP_AUTHORIZATION_FAILED
    with pytest.raises(KafkaError):
        await hosted.call(ApiKey.INIT_PRODUCER_ID, 4, transactional_id=None)


async def test_a_grant_opens_exactly_what_it_names(hosted):
    group = {"resource_type": ResourceType.GROUP, "resource_name": "g"}
    await hosted.call(ApiKey.CREATE_ACLS, 3, creations=[creation(**group), creation()])
    hosted.connection.principal = ALICE
    assert (await hosted.call(ApiKey.FIND_COORDINATOR, 3, key="g")).error_code == E.NONE
    topic = struct(ApiKey.OFFSET_COMMIT, "OffsetCommitRequestTopic")
    partition = struct(ApiKey.OFFSET_COMMIT, "OffsetCommitRequestPartition")
    topics = [
        topic(name=name, partitions=[partition(partition_index=0, committed_offset=1)])
        for name in ("t", "old")
    ]
    answer = await hosted.call(ApiKey.OFFSET_COMMIT, 7, group_id="g", topics=topics)
    assert [t.partitions[0].error_code for t in answer.topics] == [
        E.NONE,
        E.TOPIC_AUTHORIZATION_FAILED,
    ]
    # Committed by root meanwhile; alice asks for everything and sees what she may describe.
    hosted.connection.principal = ROOT
    await hosted.call(ApiKey.OFFSET_COMMIT, 7, group_id="g", topics=topics)
    hosted.connection.principal = ALICE
    answer = await hosted.call(ApiKey.OFFSET_FETCH, 7, group_id="g", topics=None)
    assert [t.name for t in answer.topics] == ["t"]
    listed = await hosted.call(ApiKey.LIST_GROUPS, 5)
    assert [item.group_id for item in listed.groups] == ["g"]


async def test_write_on_any_topic_gives_a_producer_id(hosted):
    write = creation(operation=AclOperation.WRITE, resource_pattern_type=PatternType.PREFIXED)
    await hosted.call(ApiKey.CREATE_ACLS, 3, creations=[write])
    hosted.connection.principal = ALICE
    answer = await hosted.call(ApiKey.INIT_PRODUCER_ID, 4, transactional_id=None)
    assert answer.producer_id == 0


async def test_without_an_authorizer_there_is_nothing_to_govern():
    made = await Hosted().start()
    with pytest.raises(KafkaError) as refused:
        await made.call(ApiKey.DESCRIBE_ACLS, 3, **EVERYTHING)
    assert refused.value.code is E.SECURITY_DISABLED
    answer = await made.call(ApiKey.CREATE_ACLS, 3, creations=[creation()])
    assert answer.results[0].error_code == E.SECURITY_DISABLED
    await made.stop()


def upsertion(name="alice", mechanism=1, iterations=4096, password="secret"):
    hash_name = {1: "sha256"}.get(mechanism, "sha512")
    return struct(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, "ScramCredentialUpsertion")(
        name=name,
        mechanism=mechanism,
        iterations=iterations,
        salt=b"salt",
        salted_password=hashlib.pbkdf2_hmac(
            hash_name, password.encode(), b"salt", max(1, iterations)
        ),
    )


async def alter(hosted, upsertions=(), deletions=()):
    deletion = struct(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, "ScramCredentialDeletion")
    answer = await hosted.call(
        ApiKey.ALTER_USER_SCRAM_CREDENTIALS,
        0,
        upsertions=list(upsertions),
        deletions=[deletion(name=name, mechanism=number) for name, number in deletions],
    )
    return {result.user: result.error_code for result in answer.results}


async def log_in(hosted, username, password, mechanism="SCRAM-SHA-256"):
    """As a client on a SASL listener; returns the last answer."""
    connection = hosted.connection
    connection.security_protocol, connection.authenticated = "SASL_PLAINTEXT", False
    connection.sasl, connection.principal = None, Principal.user("ANONYMOUS")
    answer = await hosted.call(ApiKey.SASL_HANDSHAKE, 1, mechanism=mechanism)
    if answer.error_code:
        return answer
    client = ScramClient(PeerCredentials(username, password, mechanism), "nonce")
    answer = await hosted.call(ApiKey.SASL_AUTHENTICATE, 2, auth_bytes=client.first())
    if answer.error_code:
        return answer
    final = client.final(bytes(answer.auth_bytes))
    answer = await hosted.call(ApiKey.SASL_AUTHENTICATE, 2, auth_bytes=final)
    if not answer.error_code:
        client.verify(bytes(answer.auth_bytes))
    return answer


@pytest.mark.parametrize(("mechanism", "number"), [("SCRAM-SHA-256", 1), ("SCRAM-SHA-512", 2)])
async def test_a_user_made_over_the_wire_can_log_in(hosted, mechanism, number):
    assert await alter(hosted, [upsertion(mechanism=number)]) == {"alice": E.NONE}
    answer = await log_in(hosted, "alice", "secret", mechanism)
    assert answer.error_code == E.NONE
    assert hosted.connection.authenticated
    assert hosted.connection.principal == ALICE
    assert not hosted.connection.close_after_answer


@pytest.mark.parametrize("salt", [b"", b"s", b"," * 200])
@pytest.mark.parametrize("size", [1, 31, 32, 33, 64, 65, 300])
@pytest.mark.parametrize(("mechanism", "number"), [("SCRAM-SHA-256", 1), ("SCRAM-SHA-512", 2)])
async def test_any_salt_and_salted_password_make_a_login(
    hosted, monkeypatch, *, mechanism, number, salt, size
):
    """Kafka looks at neither: another way of salting than PBKDF2 gives other lengths."""
    salted = bytes(range(1, 256))[:size].ljust(size, b"x")
    asked = upsertion(mechanism=number)
    asked.salt, asked.salted_password = salt, salted
    assert await alter(hosted, [asked]) == {"alice": E.NONE}
    answer = await log_in(hosted, "alice", "secret", mechanism)
    assert answer.error_code == E.SASL_AUTHENTICATION_FAILED
    hosted.connection.close_after_answer = False

    def own_way(_hash_name, _password, salt_given, iterations):
        assert (salt_given, iterations) == (salt, 4096)
        return salted

    monkeypatch.setattr(hashlib, "pbkdf2_hmac", own_way)
    answer = await log_in(hosted, "alice", "secret", mechanism)
    assert answer.error_code == E.NONE
    assert hosted.connection.principal == ALICE


async def test_a_password_without_salt_logs_in(hosted):
    asked = upsertion()
    asked.salt = b""
    asked.salted_password = hashlib.pbkdf2_hmac("sha256", b"secret", b"", 4096)
    assert await alter(hosted, [asked]) == {"alice": E.NONE}
    assert (await log_in(hosted, "alice", "secret")).error_code == E.NONE


async def test_refused_logins_close_the_connection(hosted):
    await alter(hosted, [upsertion()])
    answer = await log_in(hosted, "alice", "wrong")
    assert answer.error_code == E.SASL_AUTHENTICATION_FAILED
    assert not hosted.connection.authenticated
    assert hosted.connection.close_after_answer
    answer = await log_in(hosted, "alice", "secret", "PLAIN")
    assert answer.error_code == E.UNSUPPORTED_SASL_MECHANISM
    assert answer.mechanisms == ["SCRAM-SHA-256", "SCRAM-SHA-512"]


@pytest.mark.parametrize("password", ["secret", "wrong"])
async def test_bare_tokens_follow_the_old_handshake(hosted, password):
    await alter(hosted, [upsertion()])
    connection = hosted.connection
    connection.security_protocol, connection.authenticated = "SASL_PLAINTEXT", False
    answer = await hosted.call(ApiKey.SASL_HANDSHAKE, 0, mechanism="SCRAM-SHA-256")
    assert answer.error_code == E.NONE
    assert connection.bare_sasl_tokens
    client = ScramClient(PeerCredentials("alice", password, "SCRAM-SHA-256"), "nonce")
    challenge = await bare_token(hosted.handlers, connection, client.first())
    answer = await bare_token(hosted.handlers, connection, client.final(challenge))
    if password == "wrong":
        assert answer is None
        assert connection.close_after_answer
        assert not connection.authenticated
    else:
        client.verify(answer)
        assert connection.principal == ALICE
        assert not connection.bare_sasl_tokens


async def test_a_refused_login_is_logged_without_secrets(hosted, caplog):
    caplog.set_level("INFO")
    caplog.set_level("INFO", LOGGER)
    name = "eve\nroot " + "x" * 100
    answer = await log_in(hosted, name, "hunter2", "SCRAM-SHA-512")
    assert answer.error_code == E.SASL_AUTHENTICATION_FAILED
    await log_in(hosted, "alice", "hunter2", "PLAIN\x1b[1m")
    first, second = (record.getMessage() for record in caplog.records if "login" in record.msg)
    for part in ("127.0.0.1", "SCRAM-SHA-512", "'eve\\nroot xxx", "…: ", "invalid credentials"):
        assert part in first
    assert "'PLAIN\\x1b[1m'" in second
    for line in (first, second):
        assert "hunter2" not in line
        assert "\n" not in line
        assert len(line) < 250
    texts = [record.getMessage() for record in caplog.records if record.name == LOGGER]
    first, second = (json.loads(text) for text in texts)
    assert (first["event"], first["resource"]) == ("login-failed", f"User:{name}")
    assert (second["event"], second["outcome"]) == ("login-failed", "DENIED")
    assert "UNSUPPORTED_SASL_MECHANISM" in second["detail"]
    assert not any("hunter2" in text or "\n" in text for text in texts)


async def test_a_deleted_user_cannot_log_in(hosted):
    await alter(hosted, [upsertion()])
    assert await alter(hosted, deletions=[("alice", 1)]) == {"alice": E.NONE}
    answer = await log_in(hosted, "alice", "secret")
    assert answer.error_code == E.SASL_AUTHENTICATION_FAILED


JAAS = "org.apache.kafka.common.security.plain.PlainLoginModule required"


@pytest.mark.parametrize(
    ("password", "code"), [("secret", E.NONE), ("hunter2", E.SASL_AUTHENTICATION_FAILED)]
)
async def test_plain_takes_its_users_from_the_listener(password, code, caplog):
    caplog.set_level("INFO")
    made = Hosted(
        listener_name_plaintext_sasl_enabled_mechanisms="PLAIN",
        listener_name_plaintext_plain_sasl_jaas_config=f'{JAAS} user_alice="secret";',
    )
    connection = made.connection
    connection.security_protocol, connection.authenticated = "SASL_PLAINTEXT", False
    assert (await made.call(ApiKey.SASL_HANDSHAKE, 1, mechanism="PLAIN")).mechanisms == ["PLAIN"]
    token = f"\0alice\0{password}".encode()
    answer = await made.call(ApiKey.SASL_AUTHENTICATE, 2, auth_bytes=token)
    assert answer.error_code == code
    assert connection.authenticated is (code is E.NONE)
    assert connection.close_after_answer is (code is not E.NONE)
    assert connection.principal == (ALICE if connection.authenticated else ANONYMOUS)
    assert "hunter2" not in caplog.text + (answer.error_message or "")


async def test_secrets_of_plain_are_not_described(hosted):
    described = await hosted.call(
        ApiKey.DESCRIBE_CONFIGS,
        4,
        resources=[
            struct(ApiKey.DESCRIBE_CONFIGS, "DescribeConfigsResource")(
                resource_type=4, resource_name="1", configuration_keys=None
            )
        ],
        include_synonyms=True,
    )
    entries = [entry for entry in described.results[0].configs if "jaas" in entry.name]
    assert entries
    assert all(entry.is_sensitive and entry.value is None for entry in entries)
    assert all(synonym.value is None for entry in entries for synonym in entry.synonyms)


async def test_tokens_without_a_handshake(hosted):
    answer = await hosted.call(ApiKey.SASL_AUTHENTICATE, 2, auth_bytes=b"n,,n=alice,r=x")
    assert answer.error_code == E.ILLEGAL_SASL_STATE
    answer = await hosted.call(ApiKey.SASL_HANDSHAKE, 1, mechanism="SCRAM-SHA-256")
    assert answer.error_code == E.ILLEGAL_SASL_STATE


async def test_alterations_that_are_refused(hosted):
    await alter(hosted, [upsertion("known")])
    without = upsertion("without")
    without.salted_password = b""
    errors = await alter(
        hosted,
        [
            upsertion("few", iterations=4095),
            upsertion("many", iterations=16385),
            upsertion("strange", mechanism=9),
            upsertion(""),
            upsertion("twice"),
            upsertion("twice"),
            upsertion("twice and few"),
            upsertion("twice and few", iterations=1),
            upsertion("strange and few", iterations=1),
            without,
            upsertion("fine"),
        ],
        [("ghost", 1), ("known", 1), ("strange and few", 9)],
    )
    assert errors == {
        "few": E.UNACCEPTABLE_CREDENTIAL,
        "many": E.UNACCEPTABLE_CREDENTIAL,
        "strange": E.UNSUPPORTED_SASL_MECHANISM,
        "": E.UNACCEPTABLE_CREDENTIAL,
        "twice": E.DUPLICATE_RESOURCE,
        "twice and few": E.UNACCEPTABLE_CREDENTIAL,  # what is unfit is said before what is twice
        "strange and few": E.UNACCEPTABLE_CREDENTIAL,
        "without": E.UNACCEPTABLE_CREDENTIAL,
        "fine": E.NONE,
        "ghost": E.RESOURCE_NOT_FOUND,
        "known": E.NONE,
    }


async def test_credentials_are_described_without_secrets(hosted):
    await alter(hosted, [upsertion(), upsertion(mechanism=2, iterations=8192)])
    user = struct(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, "UserName")
    names = ["alice", "ghost", "twice", "twice"]
    answer = await hosted.call(
        ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, 0, users=[user(name=name) for name in names]
    )
    found = {result.user: result for result in answer.results}
    assert [(i.mechanism, i.iterations) for i in found["alice"].credential_infos] == [
        (1, 4096),
        (2, 8192),
    ]
    assert found["ghost"].error_code == E.RESOURCE_NOT_FOUND
    assert found["twice"].error_code == E.DUPLICATE_RESOURCE
    answer = await hosted.call(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, 0, users=None)
    assert [result.user for result in answer.results] == ["alice"]
