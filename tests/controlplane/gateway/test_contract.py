"""What every gateway promises, asked of the fake and of real brokers alike.

The fake stands in for the brokers in all other tests of the control plane; here it is held to
what brokers do.
"""

import itertools
import time

import pytest

from controlplane.gateway.errors import GatewayError
from controlplane.gateway.types import (
    EARLIEST,
    LATEST,
    TP,
    AclBinding,
    CommittedOffset,
    NewTopic,
)

_numbers = itertools.count()


@pytest.fixture
def name(kind):
    return f"contract.{kind}.{next(_numbers)}"


def until(what, seconds=20.0):
    """Brokers learn of changes a moment after the controller has made them."""
    deadline_s = time.monotonic() + seconds
    while True:
        found = what()
        if found or time.monotonic() > deadline_s:
            assert found
            return found
        time.sleep(0.02)


def made(gateway, name, partitions=1, rf=3, **configs):
    wanted = {key.replace("_", "."): value for key, value in configs.items()}
    gateway.create_topic(
        NewTopic(name=name, partitions=partitions, replication_factor=rf, configs=wanted)
    )
    return until(lambda: ready(gateway, name, partitions))


def ready(gateway, name, partitions):
    topic = gateway.describe_topics([name]).get(name)
    if topic is None or len(topic.partitions) != partitions:
        return None
    is_ready = all(
        part.leader is not None and set(part.isr) == set(part.replicas) for part in topic.partitions
    )
    return topic if is_ready else None


def test_preferred_leaders_are_elected_and_who_leads_already_is_no_refusal(gateway, name):
    made(gateway, name, partitions=2)
    every = {TP(name, 0), TP(name, 1), TP(name, 7)}
    found = gateway.elect_preferred_leaders(every)
    assert found == {TP(name, 7): "UNKNOWN_TOPIC_OR_PARTITION"}
    assert gateway.elect_preferred_leaders([]) == {}
    parts = gateway.describe_topics([name])[name].partitions
    assert [part.leader for part in parts] == [part.replicas[0] for part in parts]


def refusal(call, *arguments, **named):
    with pytest.raises(GatewayError) as caught:
        call(*arguments, **named)
    assert not caught.value.unknown_outcome
    return caught.value.code


def test_the_cluster_names_its_brokers_and_its_controller(gateway):
    found = gateway.describe_cluster()
    assert len(found.brokers) == 3
    assert found.controller_id in {broker.id for broker in found.brokers}
    assert found.cluster_id


def test_a_topic_is_born_described_and_gone(gateway, name):
    topic = made(gateway, name, partitions=2, retention_ms="60000")
    assert topic.replication_factor == 3
    assert not topic.internal
    assert topic.topic_id
    assert name in {row.name for row in gateway.list_topics()}
    configs = {row.name: row for row in gateway.topic_configs([name])[name]}
    assert configs["retention.ms"].value == "60000"
    assert not configs["retention.ms"].is_default
    assert configs["cleanup.policy"].is_default
    assert refusal(
        gateway.create_topic, NewTopic(name=name, partitions=1, replication_factor=1)
    ) == ("TOPIC_ALREADY_EXISTS")
    gateway.delete_topic(name)
    until(lambda: name not in gateway.describe_topics([name]))
    until(lambda: name not in {row.name for row in gateway.list_topics()})


def test_deleting_what_is_not_there_names_it(gateway, name):
    assert refusal(gateway.delete_topic, name) == "UNKNOWN_TOPIC_OR_PARTITION"


def test_a_dry_run_makes_nothing(gateway, name):
    wanted = NewTopic(name=name, partitions=1, replication_factor=3)
    gateway.create_topic(wanted, validate_only=True)
    assert gateway.describe_topics([name]) == {}
    made(gateway, name)
    gateway.create_partitions(name, 3, validate_only=True)
    gateway.alter_topic_configs(name, {"retention.ms": "1000"}, validate_only=True)
    assert len(gateway.describe_topics([name])[name].partitions) == 1
    configs = {row.name: row for row in gateway.topic_configs([name])[name]}
    assert configs["retention.ms"].is_default


def test_impossible_topics_are_refused_by_name(gateway, name):
    for dry in (True, False):
        too_many = NewTopic(name=name, partitions=1, replication_factor=9)
        assert refusal(gateway.create_topic, too_many, validate_only=dry) == (
            "INVALID_REPLICATION_FACTOR"
        )
        for configs in ({"retention.ms": "soon"}, {"no.such.key": "1"}):
            wrong = NewTopic(name=name, partitions=1, replication_factor=1, configs=configs)
            assert refusal(gateway.create_topic, wrong, validate_only=dry) == "INVALID_CONFIG"
    assert gateway.describe_topics([name]) == {}


def test_partitions_are_added_never_removed(gateway, name):
    made(gateway, name)
    gateway.create_partitions(name, 3)
    until(lambda: ready(gateway, name, 3))
    assert refusal(gateway.create_partitions, name, 2) == "INVALID_PARTITIONS"
    assert refusal(gateway.create_partitions, name + ".no", 2) == "UNKNOWN_TOPIC_OR_PARTITION"


def test_settings_change_and_go_back_to_their_defaults(gateway, name):
    made(gateway, name, retention_ms="60000")

    def setting(key):
        return {row.name: row for row in gateway.topic_configs([name])[name]}[key]

    gateway.alter_topic_configs(name, {"max.message.bytes": "2000"})
    until(lambda: setting("max.message.bytes").value == "2000")
    assert setting("retention.ms").value == "60000", "other keys stay"
    gateway.alter_topic_configs(name, {"retention.ms": None})
    until(lambda: setting("retention.ms").is_default)
    assert refusal(gateway.alter_topic_configs, name, {"retention.ms": "soon"}) == "INVALID_CONFIG"
    assert refusal(gateway.alter_topic_configs, name, {"no.such": "1"}) == "INVALID_CONFIG"
    assert refusal(gateway.alter_topic_configs, name + ".no", {"retention.ms": "1"}) == (
        "UNKNOWN_TOPIC_OR_PARTITION"
    )


def test_settings_that_nobody_gave_are_left_out_rather_than_none(gateway, name):
    made(gateway, name)
    assert set(gateway.topic_configs([name, name + ".no"])) == {name}


def test_one_broker_can_be_asked_alone(gateway, clients, name):
    topic = made(gateway, name, rf=2)
    clients.produce(name, 1)
    for broker in topic.partitions[0].replicas:
        found = until(lambda broker=broker: gateway.log_dirs([name], brokers=[broker]))
        assert {row.broker for row in found} == {broker}
    group = f"{name}.readers"
    clients.joined(group, name)()
    (coordinator,) = [
        broker.id
        for broker in gateway.describe_cluster().brokers
        if group in {row.group for row in gateway.list_groups([broker.id])}
    ]
    assert gateway.describe_groups([group])[group].coordinator == coordinator


def test_every_broker_answers_from_its_own_memory(gateway, name):
    made(gateway, name)
    gateway.upsert_user(name, "SCRAM-SHA-256", "first")
    rule = AclBinding(
        principal=f"User:{name}",
        host="*",
        operation="READ",
        permission="ALLOW",
        resource_type="TOPIC",
        resource_name=name,
        pattern_type="LITERAL",
    )
    gateway.create_acls([rule])
    for node in gateway.describe_cluster().brokers:
        view = gateway.at(node.id)
        until(lambda view=view: view.describe_topics([name]).get(name))
        until(lambda view=view: name in {row.username for row in view.list_users()})
        until(lambda view=view: rule in view.list_acls())
        assert "retention.ms" in {row.name for row in view.topic_configs([name])[name]}


def test_a_broker_that_is_not_there_does_not_answer(gateway):
    with pytest.raises(GatewayError) as caught:
        gateway.at(99).describe_topics(["any"])
    assert caught.value.retriable


def test_single_settings_can_be_asked_for(gateway, name):
    made(gateway, name)
    (row,) = gateway.topic_configs([name], ["retention.ms"])[name]
    assert row.name == "retention.ms"
    broker = gateway.describe_cluster().brokers[0].id
    key = "follower.replication.throttled.rate"
    view = gateway.at(broker)
    view.alter_broker_configs(broker, {key: "2000000"})
    until(lambda: [each.value for each in view.broker_configs([broker], [key])[broker]])
    view.alter_broker_configs(broker, {key: None})
    assert gateway.broker_configs([broker], ["no.such.key"]) == {broker: []}


def test_moves_of_no_partition_are_none(gateway):
    assert gateway.list_reassignments([]) == []


def test_broker_settings_are_set_and_taken_back(gateway):
    broker = gateway.describe_cluster().brokers[0].id
    key = "leader.replication.throttled.rate"

    def own():
        return {
            row.name: row.value
            for row in gateway.broker_configs([broker])[broker]
            if not row.is_default
        }.get(key)

    gateway.alter_broker_configs(broker, {key: "1000000"})
    until(lambda: own() == "1000000")
    gateway.alter_broker_configs(broker, {key: None})
    until(lambda: own() is None)


def test_a_default_of_all_brokers_is_set_and_taken_back(gateway):
    brokers = [node.id for node in gateway.describe_cluster().brokers]
    key = "log.cleaner.min.compaction.lag.ms"

    def defaults():
        found = gateway.broker_configs(brokers, [key])
        return {
            (row.value, row.source)
            for broker in brokers
            for row in found[broker]
            if row.source == "DYNAMIC_DEFAULT_BROKER_CONFIG"
        }

    gateway.alter_default_broker_configs({key: "1000"})
    until(lambda: defaults() == {("1000", "DYNAMIC_DEFAULT_BROKER_CONFIG")})
    gateway.alter_default_broker_configs({key: None})
    until(lambda: not defaults())


def test_users_come_change_and_go(gateway, name):
    def mechanisms():
        return {row.mechanism for row in gateway.list_users() if row.username == name}

    gateway.upsert_user(name, "SCRAM-SHA-512", "first")
    until(lambda: mechanisms() == {"SCRAM-SHA-512"})
    gateway.upsert_user(name, "SCRAM-SHA-512", "second")
    gateway.upsert_user(name, "SCRAM-SHA-256", "second")
    until(lambda: mechanisms() == {"SCRAM-SHA-256", "SCRAM-SHA-512"})
    gateway.delete_user(name, "SCRAM-SHA-512")
    until(lambda: mechanisms() == {"SCRAM-SHA-256"})
    assert refusal(gateway.delete_user, name, "SCRAM-SHA-512") == "RESOURCE_NOT_FOUND"
    gateway.delete_user(name, "SCRAM-SHA-256")
    until(lambda: not mechanisms())


def test_rules_come_and_go_one_by_one(gateway, name):
    def rule(**changes):
        values = {
            "principal": f"User:{name}",
            "host": "*",
            "operation": "READ",
            "permission": "ALLOW",
            "resource_type": "TOPIC",
            "resource_name": name,
            "pattern_type": "LITERAL",
        }
        return AclBinding(**{**values, **changes})

    def mine():
        return {row for row in gateway.list_acls() if row.principal == f"User:{name}"}

    rules = [
        rule(),
        rule(pattern_type="PREFIXED"),
        rule(permission="DENY"),
        rule(operation="WRITE"),
        rule(resource_type="GROUP"),
        rule(resource_type="CLUSTER", resource_name="kafka-cluster", operation="DESCRIBE"),
        rule(resource_type="TRANSACTIONAL_ID", operation="DESCRIBE"),
        rule(host="10.0.0.1"),
    ]
    gateway.create_acls(rules)
    until(lambda: mine() == set(rules))
    gateway.create_acls(rules[:1])  # again is the same
    gateway.delete_acls(rules[1:2])
    until(lambda: mine() == {*rules} - {rules[1]})
    gateway.delete_acls(rules)  # one of them is gone already
    until(lambda: mine() == set())


def test_groups_and_their_offsets(gateway, clients, name):
    made(gateway, name, partitions=2)
    group, tps = f"{name}.readers", [TP(name, 0), TP(name, 1)]
    leave = clients.joined(group, name)
    described = gateway.describe_groups([group])[group]
    assert described.state == "Stable"
    assert len(described.members) == 1
    assert described.members[0].client_id
    assert group in {row.group for row in gateway.list_groups()}
    offsets = {tp: CommittedOffset(offset=0) for tp in tps}
    assert refusal(gateway.commit_group_offsets, group, offsets) == "UNKNOWN_MEMBER_ID"
    assert refusal(gateway.delete_group, group) == "NON_EMPTY_GROUP"
    leave()
    until(lambda: gateway.describe_groups([group])[group].state == "Empty")
    gateway.commit_group_offsets(group, {tps[0]: CommittedOffset(offset=3, metadata="note")})
    gateway.commit_group_offsets(group, {tps[1]: CommittedOffset(offset=0)})
    found = gateway.group_offsets([group])[group]
    assert {tp: at.offset for tp, at in found.items()} == {tps[0]: 3, tps[1]: 0}
    assert found[tps[0]].metadata == "note"
    gateway.delete_group_offsets(group, [tps[0]])
    assert set(gateway.group_offsets([group])[group]) == {tps[1]}
    gateway.delete_group(group)
    assert gateway.describe_groups([group])[group].state == "Dead"
    assert gateway.group_offsets([group]) == {group: {}}
    assert group not in {row.group for row in gateway.list_groups()}
    assert refusal(gateway.delete_group, group) == "GROUP_ID_NOT_FOUND"


def test_an_unknown_group_is_dead_and_has_no_offsets(gateway, name):
    assert gateway.describe_groups([name])[name].state == "Dead"
    assert gateway.group_offsets([name]) == {name: {}}
    assert name not in {row.group for row in gateway.list_groups()}


def test_offsets_by_position_and_by_time(gateway, clients, name):
    made(gateway, name, partitions=2, retention_ms="-1")
    clients.produce(name, 5)
    first, second = TP(name, 0), TP(name, 1)

    def at(spec):
        return {tp: row.offset for tp, row in gateway.offsets({first: spec, second: spec}).items()}

    assert at(EARLIEST) == {first: 0, second: 0}
    assert at(LATEST) == {first: 5, second: 0}
    assert at(3_000)[first] == 2
    assert at(900_000)[first] == -1
    assert at(3_000)[second] == -1


def test_records_are_deleted_up_to_an_offset_and_no_further(gateway, clients, name):
    made(gateway, name, partitions=2, retention_ms="-1")
    clients.produce(name, 5)
    first, second = TP(name, 0), TP(name, 1)

    def begins():
        found = gateway.offsets({first: EARLIEST, second: EARLIEST})
        return {tp: row.offset for tp, row in found.items()}

    gateway.delete_records({first: 3, second: 0})
    assert begins() == {first: 3, second: 0}
    gateway.delete_records({first: 2})  # lower than it begins already
    assert begins() == {first: 3, second: 0}
    assert refusal(gateway.delete_records, {first: 6}) == "OFFSET_OUT_OF_RANGE"
    gateway.delete_records({first: 5})
    assert begins() == {first: 5, second: 0}
    assert gateway.offsets({first: LATEST})[first].offset == 5


def test_of_a_compacted_topic_no_records_are_deleted(gateway, clients, name):
    made(gateway, name, cleanup_policy="compact")
    clients.produce(name, 5)
    assert refusal(gateway.delete_records, {TP(name, 0): 3}) == "POLICY_VIOLATION"
    assert gateway.offsets({TP(name, 0): EARLIEST})[TP(name, 0)].offset == 0


def test_offsets_leave_out_what_is_not_there(gateway, name):
    made(gateway, name)
    asked = {TP(name, 0): LATEST, TP(name, 7): LATEST, TP(name + ".no", 0): LATEST}
    assert set(gateway.offsets(asked)) == {TP(name, 0)}


def test_plain_producers_leave_no_trace_and_what_is_not_there_is_refused_alone(
    gateway, clients, name
):
    (part,) = made(gateway, name).partitions
    clients.produce(name, 5)
    asked = [TP(name, 0), TP(name, 7), TP(name + ".no", 0)]
    found = {row.tp: row for row in gateway.describe_producers(asked, broker=part.leader)}
    assert (found[asked[0]].refused, found[asked[0]].producers) == ("", ())
    assert [found[tp].refused for tp in asked[1:]] == ["UNKNOWN_TOPIC_OR_PARTITION"] * 2
    assert gateway.describe_producers([], broker=part.leader) == []


def test_producers_without_a_transactional_id_have_no_transaction_anywhere(gateway):
    for node in gateway.describe_cluster().brokers:
        assert gateway.transactions([123_456_789], broker=node.id) == []
        assert gateway.transactions([], broker=node.id) == []


def test_log_directories_name_every_replica(gateway, clients, name):
    made(gateway, name)
    clients.produce(name, 5)
    brokers = {broker.id for broker in gateway.describe_cluster().brokers}
    found = until(
        lambda: (
            [
                row
                for row in gateway.log_dirs([name])
                if row.tp == TP(name, 0) and row.size_bytes >= 500
            ]
            if len(gateway.log_dirs([name])) == 3
            else None
        )
    )
    assert {row.broker for row in found} <= brokers
    assert name in {row.tp.topic for row in gateway.log_dirs()}
    assert gateway.log_dirs([name + ".no"]) == []
    spaces = gateway.log_dir_space(brokers)
    assert {(row.broker, row.log_dir) for row in found} <= {
        (row.broker, row.log_dir) for row in spaces
    }
    for row in spaces:
        assert row.total_bytes is not None
        assert row.usable_bytes is not None
        assert 0 < row.usable_bytes < row.total_bytes
    (one,) = {row.broker for row in gateway.log_dir_space([min(brokers)])}
    assert one == min(brokers)


def test_a_partition_moves_and_a_move_is_taken_back(gateway, clients, name):
    topic = made(gateway, name, rf=1)
    clients.produce(name, 5)
    (source,) = topic.partitions[0].replicas
    target = next(row.id for row in gateway.describe_cluster().brokers if row.id != source)
    tp = TP(name, 0)
    assert refusal(gateway.reassign, {tp: None}) == "NO_REASSIGNMENT_IN_PROGRESS"
    gateway.reassign({tp: [target]})

    def moved():
        ongoing = {row.tp for row in gateway.list_reassignments([tp])}
        now = gateway.describe_topics([name])[name].partitions[0]
        return tp not in ongoing and now.replicas == (target,)

    until(moved)
    until(lambda: {row.broker for row in gateway.log_dirs([name])} == {target})


def test_moves_to_nowhere_are_refused(gateway, name):
    made(gateway, name, rf=1)
    assert refusal(gateway.reassign, {TP(name, 0): [99]}) == "INVALID_REPLICA_ASSIGNMENT"
    assert refusal(gateway.reassign, {TP(name, 9): [1]}) == "UNKNOWN_TOPIC_OR_PARTITION"
    assert refusal(gateway.reassign, {TP(name + ".no", 0): [1]}) == "UNKNOWN_TOPIC_OR_PARTITION"


def test_asking_for_nothing_asks_nobody(gateway):
    assert gateway.describe_topics([]) == {}
    assert gateway.topic_configs([]) == {}
    assert gateway.describe_groups([]) == {}
    assert gateway.group_offsets([]) == {}
    assert gateway.offsets({}) == {}


@pytest.mark.parametrize("illegal", ["a b", "a\x00b", "é", "..", "x" * 250])
def test_illegal_names_are_not_there_rather_than_an_accident(gateway, illegal):
    assert gateway.describe_topics([illegal]) == {}


@pytest.mark.parametrize("client", [(), (("client-id", "etl"),), (("client-id", None),)])
def test_quotas_come_change_and_go_key_by_key(gateway, name, client):
    entity = (("user", name), *client)

    def mine(view=gateway):
        return [dict(row.values) for row in view.list_quotas() if row.entity == entity]

    gateway.alter_quotas(entity, {"producer_byte_rate": 2_000_000, "request_percentage": 12.5})
    wanted = [{"producer_byte_rate": 2_000_000, "request_percentage": 12.5}]
    for node in gateway.describe_cluster().brokers:
        view = gateway.at(node.id)
        until(lambda view=view: mine(view) == wanted)
    gateway.alter_quotas(entity, {"producer_byte_rate": None, "consumer_byte_rate": 1_000_000})
    until(lambda: mine() == [{"consumer_byte_rate": 1_000_000, "request_percentage": 12.5}])
    gateway.alter_quotas(entity, {"consumer_byte_rate": None, "request_percentage": None})
    until(lambda: mine() == [])
