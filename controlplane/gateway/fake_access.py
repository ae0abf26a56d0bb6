"""Users, rules and quotas of the fake cluster: a part of `FakeGateway`."""

from collections.abc import Mapping, Sequence

from controlplane.gateway.errors import GatewayError
from controlplane.gateway.types import AclBinding, ClientQuota, QuotaEntity, ScramCredential


class FakeAccessMixin:
    """Needs the fake that it is mixed into: its tables, and its account of calls."""

    users: dict[tuple[str, str], str]
    acls: set[AclBinding]
    quotas: dict[QuotaEntity, dict[str, float]]

    def called(self, method: str) -> None:
        """Notes the call; raises what was asked for. `FakeGateway` has it."""
        raise NotImplementedError

    def list_users(self) -> list[ScramCredential]:
        self.called("list_users")
        return [
            ScramCredential(username=name, mechanism=mechanism, iterations=4096)
            for name, mechanism in sorted(self.users)
        ]

    def upsert_user(self, username: str, mechanism: str, password: str) -> None:
        self.called("upsert_user")
        self.users[username, mechanism] = password

    def delete_user(self, username: str, mechanism: str) -> None:
        self.called("delete_user")
        if self.users.pop((username, mechanism), None) is None:
            raise GatewayError("RESOURCE_NOT_FOUND", username)

    def list_acls(self) -> list[AclBinding]:
        self.called("list_acls")
        return sorted(self.acls)

    def create_acls(self, bindings: Sequence[AclBinding]) -> None:
        self.called("create_acls")
        self.acls |= set(bindings)

    def delete_acls(self, bindings: Sequence[AclBinding]) -> None:
        self.called("delete_acls")
        self.acls -= set(bindings)

    def list_quotas(self) -> list[ClientQuota]:
        self.called("list_quotas")
        rows = sorted(self.quotas.items(), key=str)
        return [ClientQuota(entity=entity, values=dict(values)) for entity, values in rows]

    def alter_quotas(self, entity: QuotaEntity, changes: Mapping[str, float | None]) -> None:
        self.called("alter_quotas")
        merged = {**self.quotas.get(entity, {}), **changes}
        left = {key: value for key, value in merged.items() if value is not None}
        self.quotas.pop(entity, None)
        if left:
            self.quotas[entity] = left
