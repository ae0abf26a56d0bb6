"""Offsets committed within transactions: by TxnOffsetCommit, counted by WriteTxnMarkers' markers."""

import asyncio

import pytest

from dataplane.broker.transactions import marker_sender
from dataplane.cluster.topic_names import OFFSETS_TOPIC
from dataplane.groups.requests import CommitRequest, JoinRequest, OffsetToCommit, Protocol
from dataplane.handlers import write_txn_markers
from dataplane.model.errors import ErrorCode as E
from dataplane.model.errors import KafkaError
from dataplane.model.ids import TopicPartition
from dataplane.security.acl import AclEntry, AclOperation, Permission, ResourcePattern, ResourceType
from dataplane.security.principal import ANONYMOUS, Principal
from dataplane.wire.apis import ApiKey
from dataplane.wire.messages.offset_fetch import (
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from dataplane.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from dataplane.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
)
from tests.dataplane.groups.hosted import Hosted, committed

GROUP, PRODUCER = "g", 7
ALICE = Principal.user("alice")
WITH_ACLS = {
    "authorizer_class_name": "kafka.security.authorizer.AclAuthorizer",
    "super_users": "User:ANONYMOUS",
}
WHERE = TopicPartition("t", 0)


@pytest.fixture
async def started():
    made = []

    async def start(**settings) -> Hosted:
        made.append(await Hosted(**settings).start())
        return await made[-1].loaded()

    yield start
    for hosted in made:
        await hosted.stop()


async def put(
    hosted: Hosted,
    offset: int,
    version: int = 3,
    *,
    epoch: int = 0,
    transactional_id: str = "x",
    **member,
) -> int:
    """The error of the one partition that is committed."""
    partition = TxnOffsetCommitRequestPartition(
        partition_index=0, committed_offset=offset, committed_metadata="m"
    )
    answer = await hosted.call(
        ApiKey.TXN_OFFSET_COMMIT,
        version,
        transactional_id=transactional_id,
        group_id=GROUP,
        producer_id=PRODUCER,
        producer_epoch=epoch,
        topics=[TxnOffsetCommitRequestTopic(name="t", partitions=[partition])],
        **member,
    )
    return answer.topics[0].partitions[0].error_code


async def end(hosted: Hosted, *, commits: bool, epoch: int = 0, coordinator_epoch: int = 1) -> int:
    index = hosted.group_coordinator.partition_of(GROUP).partition
    marker = WritableTxnMarker(
        producer_id=PRODUCER,
        producer_epoch=epoch,
        transaction_result=commits,
        coordinator_epoch=coordinator_epoch,
        topics=[WritableTxnMarkerTopic(name=OFFSETS_TOPIC, partition_indexes=[index])],
    )
    answer = await hosted.call(ApiKey.WRITE_TXN_MARKERS, 1, markers=[marker])
    return answer.markers[0].topics[0].partitions[0].error_code


async def fetched(hosted: Hosted, *, stable: bool = False) -> tuple[int, int]:
    group = OffsetFetchRequestGroup(
        group_id=GROUP, topics=[OffsetFetchRequestTopics(name="t", partition_indexes=[0])]
    )
    answer = await hosted.call(ApiKey.OFFSET_FETCH, 8, groups=[group], require_stable=stable)
    row = answer.groups[0].topics[0].partitions[0]
    return row.committed_offset, row.error_code


@pytest.mark.parametrize("version", range(5))
@pytest.mark.parametrize("commits", [True, False])
async def test_an_offset_counts_when_its_transaction_is_committed(started, version, commits):
    hosted = await started()
    assert await put(hosted, 42, version) == E.NONE
    assert await fetched(hosted) == (-1, E.NONE)
    assert await fetched(hosted, stable=True) == (-1, E.UNSTABLE_OFFSET_COMMIT)
    assert await end(hosted, commits=commits) == E.NONE
    assert await fetched(hosted, stable=True) == (42 if commits else -1, E.NONE)
    assert await end(hosted, commits=not commits) == E.NONE, "a marker more ends nothing"
    assert await fetched(hosted) == (42 if commits else -1, E.NONE)


@pytest.mark.parametrize("ends_before", [True, False])
async def test_whoever_coordinates_next_knows_what_is_pending(started, ends_before):
    hosted = await started()
    place = hosted.group_coordinator.partition_of(GROUP)
    await put(hosted, 42)
    if ends_before:
        await end(hosted, commits=True)
    hosted.follow(place)
    hosted.lead(place)
    if not ends_before:
        # It comes while the log is being read, or after: the offset counts either way.
        assert await end(hosted, commits=True) == E.NONE
    await hosted.loaded()
    assert await fetched(hosted, stable=True) == (42, E.NONE)


@pytest.mark.parametrize("is_reloaded", [True, False])
async def test_of_several_commits_the_one_that_was_stored_last_wins(started, is_reloaded):
    hosted = await started()
    place = hosted.group_coordinator.partition_of(GROUP)
    await put(hosted, 42)
    plain = CommitRequest(
        group_id=GROUP,
        member_id="",
        group_instance_id=None,
        generation=-1,
        offsets={WHERE: OffsetToCommit(offset=50)},
    )
    assert await committed(hosted.group_coordinator, plain) == {WHERE: E.NONE}
    assert await fetched(hosted, stable=True) == (-1, E.UNSTABLE_OFFSET_COMMIT)
    await end(hosted, commits=True)
    if is_reloaded:
        hosted.follow(place)
        hosted.lead(place)
        await hosted.loaded()
    assert await fetched(hosted, stable=True) == (50, E.NONE)


async def test_an_older_producer_or_coordinator_is_fenced(started):
    hosted = await started()
    await put(hosted, 42, epoch=3)
    assert await put(hosted, 43, epoch=2) == E.INVALID_PRODUCER_EPOCH
    assert await end(hosted, commits=True, epoch=2) == E.INVALID_PRODUCER_EPOCH
    assert await end(hosted, commits=False, epoch=4, coordinator_epoch=5) == E.NONE
    late = await end(hosted, commits=True, epoch=4, coordinator_epoch=4)
    assert late == E.TRANSACTION_COORDINATOR_FENCED
    assert await put(hosted, 44, epoch=3) == E.INVALID_PRODUCER_EPOCH
    assert await fetched(hosted, stable=True) == (-1, E.NONE)


async def test_who_says_which_member_it_is_must_be_that_one(started):
    hosted = await started()
    joined = await hosted.group_coordinator.join(
        JoinRequest(
            group_id=GROUP,
            member_id="",
            group_instance_id=None,
            client_id="c",
            client_host="h",
            session_timeout_ms=10_000,
            rebalance_timeout_ms=10_000,
            protocol_type="consumer",
            protocols=(Protocol("range", b""),),
            require_known_member_id=False,
        )
    )
    member = {"member_id": joined.member_id, "generation_id": joined.generation}
    assert await put(hosted, 1, **member) == E.NONE
    assert await put(hosted, 2, **(member | {"generation_id": 9})) == E.ILLEGAL_GENERATION
    assert await put(hosted, 3, **(member | {"member_id": "another"})) == E.UNKNOWN_MEMBER_ID
    assert await put(hosted, 4, version=2) == E.NONE, "an old client says nothing of itself"
    await end(hosted, commits=True)
    assert await fetched(hosted) == (4, E.NONE)


@pytest.mark.parametrize("version", range(5))
async def test_who_does_not_name_a_member_may_commit_for_a_consumer_group(started, version):
    """KAFKA-18060: `new ConsumerGroupMetadata("g")`, and all producers of before KIP-447."""
    hosted = await started()
    joined = await hosted.call(
        ApiKey.CONSUMER_GROUP_HEARTBEAT,
        0,
        group_id=GROUP,
        member_id="",
        member_epoch=0,
        rebalance_timeout_ms=10_000,
        subscribed_topic_names=["t"],
        topic_partitions=[],
    )
    assert joined.error_code == E.NONE
    assert await put(hosted, 5, version) == E.NONE
    if version >= 3:
        member = {"member_id": joined.member_id, "generation_id": joined.member_epoch}
        assert await put(hosted, 6, version, **member) == E.NONE
        stale = member | {"generation_id": joined.member_epoch + 1}
        assert await put(hosted, 7, version, **stale) == E.ILLEGAL_GENERATION
        unnamed = {"generation_id": joined.member_epoch}
        assert await put(hosted, 8, version, **unnamed) == E.UNKNOWN_MEMBER_ID
    assert await end(hosted, commits=True) == E.NONE
    assert await fetched(hosted, stable=True) == (5 if version < 3 else 6, E.NONE)


@pytest.mark.parametrize("version", range(5))
async def test_who_cannot_know_of_loading_is_told_that_nobody_is_there_yet(started, version):
    """Producers of before 2.0 stop for good at COORDINATOR_LOAD_IN_PROGRESS (KAFKA-7296)."""
    hosted = await started()
    known = E.COORDINATOR_LOAD_IN_PROGRESS if version >= 2 else E.COORDINATOR_NOT_AVAILABLE
    hosted.peers.verification = E.CONCURRENT_TRANSACTIONS
    assert await put(hosted, 5, version) == known
    place = hosted.group_coordinator.partition_of(GROUP)
    hosted.follow(place)
    hosted.lead(place)
    if version < 2:
        assert await put(hosted, 5, version) == known
    else:
        assert await refusal(put(hosted, 5, version)) is known


async def test_a_marker_is_answered_once_the_replicas_have_it(started):
    hosted = await started(replicas=(1, 2))
    putting = asyncio.create_task(put(hosted, 42))
    await asyncio.sleep(0.01)
    assert await fetched(hosted, stable=True) == (-1, E.UNSTABLE_OFFSET_COMMIT), "on its way"
    hosted.replicate()
    assert await putting == E.NONE
    ending = asyncio.create_task(end(hosted, commits=True))
    await asyncio.sleep(0.01)
    assert not ending.done()
    assert await fetched(hosted) == (-1, E.NONE)
    hosted.replicate()
    assert await ending == E.NONE
    assert await fetched(hosted, stable=True) == (42, E.NONE)


async def test_a_slow_marker_is_answered_before_the_coordinator_gives_up(started, monkeypatch):
    assert write_txn_markers.TIMEOUT_S * 1000 <= marker_sender.REQUEST_TIMEOUT_MS - 1000
    monkeypatch.setattr(write_txn_markers, "TIMEOUT_S", 0.05)
    hosted = await started(replicas=(1, 2))
    putting = asyncio.create_task(put(hosted, 42))
    await asyncio.sleep(0.01)
    hosted.replicate()
    assert await putting == E.NONE
    assert await end(hosted, commits=True) == E.REQUEST_TIMED_OUT
    assert await fetched(hosted) == (-1, E.NONE)
    hosted.replicate()
    assert await fetched(hosted, stable=True) == (42, E.NONE), "it is in the log and counts"


async def test_markers_for_partitions_that_are_led_elsewhere_are_refused(started):
    hosted = await started()
    hosted.follow(hosted.group_coordinator.partition_of(GROUP))
    assert await end(hosted, commits=True) == E.NOT_LEADER_OR_FOLLOWER


async def allow(hosted: Hosted, operation: AclOperation, kind: ResourceType, name: str) -> None:
    entry = AclEntry(ALICE, "*", operation, Permission.ALLOW)
    await hosted.authorizer.create(ResourcePattern.literal(kind, name), [entry])


async def refusal(asking) -> E:
    with pytest.raises(KafkaError) as refused:
        await asking
    return refused.value.code


async def test_offsets_need_grants_on_the_id_the_group_and_the_topic(started):
    hosted = await started(**WITH_ACLS)
    hosted.connection.principal = ALICE
    assert await refusal(put(hosted, 5)) is E.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    await allow(hosted, AclOperation.WRITE, ResourceType.TRANSACTIONAL_ID, "x")
    assert await refusal(put(hosted, 5)) is E.GROUP_AUTHORIZATION_FAILED
    await allow(hosted, AclOperation.READ, ResourceType.GROUP, GROUP)
    assert await put(hosted, 5) == E.TOPIC_AUTHORIZATION_FAILED
    await allow(hosted, AclOperation.READ, ResourceType.TOPIC, "t")
    assert await put(hosted, 5) == E.NONE


@pytest.mark.parametrize("tenants", [False, True])
async def test_no_client_ends_a_transaction_by_a_marker(started, tenants):
    """Where tenants grant, no grant makes a client a coordinator."""
    hosted = await started(**WITH_ACLS, penstock_tenant_configs_only=str(tenants).lower())
    assert await put(hosted, 5) == E.NONE
    hosted.connection.principal = ALICE
    assert await refusal(end(hosted, commits=True)) is E.CLUSTER_AUTHORIZATION_FAILED
    await allow(hosted, AclOperation.ALL, ResourceType.CLUSTER, "kafka-cluster")
    if tenants:
        assert await refusal(end(hosted, commits=True)) is E.CLUSTER_AUTHORIZATION_FAILED
    else:
        assert await end(hosted, commits=True) == E.NONE
    hosted.connection.principal = ANONYMOUS
    assert await fetched(hosted) == (-1 if tenants else 5, E.NONE)


async def test_the_first_offsets_of_a_transaction_are_asked_about_and_no_others(started):
    hosted = await started()
    assert await put(hosted, 42) == E.NONE
    assert await put(hosted, 43) == E.NONE
    assert hosted.peers.verifications == 1
    await end(hosted, commits=True)
    assert await put(hosted, 44) == E.NONE
    assert hosted.peers.verifications == 2, "another transaction"
    switched_off = await started(transaction_partition_verification_enable="false")
    assert await put(switched_off, 42) == E.NONE
    assert not switched_off.peers.verifications


@pytest.mark.parametrize(
    ("said", "answered"),
    [
        (E.INVALID_TXN_STATE, E.INVALID_TXN_STATE),
        (E.INVALID_PRODUCER_ID_MAPPING, E.INVALID_PRODUCER_ID_MAPPING),
        (E.PRODUCER_FENCED, E.INVALID_PRODUCER_EPOCH),
        (E.CONCURRENT_TRANSACTIONS, E.COORDINATOR_LOAD_IN_PROGRESS),
        (E.NOT_COORDINATOR, E.COORDINATOR_LOAD_IN_PROGRESS),
    ],
    ids=str,
)
async def test_offsets_that_the_transaction_does_not_have_are_not_stored(started, said, answered):
    hosted = await started()
    hosted.peers.verification = said
    assert await put(hosted, 42) == answered
    assert await fetched(hosted, stable=True) == (-1, E.NONE)
    place = hosted.group_coordinator.partition_of(GROUP)
    log = hosted.replica_manager.leader(place).log
    assert log.log_end_offset == 0
    assert not log.producers.verifications


@pytest.mark.parametrize("version", range(5))
async def test_newer_producers_are_told_that_aborting_is_enough(started, version):
    """INVALID_TXN_STATE is the end of a Java producer here."""
    hosted = await started()
    hosted.peers.verification = E.TRANSACTION_ABORTABLE
    known = E.TRANSACTION_ABORTABLE if version >= 4 else E.INVALID_TXN_STATE
    assert await put(hosted, 42, version) == known


@pytest.mark.parametrize(("transactional_id", "epoch"), [("another", 0), ("another", 1), ("x", 1)])
async def test_no_other_producer_gets_into_an_open_transaction(started, transactional_id, epoch):
    """Groups of all tenants share partitions: one must not fence another there."""
    hosted = await started()
    assert await put(hosted, 42) == E.NONE
    hosted.peers.verification = E.INVALID_PRODUCER_ID_MAPPING
    theirs = put(hosted, 7, epoch=epoch, transactional_id=transactional_id)
    assert await theirs == E.INVALID_PRODUCER_ID_MAPPING
    assert await put(hosted, 43) == E.NONE
    assert await end(hosted, commits=True) == E.NONE
    assert await fetched(hosted, stable=True) == (43, E.NONE)


async def test_offsets_behind_the_marker_of_their_transaction_are_not_stored(started):
    hosted = await started()
    hosted.peers.gate.clear()
    committing = asyncio.create_task(put(hosted, 42))
    while not hosted.peers.verifications:
        await asyncio.sleep(0)
    await end(hosted, commits=False)
    hosted.peers.gate.set()
    assert await committing == E.INVALID_TXN_STATE
    assert await fetched(hosted, stable=True) == (-1, E.NONE)


async def test_nothing_comes_between_the_look_at_the_question_and_the_append(started):
    """Else a marker that comes just then leaves a transaction that nobody ends."""
    hosted = await started()
    place = hosted.group_coordinator.partition_of(GROUP)
    log = hosted.replica_manager.leader(place).log
    hosted.peers.gate.clear()
    committing = asyncio.create_task(put(hosted, 42))
    while not hosted.peers.verifications:
        await asyncio.sleep(0)
    hosted.peers.gate.set()
    while log.producers.verifications:
        assert log.log_end_offset == 0
        await asyncio.sleep(0)
    assert log.log_end_offset == 1
    assert await committing == E.NONE


@pytest.mark.parametrize("doubt", [E.NOT_COORDINATOR, E.COORDINATOR_LOAD_IN_PROGRESS], ids=str)
async def test_stable_offsets_are_read_by_who_leads_for_sure(started, doubt):
    hosted = await started()
    await put(hosted, 42)
    await end(hosted, commits=True)
    hosted.proof.answer = doubt
    group = OffsetFetchRequestGroup(
        group_id=GROUP, topics=[OffsetFetchRequestTopics(name="t", partition_indexes=[0])]
    )
    answer = await hosted.call(ApiKey.OFFSET_FETCH, 8, groups=[group], require_stable=True)
    assert (answer.groups[0].error_code, answer.groups[0].topics) == (doubt, [])
    answer = await hosted.call(ApiKey.OFFSET_FETCH, 7, group_id=GROUP, require_stable=True)
    assert (answer.error_code, answer.topics) == (doubt, [])
    assert await fetched(hosted) == (42, E.NONE), "as Kafka, who did not ask for it is answered"


async def test_stable_offsets_are_committed_ones_also_after_a_change_of_leaders(started):
    """What a new coordinator has read above the high watermark may be lost with it."""
    hosted = await started(replicas=(1, 2))
    place = hosted.group_coordinator.partition_of(GROUP)
    committing = asyncio.create_task(put(hosted, 42))
    log = hosted.replica_manager.leader(place).log
    while not log.log_end_offset:
        await asyncio.sleep(0)
    hosted.follow(place)
    hosted.lead(place)
    await hosted.loaded()
    answer = await hosted.call(ApiKey.OFFSET_FETCH, 7, group_id=GROUP, require_stable=True)
    assert answer.error_code == E.COORDINATOR_LOAD_IN_PROGRESS
    hosted.replicate()
    answer = await hosted.call(ApiKey.OFFSET_FETCH, 7, group_id=GROUP, require_stable=True)
    assert answer.error_code == E.NONE
    assert await committing == E.NOT_COORDINATOR
