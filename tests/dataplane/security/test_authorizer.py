"""ACLs and credentials in ZooKeeper: written by any broker, in force on all."""

import asyncio
import base64
import json

import pytest

from dataplane.broker.security.authorizer import Authorizer
from dataplane.config.broker_config import BrokerConfig
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.ports.coordinator import BadVersionError, NoNodeError
from dataplane.ports.fakes.clock import FakeClock
from dataplane.ports.fakes.coordinator import FakeZooKeeper
from dataplane.ports.fakes.entropy import FakeEntropy
from dataplane.security.acl import (
    AclEntry,
    AclFilter,
    AclOperation,
    Permission,
    ResourcePattern,
    ResourceType,
)
from dataplane.security.principal import Principal
from dataplane.security.scram import ScramCredential, ScramMechanism

ALICE = Principal.user("alice")
READ_ORDERS = AclEntry(ALICE, "*", AclOperation.READ, Permission.ALLOW)
WRITE_ORDERS = AclEntry(ALICE, "*", AclOperation.WRITE, Permission.ALLOW)
ORDERS = ResourcePattern.literal(ResourceType.TOPIC, "orders")
PREFIXED = ResourcePattern.prefixed(ResourceType.TOPIC, "ord")
SHA_256, SHA_512 = ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512
CREDENTIAL = ScramCredential.from_password(SHA_256, "secret", b"salt", 4096)


def bootstrap_text() -> str:
    parts = (CREDENTIAL.salt, CREDENTIAL.stored_key, CREDENTIAL.server_key)
    return "admin=SCRAM-SHA-256:4096:" + ":".join(base64.b64encode(x).decode() for x in parts)


class Brokers:
    """Authorizers of several brokers on one ZooKeeper."""

    def __init__(self) -> None:
        self.zookeeper = FakeZooKeeper()
        self.sessions = {}

    async def start(self, **settings: str) -> Authorizer:
        defaults = {
            "listeners": "PLAINTEXT://127.0.0.1:0",
            "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
            "super.users": "User:root",
            "penstock.inter.broker.username": "broker",
        }
        given = {key.replace("_", "."): value for key, value in settings.items()}
        session = self.zookeeper.connect()
        config = BrokerConfig.parse(defaults | given)
        authorizer = Authorizer(session, FakeClock(), FakeEntropy(), config)
        await authorizer.start()
        self.sessions[authorizer] = session
        return authorizer


@pytest.fixture
async def brokers():
    made = Brokers()
    yield made
    for authorizer in made.sessions:
        await authorizer.stop()


def may_read(authorizer: Authorizer, principal: Principal = ALICE) -> bool:
    return authorizer.authorize(
        principal, "127.0.0.1", AclOperation.READ, ResourceType.TOPIC, "orders"
    )


async def until(condition) -> None:
    for _ in range(200):
        if condition():
            return
        await asyncio.sleep(0)
    pytest.fail("it did not come about")


@pytest.mark.parametrize("pattern", [ORDERS, PREFIXED])
async def test_a_grant_is_in_force_here_at_once_and_soon_elsewhere(brokers, pattern):
    one, two = await brokers.start(), await brokers.start()
    await one.create(pattern, [READ_ORDERS])
    assert may_read(one)
    await until(lambda: may_read(two))
    await two.delete(pattern, [READ_ORDERS])
    assert not may_read(two)
    await until(lambda: not may_read(one))


async def test_grants_survive_a_restart(brokers):
    one = await brokers.start()
    await one.create(ORDERS, [READ_ORDERS])
    await one.create(PREFIXED, [WRITE_ORDERS])
    other = await brokers.start()
    assert may_read(other)
    assert len(other.find(AclFilter())) == 2


async def test_the_nodes_are_kafkas(brokers):
    one = await brokers.start()
    await one.create(ORDERS, [READ_ORDERS])
    data, _ = await brokers.sessions[one].get("/kafka-acl/Topic/orders")
    assert json.loads(data)["acls"][0]["principal"] == "User:alice"
    (change,) = await brokers.sessions[one].children("/kafka-acl-changes")
    assert change == "acl_changes_0000000000"
    await one.delete(ORDERS, [READ_ORDERS])
    with pytest.raises(NoNodeError):
        await brokers.sessions[one].get("/kafka-acl/Topic/orders")


async def test_concurrent_grants_on_one_resource_are_all_kept(brokers):
    one, two = await brokers.start(), await brokers.start()
    entries = [
        AclEntry(Principal.user(f"u{number}"), "*", AclOperation.READ, Permission.ALLOW)
        for number in range(10)
    ]
    await asyncio.gather(
        *((one, two)[number % 2].create(ORDERS, [entry]) for number, entry in enumerate(entries))
    )
    third = await brokers.start()
    assert third.index.entries(ORDERS) == frozenset(entries)


async def test_a_lost_reply_is_read_back(brokers):
    one, two = await brokers.start(), await brokers.start()
    brokers.sessions[one].lose_reply_of_next()
    await one.create(ORDERS, [READ_ORDERS])
    assert may_read(one)
    await until(lambda: may_read(two))


async def test_endless_contention_is_an_error_and_changes_nothing(brokers):
    one = await brokers.start()
    for _ in range(20):
        brokers.sessions[one].fail_next(BadVersionError())
    with pytest.raises(KafkaError) as refused:
        await one.create(ORDERS, [READ_ORDERS])
    assert refused.value.code is ErrorCode.REQUEST_TIMED_OUT
    assert not may_read(one)


async def test_creating_what_is_there_notifies_nobody(brokers):
    one = await brokers.start()
    await one.create(ORDERS, [READ_ORDERS])
    await one.create(ORDERS, [READ_ORDERS])
    assert len(await brokers.sessions[one].children("/kafka-acl-changes")) == 1


async def test_super_users_and_the_brokers_own_user(brokers):
    one = await brokers.start()
    assert may_read(one, Principal.user("root"))
    assert may_read(one, Principal.user("broker"))
    assert not may_read(one)


async def test_without_an_authorizer_everything_is_allowed_and_nothing_governed(brokers):
    one = await brokers.start(authorizer_class_name="")
    assert may_read(one)
    with pytest.raises(KafkaError) as refused:
        one.find(AclFilter())
    assert refused.value.code is ErrorCode.SECURITY_DISABLED
    with pytest.raises(KafkaError):
        await one.create(ORDERS, [READ_ORDERS])


async def test_an_unreadable_change_node_is_skipped(brokers):
    one, two = await brokers.start(), await brokers.start()
    await brokers.sessions[one].create("/kafka-acl-changes/acl_changes_", b"?", sequential=True)
    await one.create(ORDERS, [READ_ORDERS])
    await until(lambda: may_read(two))


async def test_credentials_are_known_everywhere(brokers):
    one, two = await brokers.start(), await brokers.start()
    await one.scram.alter("alice", {SHA_256: CREDENTIAL})
    assert await two.scram.credential(SHA_256, "alice") == CREDENTIAL
    changed = ScramCredential.from_password(SHA_256, "newer", b"salt", 4096)
    await two.scram.alter("alice", {SHA_256: changed})
    await until(lambda: one.scram.all_users()["alice"][SHA_256] == changed)
    await one.scram.alter("alice", {SHA_256: None})
    assert await one.scram.credential(SHA_256, "alice") is None
    await until(lambda: "alice" not in two.scram.all_users())


async def test_quotas_beside_credentials_are_left_alone(brokers):
    one = await brokers.start()
    node = {"version": 1, "config": {"producer_byte_rate": "1024"}}
    path = "/config/users/a%2Ab%20c"
    await brokers.sessions[one].create(path, json.dumps(node).encode(), make_parents=True)
    await one.scram.alter("a*b c", {SHA_256: CREDENTIAL})
    data, _ = await brokers.sessions[one].get(path)
    config = json.loads(data)["config"]
    assert config["producer_byte_rate"] == "1024"
    assert config["SCRAM-SHA-256"] == CREDENTIAL.to_text()
    (change,) = await brokers.sessions[one].children("/config/changes")
    data, _ = await brokers.sessions[one].get(f"/config/changes/{change}")
    assert json.loads(data) == {"version": 2, "entity_path": "users/a%2Ab%20c"}


async def test_deleting_an_absent_credential(brokers):
    one = await brokers.start()
    await one.scram.alter("alice", {SHA_256: CREDENTIAL})
    with pytest.raises(KafkaError) as refused:
        await one.scram.alter("alice", {SHA_256: None, SHA_512: None})
    assert refused.value.code is ErrorCode.RESOURCE_NOT_FOUND
    assert await one.scram.credential(SHA_256, "alice") == CREDENTIAL


async def test_bootstrap_users_are_created_once(brokers):
    text = bootstrap_text()
    one = await brokers.start(penstock_bootstrap_scram=text)
    assert await one.scram.credential(SHA_256, "admin") == CREDENTIAL
    changed = ScramCredential.from_password(SHA_256, "changed", b"salt", 4096)
    await one.scram.alter("admin", {SHA_256: changed})
    again = await brokers.start(penstock_bootstrap_scram=text)
    assert await again.scram.credential(SHA_256, "admin") == changed
