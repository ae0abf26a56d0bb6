"""A tenant with valid credentials turns against the cluster: refused, and the others go on."""

from __future__ import annotations

import base64
import contextlib
import secrets
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka.admin import (
    AclOperation,
    AdminClient,
    NewTopic,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from dataplane.broker.networking.peer_login import PeerCredentials, ScramClient
from dataplane.model.coordinator_partition import partition_for
from dataplane.model.errors import ErrorCode as E
from dataplane.wire.headers import encode_request_frame
from dataplane.wire.messages import add_offsets_to_txn, end_txn, fetch, metadata
from dataplane.wire.messages import txn_offset_commit as txn_offsets
from dataplane.wire.messages.find_coordinator import FindCoordinatorRequest
from dataplane.wire.messages.init_producer_id import InitProducerIdRequest
from dataplane.wire.messages.offset_fetch import OffsetFetchRequest
from dataplane.wire.messages.sasl_authenticate import SaslAuthenticateRequest
from dataplane.wire.messages.sasl_handshake import SaslHandshakeRequest
from tests.conformance.conftest import PASSWORDS, QUICK
from tests.conformance.raw_client import ask, connected, read_frame
from tests.conformance.test_sasl import allow, create_acls, login
from tests.local_cluster import LocalCluster, eventually

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator

pytestmark = [pytest.mark.conformance, pytest.mark.cluster]

OFFSETS_PARTITIONS = int(QUICK["offsets.topic.num.partitions"])
GROUP, TRANSACTION, MALLORYS = 0, 1, "mallory-tx"
THEIR_GROUP = "alice-group"
MY_GROUP = next(
    name
    for name in (f"mallory-{number}" for number in range(1_000))
    if partition_for(name, OFFSETS_PARTITIONS) == partition_for(THEIR_GROUP, OFFSETS_PARTITIONS)
)


@pytest.fixture(scope="module")
def tenants(sasl_cluster: LocalCluster) -> LocalCluster:
    """`alice` and `mallory` may each use what begins with their name, and nothing else."""
    admin = AdminClient(login(sasl_cluster, "admin", PASSWORDS["admin"]))
    info = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096)
    for user in ("alice", "mallory"):
        upsertion = UserScramCredentialUpsertion(user, info, b"pw")
        admin.alter_user_scram_credentials([upsertion])[user].result(10)
        admin.create_topics([NewTopic(f"{user}-t", 1, 3)])[f"{user}-t"].result(20)
        create_acls(
            admin,
            allow(user, ResourceType.TOPIC, f"{user}-", AclOperation.READ, prefixed=True),
            allow(user, ResourceType.TOPIC, f"{user}-", AclOperation.WRITE, prefixed=True),
            allow(user, ResourceType.GROUP, f"{user}-", AclOperation.READ, prefixed=True),
            allow(
                user,
                ResourceType.TRANSACTIONAL_ID,
                f"{user}-",
                AclOperation.WRITE,
                prefixed=True,
            ),
        )
    return sasl_cluster


@contextlib.contextmanager
def logged_in(cluster: LocalCluster, user: str, broker: int = 0) -> Iterator[socket.socket]:
    with connected(cluster, broker) as sock:
        ask(sock, SaslHandshakeRequest(mechanism="SCRAM-SHA-256"), 1)
        nonce = base64.b64encode(secrets.token_bytes(12)).decode()
        scram = ScramClient(PeerCredentials(user, "pw"), nonce)
        answer = ask(sock, SaslAuthenticateRequest(auth_bytes=scram.first()), 2)
        final = scram.final(answer.auth_bytes)
        answer = ask(sock, SaslAuthenticateRequest(auth_bytes=final), 2)
        assert answer.error_code == E.NONE
        sock.settimeout(60)
        yield sock


def coordinator(cluster: LocalCluster, user: str, key_type: int, key: str) -> int:
    for _ in eventually(30, f"{key} has a coordinator"):
        with logged_in(cluster, user) as sock:
            request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=[key])
            (found,) = ask(sock, request, 4).coordinators
        if found.error_code == E.NONE:
            break
    return int(found.node_id)


def begun(sock: socket.socket, transactional_id: str) -> dict[str, Any]:
    """The producer's fields in later requests."""
    request = InitProducerIdRequest(
        transactional_id=transactional_id, transaction_timeout_ms=60_000
    )
    for _ in eventually(20, f"{transactional_id} begins"):
        answer = ask(sock, request, 4)
        if answer.error_code == E.NONE:
            break
    return {"producer_id": answer.producer_id, "producer_epoch": answer.producer_epoch}


def commit(
    sock: socket.socket, user: str, group: str, offset: int, producer: dict[str, Any]
) -> int:
    partition = txn_offsets.TxnOffsetCommitRequestPartition(
        partition_index=0, committed_offset=offset
    )
    topic = txn_offsets.TxnOffsetCommitRequestTopic(name=f"{user}-t", partitions=[partition])
    request = txn_offsets.TxnOffsetCommitRequest(
        transactional_id=f"{user}-tx", group_id=group, topics=[topic], **producer
    )
    for _ in eventually(20, "the coordinator answers"):
        code = ask(sock, request, 3).topics[0].partitions[0].error_code
        if code not in (E.COORDINATOR_LOAD_IN_PROGRESS, E.NOT_COORDINATOR):
            break
    return int(code)


def test_nobody_gets_into_anothers_transaction_where_groups_share_a_partition(
    tenants: LocalCluster,
) -> None:
    """Else a guessed producer id fences alice, and keeps her transaction's marker out for good."""
    at_transaction = coordinator(tenants, "alice", TRANSACTION, "alice-tx")
    at_group = coordinator(tenants, "alice", GROUP, THEIR_GROUP)
    at_mine = coordinator(tenants, "mallory", TRANSACTION, MALLORYS)
    with (
        logged_in(tenants, "alice", at_transaction) as alice,
        logged_in(tenants, "alice", at_group) as alices_group,
        logged_in(tenants, "mallory", at_mine) as mallory,
        logged_in(tenants, "mallory", at_group) as mallorys_group,
    ):
        theirs = begun(alice, "alice-tx")
        begun(mallory, MALLORYS)
        added = add_offsets_to_txn.AddOffsetsToTxnRequest(
            transactional_id="alice-tx", group_id=THEIR_GROUP, **theirs
        )
        assert ask(alice, added, 3).error_code == E.NONE
        assert commit(alices_group, "alice", THEIR_GROUP, 5, theirs) == E.NONE
        for epoch in (theirs["producer_epoch"], theirs["producer_epoch"] + 1, 32_767):
            forged = theirs | {"producer_epoch": epoch}
            code = commit(mallorys_group, "mallory", MY_GROUP, 7, forged)
            assert code == E.INVALID_PRODUCER_ID_MAPPING
        assert commit(alices_group, "alice", THEIR_GROUP, 6, theirs) == E.NONE
        ended = end_txn.EndTxnRequest(transactional_id="alice-tx", committed=True, **theirs)
        assert ask(alice, ended, 3).error_code == E.NONE
        wanted = OffsetFetchRequest(group_id=THEIR_GROUP, topics=None, require_stable=True)
        for _ in eventually(10, "alice's offset counts"):
            topics = ask(alices_group, wanted, 7).topics
            if topics and topics[0].partitions[0].committed_offset == 6:
                break
        assert begun(alice, "alice-tx")["producer_epoch"] == theirs["producer_epoch"] + 1


def test_who_calls_itself_a_follower_takes_no_session_from_anybody(tenants: LocalCluster) -> None:
    with logged_in(tenants, "mallory") as sock:
        asked = fetch.FetchTopic(
            topic="alice-t", partitions=[fetch.FetchPartition(partition=0, fetch_offset=0)]
        )
        request = fetch.FetchRequest(replica_id=1, max_wait_ms=0, session_epoch=0, topics=[asked])
        answer = ask(sock, request, 12)
        assert answer.responses[0].partitions[0].error_code == E.TOPIC_AUTHORIZATION_FAILED
        assert answer.session_id == 0


def test_large_requests_over_many_connections_leave_time_for_others(tenants: LocalCluster) -> None:
    names = [f"mallory-{number}" for number in range(60_000)]
    request = FindCoordinatorRequest(key_type=GROUP, coordinator_keys=names)
    frame = encode_request_frame(request, 4, 7, "flood")
    with contextlib.ExitStack() as held:
        flood = [held.enter_context(logged_in(tenants, "mallory")) for _ in range(6)]
        answers: list[bytes | None] = []

        def send(sock: socket.socket) -> None:
            sock.sendall(frame)
            answers.append(read_frame(sock))

        threads = [threading.Thread(target=send, args=(sock,)) for sock in flood]
        with logged_in(tenants, "alice") as alice:
            started_s = time.monotonic()
            for thread in threads:
                thread.start()
            worst_s = 0.0
            while any(thread.is_alive() for thread in threads):
                asked_s = time.monotonic()
                assert ask(alice, metadata.MetadataRequest(topics=[]), 9) is not None
                worst_s = max(worst_s, time.monotonic() - asked_s)
                time.sleep(0.05)
        took_s = time.monotonic() - started_s
    assert None not in answers, "put off, not refused"
    assert took_s > (len(flood) - 1) * len(frame) / 2**20
    assert worst_s < took_s / 2, "between two of mallory's there is time for alice's"
