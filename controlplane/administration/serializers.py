from datetime import datetime
from typing import Any

from rest_framework import serializers

from controlplane.administration.inputs import (
    HOST_NAME,
    JOIN_LIFETIME_MAX_S,
    JOIN_LIFETIME_S,
    USERNAME_MAX,
)
from controlplane.clusters.host_states import CHOSEN, STATES
from controlplane.common.grants import GRANTS_MAX
from controlplane.common.serializers import (
    IN_ENGLISH,
    Shape,
    etag_field,
    page_serializer,
    params_field,
    sentence_field,
)
from controlplane.healing.serializers import (
    HostAddressChangeSerializer,
    HostDrainSerializer,
    HostZooKeeperChangeSerializer,
)
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
HOST_STATE_CHOICES = list(STATES)
HOST_TOKEN_STATE_CHOICES = ["open", "used", "revoked", "expired"]


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
    address = serializers.CharField(help_text="That it advertises.")
    zookeeper = serializers.CharField(help_text="The connect string that it was given.")
    runs_zookeeper = serializers.CharField(
        allow_null=True,
        help_text="The one that its process was started with, as its agent says; null: not known.",
    )
    observed_state = serializers.CharField(allow_null=True, help_text="Null: not known.")
    observed_at = serializers.DateTimeField(allow_null=True)


class HostZooKeeperSerializer(Shape):
    connect = serializers.CharField(
        allow_null=True, help_text="The connect string of its agent; null: it does not say it."
    )
    ensemble = serializers.CharField(
        allow_null=True, help_text="The identity of the ensemble that it found there."
    )
    is_ours = serializers.BooleanField(
        allow_null=True, help_text="It is the one that this service sees; null: not known."
    )
    brokers_elsewhere = serializers.IntegerField(
        allow_null=True,
        help_text="Brokers on it that use another connect string than its agent; null: not known.",
    )


class LostBrokerSerializer(Shape):
    broker_id = serializers.IntegerField()
    cluster = serializers.CharField()
    cluster_id = serializers.CharField()
    tenant = serializers.CharField()
    declared_at = serializers.DateTimeField()
    declared_by = serializers.CharField()
    fenced_at = serializers.DateTimeField(
        allow_null=True, help_text="When ZooKeeper was told; null: not yet."
    )
    directory_ids = serializers.ListField(
        child=serializers.CharField(),
        help_text="The directory.id of each log directory that may not serve again; empty where"
        " the broker never said them.",
    )


class HostDirectorySerializer(Shape):
    name = serializers.CharField(help_text="`main` is the one that every broker has.")
    path = serializers.CharField(allow_blank=True)
    total_bytes = serializers.IntegerField(allow_null=True)
    free_bytes = serializers.IntegerField(allow_null=True)
    volume = serializers.CharField(
        allow_null=True, help_text="The same for those that share a file system and so its room."
    )
    problem = serializers.CharField(allow_null=True, help_text="Why brokers cannot use it.")


class HostCapacitySerializer(Shape):
    """As the host's agent says it; null where it does not, or not credibly."""

    disk_total_bytes = serializers.IntegerField(
        allow_null=True, help_text="Of the directory in which new brokers begin."
    )
    disk_free_bytes = serializers.IntegerField(allow_null=True)
    memory_total_bytes = serializers.IntegerField(allow_null=True)
    memory_free_bytes = serializers.IntegerField(allow_null=True)
    cores = serializers.IntegerField(allow_null=True)
    load = serializers.FloatField(allow_null=True, help_text="Of the last minute, of all cores.")
    ports = serializers.IntegerField(help_text="How many the host's range has.")
    ports_free = serializers.IntegerField(allow_null=True)
    directories = HostDirectorySerializer(
        many=True, help_text="None of an agent that knows of one directory alone."
    )
    reported_at = serializers.DateTimeField(allow_null=True)
    age_s = serializers.FloatField(allow_null=True)
    is_stale = serializers.BooleanField(help_text="Too old to place brokers by.")
    problem = serializers.CharField(allow_null=True, help_text="Why nothing is known.")


class HostLabelSerializer(Shape):
    key = serializers.CharField()
    value = serializers.CharField()


class OperatorHostSerializer(Shape):
    host_id = serializers.CharField()
    rack = serializers.CharField()
    address = serializers.CharField()
    port_range = serializers.ListField(child=serializers.IntegerField())
    agent_version = serializers.CharField(allow_blank=True)
    directory_id = serializers.CharField(
        allow_blank=True, help_text="Of its agent's data directory; empty where it says none."
    )
    labels = HostLabelSerializer(many=True)
    alive = serializers.BooleanField()
    alive_since = serializers.DateTimeField(allow_null=True)
    described_at = serializers.DateTimeField(
        allow_null=True, help_text="When its agent last described it."
    )
    capacity = HostCapacitySerializer()
    state = serializers.ChoiceField(HOST_STATE_CHOICES, help_text="What operators decided.")
    state_since = serializers.DateTimeField(allow_null=True)
    state_by = serializers.CharField(allow_null=True)
    state_reason = serializers.CharField(allow_null=True)
    takes_brokers = serializers.BooleanField(help_text="New ones, now.")
    takes_none_because = serializers.CharField(allow_null=True, help_text=IN_ENGLISH)
    takes_none_because_code = sentence_field("null: it takes brokers.")
    takes_none_because_params = params_field()
    brokers = serializers.IntegerField()
    broker_list = HostBrokerSerializer(many=True, help_text="What should run there.")
    lost_brokers = LostBrokerSerializer(many=True)
    drain = HostDrainSerializer(allow_null=True, help_text="Null while it is not being drained.")
    zookeeper = HostZooKeeperSerializer()
    address_change = HostAddressChangeSerializer(
        allow_null=True, help_text="How far its brokers have followed to its new address; the last."
    )
    zookeeper_change = HostZooKeeperChangeSerializer(
        allow_null=True,
        help_text="How far its clusters have followed to its agent's connect string; the last.",
    )
    etag = etag_field()


class OperatorHostListSerializer(Shape):
    data = OperatorHostSerializer(many=True)  # type: ignore[assignment] # a field


def reason_field() -> serializers.CharField:
    return serializers.CharField(max_length=300, allow_blank=True, default="")


class OperatorHostChangeSerializer(Shape):
    state = serializers.ChoiceField(CHOSEN)
    reason = reason_field()


class HostTokenSerializer(Shape):
    id = serializers.CharField()
    host_id = serializers.CharField()
    note = serializers.CharField(allow_blank=True)
    state = serializers.ChoiceField(HOST_TOKEN_STATE_CHOICES)
    created_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    used_at = serializers.DateTimeField(allow_null=True)
    used_from = serializers.CharField(allow_null=True, help_text="The address that used it.")
    etag = etag_field()


class HostTokenInputSerializer(Shape):
    host_id = serializers.RegexField(
        HOST_NAME, max_length=100, help_text="The name that the host will have."
    )
    lifetime_s = serializers.IntegerField(
        min_value=60, max_value=JOIN_LIFETIME_MAX_S, default=JOIN_LIFETIME_S
    )
    note = serializers.CharField(max_length=200, allow_blank=True, default="")


class HostTokenCreatedSerializer(HostTokenSerializer):
    token = serializers.CharField(help_text="Shown this once.")


class JoinInputSerializer(Shape):
    token = serializers.CharField(max_length=200)


HostTokenPageSerializer = page_serializer(HostTokenSerializer)
MemberPageSerializer = page_serializer(MemberSerializer)
InvitationPageSerializer = page_serializer(InvitationSerializer)
ServiceAccountPageSerializer = page_serializer(ServiceAccountSerializer)
OperatorTenantPageSerializer = page_serializer(OperatorTenantSerializer)
OperatorUserPageSerializer = page_serializer(OperatorUserSerializer)
