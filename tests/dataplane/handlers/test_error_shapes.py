"""Whatever is asked, in every version: that all of it failed can be said, or nobody is answered."""

from __future__ import annotations

import pytest

from dataplane.handlers.error_response import error_response
from dataplane.handlers.registry import HANDLED
from dataplane.model.errors import ErrorCode
from dataplane.wire.apis import ApiKey, load
from dataplane.wire.codec import encode
from dataplane.wire.messages.create_acls import AclCreation, CreateAclsRequest
from dataplane.wire.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from tests.dataplane.handlers.one_of_everything import NAME, filled
from tests.dataplane.handlers.test_audit import started
from tests.dataplane.handlers.test_thread_counts import stopped

WITHOUT_A_FIELD = {(ApiKey.DESCRIBE_LOG_DIRS, version) for version in (0, 1, 2)}
"""Kafka answers an empty list in these, and so does the handler."""
REFUSED = ErrorCode.CLUSTER_AUTHORIZATION_FAILED


@pytest.mark.parametrize("api", sorted(HANDLED), ids=lambda api: api.name)
def test_that_everything_failed_can_be_said(api: ApiKey) -> None:
    lowest, highest = HANDLED[api]
    request_class, response_class = load(api)
    for version in range(lowest, highest + 1):
        request = filled(api, request_class, version)
        answer = error_response(response_class, request, REFUSED, version=version)
        assert (answer is None) == ((api, version) in WITHOUT_A_FIELD), version
        if answer is not None:
            assert int(REFUSED).to_bytes(2) in bytes(encode(answer, version)), version


@pytest.mark.parametrize("version", range(4))
async def test_who_may_not_alter_acls_is_told_so_of_each(version: int) -> None:
    """By its place alone: nothing in the answer names what it is about."""
    broker = await started("mallory")
    rule = {"resource_type": 2, "resource_name": "t", "principal": "User:m", "host": "*"}
    creation = AclCreation(**rule, operation=3, permission_type=3)
    made = await broker.ask(CreateAclsRequest(creations=[creation] * 3), version)
    assert [each.error_code for each in made.results] == [REFUSED] * 3
    wanted = DeleteAclsFilter(
        resource_type_filter=2, resource_name_filter="t", principal_filter=None, host_filter=None,
        operation=1, permission_type=1,
    )  # fmt: skip
    gone = await broker.ask(DeleteAclsRequest(filters=[wanted] * 2), version)
    assert [(each.error_code, each.matching_acls) for each in gone.filter_results] == [
        (REFUSED, [])
    ] * 2
    await stopped(broker)


@pytest.mark.parametrize(
    ("api", "version", "place"),
    [
        (ApiKey.ALTER_CLIENT_QUOTAS, 1, lambda answer: answer.entries[0].entity[0].entity_name),
        (ApiKey.ALTER_REPLICA_LOG_DIRS, 2, lambda answer: answer.results[0].topic_name),
        (ApiKey.DESCRIBE_TRANSACTIONS, 0, lambda answer: answer.transaction_states[0].transactional_id),
        (ApiKey.ALTER_USER_SCRAM_CREDENTIALS, 0, lambda answer: answer.results[0].user),
        (ApiKey.ALTER_USER_SCRAM_CREDENTIALS, 0, lambda answer: answer.results[1].user),
    ],
)  # fmt: skip
def test_what_it_is_about_is_named(api: ApiKey, version: int, place) -> None:
    request_class, response_class = load(api)
    answer = error_response(
        response_class, filled(api, request_class, version), REFUSED, version=version
    )
    assert place(answer) == NAME
