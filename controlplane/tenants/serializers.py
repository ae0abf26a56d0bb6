from datetime import datetime, timedelta

from django.utils import timezone
from rest_framework import serializers

from controlplane.common.serializers import Shape, page_serializer
from controlplane.tenants.models import ROLE_CHOICES, SCOPE_CHOICES, TENANT_STATE_CHOICES

KEY_LIFETIME_MAX = timedelta(days=5 * 366)


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
    prefix = serializers.CharField()
    created_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    last_used_at = serializers.DateTimeField(
        allow_null=True, help_text="Written at most once a minute."
    )
    expires_at = serializers.DateTimeField(allow_null=True)
    revoked_at = serializers.DateTimeField(allow_null=True)


class ApiKeyCreatedSerializer(ApiKeySerializer):
    key = serializers.CharField(help_text="The whole key, shown this once.")


class ApiKeyInputSerializer(Shape):
    name = serializers.CharField(max_length=100)
    scope = serializers.ChoiceField(SCOPE_CHOICES, default="read")
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
    outcome = serializers.CharField()
    reason = serializers.CharField()
    remote_address = serializers.CharField()
    data = serializers.DictField()  # type: ignore[assignment] # a field


AuditEventPageSerializer = page_serializer(AuditEventSerializer)
