"""Who may alter users does not become a super user by it."""

from __future__ import annotations

import asyncio

import pytest

from dataplane.model.errors import ErrorCode
from dataplane.security.principal import Principal
from dataplane.security.scram import ScramMechanism
from dataplane.wire.apis import ApiKey
from dataplane.wire.messages.alter_user_scram_credentials import (
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from tests.dataplane.groups.hosted import Hosted

ALTER = ApiKey.ALTER_USER_SCRAM_CREDENTIALS
SUPER, OWN, OTHER = "root", "brokers", "app"
MECHANISM = ScramMechanism.SCRAM_SHA_256


@pytest.fixture
async def hosted():
    made = await Hosted(
        partition_count=1,
        authorizer_class_name="kafka.security.authorizer.AclAuthorizer",
        allow_everyone_if_no_acl_found="true",
        super_users=f"User:{SUPER}",
        penstock_inter_broker_username=OWN,
    ).start()
    await asyncio.sleep(0.01)
    yield made
    await made.stop()


def upsertion(name: str) -> ScramCredentialUpsertion:
    return ScramCredentialUpsertion(
        name=name, mechanism=MECHANISM, iterations=4096, salt=b"s", salted_password=b"mine"
    )


async def credential(hosted, name):
    return await hosted.authorizer.scram.credential(MECHANISM, name)


async def altered(hosted, principal, **asked):
    hosted.connection.principal = Principal.user(principal)
    answer = await hosted.call(ALTER, 0, **asked)
    return {result.user: result.error_code for result in answer.results}


@pytest.mark.parametrize("name", [SUPER, OWN])
async def test_a_users_alter_does_not_reach_a_super_user(hosted, name):
    refused = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    both = [upsertion(name), upsertion(OTHER)]
    assert await altered(hosted, OTHER, upsertions=both) == {name: refused, OTHER: 0}
    assert await credential(hosted, name) is None
    assert await credential(hosted, OTHER) is not None

    assert await altered(hosted, SUPER, upsertions=[upsertion(name)]) == {name: 0}
    kept = await credential(hosted, name)
    deletion = ScramCredentialDeletion(name=name, mechanism=MECHANISM)
    assert await altered(hosted, OTHER, deletions=[deletion]) == {name: refused}
    assert await credential(hosted, name) == kept
    assert await altered(hosted, OWN, deletions=[deletion]) == {name: 0}


async def test_without_an_authorizer_everybody_is_one():
    made = await Hosted(partition_count=1, super_users=f"User:{SUPER}").start()
    await asyncio.sleep(0.01)
    assert await altered(made, OTHER, upsertions=[upsertion(SUPER)]) == {SUPER: 0}
    await made.stop()
