from datetime import datetime
from typing import Any

from rest_framework import serializers

from controlplane.administration.inputs import USERNAME_MAX
from controlplane.clusters.serializers import HostSerializer
from controlplane.common.grants import GRANTS_MAX
from controlplane.common.serializers import Shape, etag_field, page_serializer
from controlplane.tenants.models import ROLE_CHOICES, TENANT_STATE_CHOICES
from controlplane.tenants.serializers import (
    ApiKeyCreatedSerializer,
    GrantInputSerializer,
    GrantSerializer,
    check_key_end,
)

DAY_S = 24 * 3600
INVITATION_LIFETIME_MAX_S = 30 * DAY_S
OVERLAP_MAX_S = 30 * DAY_S
INVITATION_STATE_CHOICES = ["open", "accepted", "revoked", "expired"]
REMAINDER_CHOICES = ["cluster", "operation"]


def role_field(**options: Any) -> serializers.ChoiceField:
    """The roles that a member may have, wherever one is given or shown."""
    return serializers.ChoiceField(ROLE_CHOICES, **options)


# -- of a tenant --------------------------------------------------------------------------------
class MemberSerializer(Shape):
    username = serializers.CharField()
    role = role_field()
    grants = GrantSerializer(many=True, help_text="Roles by pattern, beside the role on all.")
    is_active = serializers.BooleanField(help_text="The login has not ended.")
    last_login_at = serializers.DateTimeField(allow_null=True)
    etag = etag_field()


class MemberInputSerializer(Shape):
    role = role_field()
    grants = GrantInputSerializer(  # type: ignore[call-arg] # the list has max_length
        many=True,
        required=False,
        max_length=GRANTS_MAX,
        help_text="In place of those of before, with the role limited or viewer; absent: those of"
        " before stay while the role does, and end with it.",
    )


class DepartureSerializer(Shape):
    invitations_revoked = serializers.IntegerField()
    keys_made = serializers.ListField(
        child=serializers.CharField(),
        help_text="Keys that the member made. They may do nothing any more until an owner rotates"
        " them, who is their maker from then on.",
    )


class InvitationSerializer(Shape):
    id = serializers.CharField()
    role = role_field()
    note = serializers.CharField()
    state = serializers.ChoiceField(INVITATION_STATE_CHOICES)
    created_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    accepted_at = serializers.DateTimeField(allow_null=True)
    accepted_by = serializers.CharField(allow_null=True)
    etag = etag_field()


class InvitationInputSerializer(Shape):
    role = role_field()
    note = serializers.CharField(
        max_length=200, allow_blank=True, default="", help_text="Whom it is for."
    )
    lifetime_s = serializers.IntegerField(
        min_value=60, max_value=INVITATION_LIFETIME_MAX_S, default=7 * DAY_S
    )


class InvitationCreatedSerializer(InvitationSerializer):
    path = serializers.CharField(
        help_text="The link, shown this once; it follows the service's own address."
    )


class ServiceAccountSerializer(Shape):
    id = serializers.CharField()
    name = serializers.CharField()
    description = serializers.CharField()
    disabled = serializers.BooleanField()
    disabled_at = serializers.DateTimeField(allow_null=True)
    live_keys = serializers.IntegerField()
    created_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    etag = etag_field()


class ServiceAccountInputSerializer(Shape):
    name = serializers.RegexField(r"^[A-Za-z0-9][A-Za-z0-9._ -]*\Z", max_length=100)
    description = serializers.CharField(max_length=300, allow_blank=True, default="")


class ServiceAccountChangeSerializer(Shape):
    description = serializers.CharField(max_length=300, allow_blank=True)
    disabled = serializers.BooleanField()


class KeyRotationSerializer(Shape):
    overlap_s = serializers.IntegerField(
        min_value=0,
        max_value=OVERLAP_MAX_S,
        help_text="How long the old key goes on; with 0 it ends at once.",
    )
    expires_at = serializers.DateTimeField(
        allow_null=True,
        default=None,
        help_text="Of the new key; null: after as long as the old one was given.",
    )

    def validate_expires_at(self, value: datetime | None) -> datetime | None:
        return check_key_end(value)


class KeyRotatedSerializer(ApiKeyCreatedSerializer):
    replaces = serializers.CharField()
    replaced_ends_at = serializers.DateTimeField()


# -- of operators -------------------------------------------------------------------------------
class OperatorTenantSerializer(Shape):
    id = serializers.CharField()
    slug = serializers.CharField()
    name = serializers.CharField()
    state = serializers.ChoiceField(TENANT_STATE_CHOICES)
    members = serializers.IntegerField()
    owners = serializers.IntegerField(help_text="Those who can sign in.")
    clusters = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    etag = etag_field()


class RemainderSerializer(Shape):
    kind = serializers.ChoiceField(REMAINDER_CHOICES)
    id = serializers.CharField()
    name = serializers.CharField()


class OperatorTenantDetailSerializer(OperatorTenantSerializer):
    remains = RemainderSerializer(many=True, help_text="What has to go before it can be closed.")
    member_list = MemberSerializer(many=True)


class OperatorTenantInputSerializer(Shape):
    slug = serializers.RegexField(r"^[a-z0-9][a-z0-9-]*\Z", max_length=60)
    name = serializers.CharField(max_length=200)


class OperatorTenantChangeSerializer(Shape):
    name = serializers.CharField(max_length=200)
    state = serializers.ChoiceField(TENANT_STATE_CHOICES)


class OperatorMemberInputSerializer(Shape):
    username = serializers.CharField(max_length=USERNAME_MAX)
    role = role_field()
    grants = GrantInputSerializer(many=True, default=list, max_length=GRANTS_MAX)  # type: ignore[call-arg] # the list has it


class UserTenantSerializer(Shape):
    slug = serializers.CharField()
    name = serializers.CharField()
    role = role_field()


class OperatorUserSerializer(Shape):
    username = serializers.CharField()
    email = serializers.CharField(allow_blank=True)
    is_active = serializers.BooleanField()
    is_operator = serializers.BooleanField()
    has_password = serializers.BooleanField()
    tenants = UserTenantSerializer(many=True)
    created_at = serializers.DateTimeField()
    last_login_at = serializers.DateTimeField(allow_null=True)
    etag = etag_field()


class OperatorUserInputSerializer(Shape):
    username = serializers.CharField(max_length=USERNAME_MAX)
    email = serializers.EmailField(max_length=254, allow_blank=True, required=False)
    is_operator = serializers.BooleanField(default=False)


class OperatorUserChangeSerializer(Shape):
    email = serializers.EmailField(max_length=254, allow_blank=True)
    is_active = serializers.BooleanField()
    is_operator = serializers.BooleanField()


class PasswordLinkSerializer(Shape):
    path = serializers.CharField(
        help_text="The link, shown this once; it follows the service's own address."
    )
    expires_at = serializers.DateTimeField()


class OperatorUserCreatedSerializer(OperatorUserSerializer):
    link = PasswordLinkSerializer()


class OperatorUserChangedSerializer(OperatorUserSerializer):
    tenants_without_owner = serializers.ListField(child=serializers.CharField())
    link = PasswordLinkSerializer(allow_null=True)


class HostBrokerSerializer(Shape):
    broker_id = serializers.IntegerField()
    cluster = serializers.CharField()
    cluster_id = serializers.CharField()
    tenant = serializers.CharField()
    observed_state = serializers.CharField(allow_null=True, help_text="Null: not known.")
    observed_at = serializers.DateTimeField(allow_null=True)


class OperatorHostSerializer(HostSerializer):
    alive_since = serializers.DateTimeField(allow_null=True)
    described_at = serializers.DateTimeField(
        allow_null=True, help_text="When its agent last described it."
    )
    drained_by = serializers.CharField(allow_null=True)
    broker_list = HostBrokerSerializer(many=True, help_text="What should run there.")
    etag = etag_field()


class OperatorHostListSerializer(Shape):
    data = OperatorHostSerializer(many=True)  # type: ignore[assignment] # a field


class OperatorHostChangeSerializer(Shape):
    drained = serializers.BooleanField()


MemberPageSerializer = page_serializer(MemberSerializer)
InvitationPageSerializer = page_serializer(InvitationSerializer)
ServiceAccountPageSerializer = page_serializer(ServiceAccountSerializer)
OperatorTenantPageSerializer = page_serializer(OperatorTenantSerializer)
OperatorUserPageSerializer = page_serializer(OperatorUserSerializer)
