from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone
from rest_framework import serializers

from controlplane.common.grants import (
    GRANT_ROLES,
    GRANTS_MAX,
    LIMITED,
    NAME_MAX,
    Grant,
    Match,
    Over,
    Pattern,
)
from controlplane.common.serializers import Shape, etag_field, page_serializer
from controlplane.tenants.models import ROLE_CHOICES, SCOPE_CHOICES, TENANT_STATE_CHOICES

NDJSON, CSV = "ndjson", "csv"
KEY_LIFETIME_MAX = timedelta(days=5 * 366)


MATCHES = [(each.value, each.value) for each in Match]
OVERS = [(each.value, each.value) for each in Over]


class PatternSerializer(Shape):
    match = serializers.ChoiceField(MATCHES)
    name = serializers.CharField(help_text="Compared letter by letter; empty when any matches.")


class GrantSerializer(Shape):
    """A grant as it is kept, with every field."""

    role = serializers.ChoiceField(GRANT_ROLES)
    clusters = PatternSerializer()
    over = serializers.ChoiceField(OVERS)
    names = PatternSerializer()


class PatternInputSerializer(Shape):
    match = serializers.ChoiceField(MATCHES, default=Match.ANY.value)
    name = serializers.CharField(
        max_length=NAME_MAX,
        allow_blank=True,
        trim_whitespace=False,
        default="",
        help_text="Compared letter by letter; a prefix ends with a separator (. - _ / :).",
    )


class GrantInputSerializer(Shape):
    role = serializers.ChoiceField(GRANT_ROLES)
    clusters = PatternInputSerializer(default=dict)
    over = serializers.ChoiceField(
        OVERS,
        default=Over.CLUSTER.value,
        help_text="All that is on the clusters, or topics or groups on them by name.",
    )
    names = PatternInputSerializer(default=dict)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """The grant in its one stored form."""
        patterns = {field: _pattern(attrs.get(field) or {}) for field in ("clusters", "names")}
        grant = Grant(role=attrs["role"], over=Over(attrs["over"]), **patterns)
        field, why = grant.fault()
        if why:
            raise serializers.ValidationError({field: why})
        return grant.as_row()


def _pattern(given: dict[str, str]) -> Pattern:
    return Pattern(Match(given.get("match", Match.ANY)), given.get("name", ""))


class TenantSerializer(Shape):
    id = serializers.CharField()
    slug = serializers.CharField()
    name = serializers.CharField()
    role = serializers.ChoiceField(ROLE_CHOICES)
    state = serializers.ChoiceField(TENANT_STATE_CHOICES)


class UserSerializer(Shape):
    id = serializers.IntegerField()
    username = serializers.CharField()
    is_staff = serializers.BooleanField()


class MeSerializer(Shape):
    actor = serializers.CharField()
    user = UserSerializer(allow_null=True)
    tenant = TenantSerializer()
    role = serializers.ChoiceField(ROLE_CHOICES)
    grants = GrantSerializer(many=True, help_text="Roles by pattern, beside the role on all.")
    may_write = serializers.BooleanField()


class TenantListSerializer(Shape):
    data = TenantSerializer(many=True)  # type: ignore[assignment] # a field


class KeyAccountSerializer(Shape):
    id = serializers.CharField()
    name = serializers.CharField()


class ApiKeySerializer(Shape):
    id = serializers.CharField()
    name = serializers.CharField()
    service_account = KeyAccountSerializer()
    scope = serializers.ChoiceField(SCOPE_CHOICES)
    grants = GrantSerializer(many=True)
    prefix = serializers.CharField()
    created_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    last_used_at = serializers.DateTimeField(
        allow_null=True, help_text="Written at most once a minute."
    )
    expires_at = serializers.DateTimeField(allow_null=True)
    revoked_at = serializers.DateTimeField(allow_null=True)
    etag = etag_field()


class ApiKeyCreatedSerializer(ApiKeySerializer):
    key = serializers.CharField(help_text="The whole key, shown this once.")


class ApiKeyInputSerializer(Shape):
    name = serializers.CharField(max_length=100)
    scope = serializers.ChoiceField(
        SCOPE_CHOICES,
        default="read",
        help_text="limited: what the grants give; read and write are over all of the tenant.",
    )
    grants = GrantInputSerializer(many=True, default=list, max_length=GRANTS_MAX)  # type: ignore[call-arg] # the list has it
    service_account_id = serializers.CharField(
        max_length=40,
        allow_null=True,
        default=None,
        help_text="Whose the key is; null: the account called like the key, made if there is none.",
    )
    expires_at = serializers.DateTimeField(
        allow_null=True,
        default=None,
        help_text="In the future, at most five years off; null: until it is revoked.",
    )

    def validate_expires_at(self, value: datetime | None) -> datetime | None:
        return check_key_end(value)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if (attrs["scope"] == LIMITED) != bool(attrs["grants"]):
            raise serializers.ValidationError(
                {"grants": "They go with the scope limited, and it with them."}
            )
        return attrs


def check_key_end(value: datetime | None) -> datetime | None:
    """Raises ValidationError for an end that is over or too far off."""
    now = timezone.now()
    if value is not None and not now < value <= now + KEY_LIFETIME_MAX:
        raise serializers.ValidationError("It is a moment within the next five years.")
    return value


ApiKeyPageSerializer = page_serializer(ApiKeySerializer)


class AuditEventSerializer(Shape):
    id = serializers.CharField()
    at = serializers.DateTimeField()
    actor = serializers.CharField()
    action = serializers.CharField()
    resource = serializers.CharField()
    cluster_id = serializers.CharField(allow_null=True)
    outcome = serializers.CharField()
    reason = serializers.CharField()
    remote_address = serializers.CharField()
    credential = serializers.CharField(help_text="`key/<id>` or `session/<digest>`.")
    request_id = serializers.CharField()
    data = serializers.DictField()  # type: ignore[assignment] # a field


class AuditQuerySerializer(serializers.Serializer[Any]):
    actor = serializers.CharField(required=False, max_length=200)
    action = serializers.CharField(required=False, max_length=100)
    resource = serializers.CharField(required=False, max_length=400)
    outcome = serializers.CharField(required=False, max_length=40)
    cluster_id = serializers.CharField(required=False, max_length=40)

    def get_fields(self) -> dict[str, Any]:
        times = {name: serializers.DateTimeField(required=False) for name in ("from", "to")}
        return {**super().get_fields(), **times}


class AuditExportQuerySerializer(AuditQuerySerializer):
    format = serializers.ChoiceField([(NDJSON, "NDJSON"), (CSV, "CSV")], default=NDJSON)


AuditEventPageSerializer = page_serializer(AuditEventSerializer)
