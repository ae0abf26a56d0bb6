"""The half of KafkaGateway about users, ACLs and quotas."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kafka.admin import (
    ACL,
    ACLFilter,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    ResourcePattern,
    ResourcePatternFilter,
    ResourceType,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)
from kafka.errors import NoError, for_code
from kafka.protocol.admin import (
    AlterClientQuotasRequest,
    AlterUserScramCredentialsRequest,
    DescribeClientQuotasRequest,
)

from controlplane.gateway.errors import GatewayError
from controlplane.gateway.kafka_link import BrokerLink, KafkaLink, check, refusal
from controlplane.gateway.types import (
    QUOTA_USER,
    AclBinding,
    ClientQuota,
    QuotaEntity,
    ScramCredential,
)

SCRAM_ITERATIONS = 4096


class KafkaAccessMixin:
    _link: KafkaLink | BrokerLink

    def list_users(self) -> list[ScramCredential]:
        found = self._link.call(
            lambda admin: admin.describe_user_scram_credentials(),
            what="list users",
            is_hedged=True,
        )
        for name, row in found.items():
            if row["error"]:
                raise GatewayError("UNKNOWN_SERVER_ERROR", f"user {name}: {row['error']}")
        return [
            ScramCredential(
                username=name,
                mechanism=info["mechanism"].name.replace("_", "-"),
                iterations=info["iterations"],
            )
            for name, row in sorted(found.items())
            for info in row["credential_infos"]
        ]

    def upsert_user(self, username: str, mechanism: str, password: str) -> None:
        made = UserScramCredentialUpsertion(
            username, mechanism, password, iterations=SCRAM_ITERATIONS
        )
        upsertion = (
            username,
            int(made.mechanism),
            made.iterations,
            made.salt,
            made.salted_password,
        )
        self._alter_user(username, upsertions=[upsertion])

    def delete_user(self, username: str, mechanism: str) -> None:
        deletion = UserScramCredentialDeletion(username, mechanism)
        self._alter_user(username, deletions=[(username, int(deletion.mechanism))])

    def _alter_user(
        self, username: str, *, upsertions: Sequence[Any] = (), deletions: Sequence[Any] = ()
    ) -> None:
        """Asked of the controller: in a Kafka with ZooKeeper others refuse it by a code without
        a text, which the library's own call takes for success.
        """
        what = f"change the user {username}"
        request = AlterUserScramCredentialsRequest(
            deletions=list(deletions), upsertions=list(upsertions)
        )

        def alter(admin: Any) -> Any:
            send = admin._send_request_to_controller  # noqa: SLF001 - its calls say no codes
            # It would raise with the request as text, and in that is the salted password.
            run = admin._manager.run  # noqa: SLF001 - the library runs its coroutines there
            return run(send, request, _codes_of, False)

        for result in self._link.call(alter, what=what, write=True).results:
            check(result.error_code, result.error_message, what)

    def list_acls(self) -> list[AclBinding]:
        everything = ACLFilter(
            principal=None,
            host=None,
            operation=ACLOperation.ANY,
            permission_type=ACLPermissionType.ANY,
            resource_pattern=ResourcePatternFilter(
                ResourceType.ANY, None, ACLResourcePatternType.ANY
            ),
        )
        found, _ = self._link.call(
            lambda admin: admin.describe_acls(everything), what="list ACLs", is_hedged=True
        )
        return sorted(_binding(acl) for acl in found)

    def create_acls(self, bindings: Sequence[AclBinding]) -> None:
        if not bindings:
            return
        answer = self._link.call(
            lambda admin: admin.create_acls([_acl(binding) for binding in bindings]),
            what="create ACLs",
            write=True,
        )
        for error in answer["failed"]:
            raise refusal(error, "create ACLs")

    def delete_acls(self, bindings: Sequence[AclBinding]) -> None:
        if not bindings:
            return
        answer = self._link.call(
            lambda admin: admin.delete_acls([_acl_filter(binding) for binding in bindings]),
            what="delete ACLs",
            write=True,
        )
        for _, _, error in answer:
            if error is not NoError:
                raise refusal(error, "delete ACLs")

    def list_quotas(self) -> list[ClientQuota]:
        request = DescribeClientQuotasRequest(components=[], strict=False)

        def ask(admin: Any) -> Any:
            manager = admin._manager  # noqa: SLF001 - the library has no call for it
            return manager.run(manager.send, request)

        answer = self._link.call(ask, what="list quotas")
        check(answer.error_code, answer.error_message, "list quotas")
        return sorted(
            (
                ClientQuota(
                    entity=_entity((each.entity_type, each.entity_name) for each in entry.entity),
                    values={value.key: value.value for value in entry.values},
                )
                for entry in answer.entries or ()
            ),
            key=lambda quota: [(kind, name is not None, name or "") for kind, name in quota.entity],
        )

    def alter_quotas(self, entity: QuotaEntity, changes: Mapping[str, float | None]) -> None:
        if not changes:
            return
        what = "change a quota"
        ops = [(key, value or 0.0, value is None) for key, value in sorted(changes.items())]
        request = AlterClientQuotasRequest(entries=[(list(entity), ops)], validate_only=False)

        def alter(admin: Any) -> Any:
            manager = admin._manager  # noqa: SLF001 - the library has no call for it
            return manager.run(manager.send, request)

        for entry in self._link.call(alter, what=what, write=True).entries:
            check(entry.error_code, entry.error_message, what)


def _entity(parts: Iterable[tuple[str, str | None]]) -> QuotaEntity:
    """A user before its client id, in whatever order a broker says them."""
    return tuple(sorted(parts, key=lambda part: (part[0] != QUOTA_USER, part[0])))


def _codes_of(response: Any) -> tuple[Any, ...]:
    return tuple(for_code(result.error_code) for result in response.results)


def _binding(acl: Any) -> AclBinding:
    pattern = acl.resource_pattern
    return AclBinding(
        principal=acl.principal,
        host=acl.host,
        operation=acl.operation.name,
        permission=acl.permission_type.name,
        resource_type=pattern.resource_type.name,
        resource_name=pattern.resource_name,
        pattern_type=pattern.pattern_type.name,
    )


def _acl(binding: AclBinding) -> Any:
    return ACL(**_fields(binding), resource_pattern=ResourcePattern(*_pattern(binding)))


def _acl_filter(binding: AclBinding) -> Any:
    return ACLFilter(**_fields(binding), resource_pattern=ResourcePatternFilter(*_pattern(binding)))


def _fields(binding: AclBinding) -> dict[str, Any]:
    return {
        "principal": binding.principal,
        "host": binding.host,
        "operation": ACLOperation[binding.operation],
        "permission_type": ACLPermissionType[binding.permission],
    }


def _pattern(binding: AclBinding) -> tuple[Any, str, Any]:
    return (
        ResourceType[binding.resource_type],
        binding.resource_name,
        ACLResourcePatternType[binding.pattern_type],
    )
