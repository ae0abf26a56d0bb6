"""The console's bodies for the OpenAPI document: pages, their parts, the session."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from console.access_shapes import DriftOfPageSerializer, QuotasOfPageSerializer
from console.list_shapes import ListCountsSerializer
from console.pages.attention import STATES
from console.parts import OK, STALE, UNAVAILABLE
from controlplane.access.lists import RULES_SHOWN
from controlplane.access.serializers import (
    AclBindingSerializer,
    AclSerializer,
    KafkaUserSerializer,
    PasswordOverlapSerializer,
)
from controlplane.alerts.serializers import rule_field, severity_field
from controlplane.analytics.serializers import (
    AnalyticsRunSerializer,
    GroupExpirySerializer,
    LagSerializer,
    RetentionSerializer,
)
from controlplane.clusters.broker_serializers import (
    BrokerDetailSerializer,
    BrokerPlacementSerializer,
    BrokerProcessSerializer,
)
from controlplane.clusters.log_dir_shapes import BrokerDirectoriesSerializer
from controlplane.clusters.serializers import (
    ClientConfigSerializer,
    ClusterSerializer,
)
from controlplane.clusters.version_serializers import ClusterVersionsSerializer
from controlplane.common.serializers import PageSerializer, Shape
from controlplane.drift.serializers import ClusterDriftSerializer
from controlplane.groups.serializers import (
    GroupRowSerializer,
    GroupSerializer,
    TopicReadersSerializer,
)
from controlplane.messages.serializers import MessageRightsSerializer
from controlplane.operations.serializers import OperationSerializer
from controlplane.reassignments.serializers import ActiveReassignmentsSerializer
from controlplane.tenants.models import ROLE_CHOICES
from controlplane.tenants.serializers import OVERS, PatternSerializer, TenantSerializer
from controlplane.timeline.serializers import TimelineEventSerializer
from controlplane.topics.client_serializers import ProducersSerializer, TopicReplicasSerializer
from controlplane.topics.serializers import (
    ConfigEntrySerializer,
    TopicRowSerializer,
    TopicSerializer,
)

PART_STATUS_CHOICES = [OK, STALE, UNAVAILABLE]

TYPED_MAX = 8_192
"""What is typed at sign-in: far above any name or password, so that a wrong one is just wrong."""
SLUG_MAX = 60
TOKEN_MAX = 200
LEADS_TO_CHOICES = ["tenant", "password"]

ShapeClass = type[serializers.Serializer[Any]]


class TextField(serializers.CharField):
    """Text as it was typed: nothing is trimmed, and a number is no text."""

    def __init__(self, max_length: int, **more: Any) -> None:
        super().__init__(trim_whitespace=False, max_length=max_length, **more)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return str(super().to_internal_value(data))


class LoginSerializer(Shape):
    username = TextField(TYPED_MAX)
    password = TextField(TYPED_MAX)


class TenantChoiceSerializer(Shape):
    slug = TextField(SLUG_MAX)


class SessionUserSerializer(Shape):
    username = serializers.CharField()
    email = serializers.CharField(allow_blank=True)
    is_staff = serializers.BooleanField()


class SignInSerializer(Shape):
    passwords = serializers.BooleanField(help_text="One may sign in by a password.")
    provider = serializers.CharField(
        allow_null=True, help_text="The OpenID provider's name; /console/oidc/login leads there."
    )


class WriteSerializer(Shape):
    """What may be changed: everything on these clusters, or topics or groups on them by name."""

    clusters = PatternSerializer()
    over = serializers.ChoiceField(OVERS)
    names = PatternSerializer()


class SessionSerializer(Shape):
    user = SessionUserSerializer(allow_null=True)
    tenant = TenantSerializer(allow_null=True)
    tenants = TenantSerializer(many=True)
    csrf_token = serializers.CharField()
    sign_in = SignInSerializer()
    can_write = serializers.BooleanField(help_text="Anything at all in the current tenant.")
    can_write_tenant = serializers.BooleanField(
        help_text="In the current tenant, what is of no one cluster: lag objectives, "
        "alert settings, silences, destinations."
    )
    writes = WriteSerializer(many=True, help_text="Of the clusters; each request is checked again.")
    browses = WriteSerializer(many=True, help_text="Where it reads messages, likewise.")


class PasswordChangeSerializer(Shape):
    old_password = TextField(TYPED_MAX)
    new_password = TextField(TYPED_MAX)


class InvitationTokenSerializer(Shape):
    token = TextField(TOKEN_MAX, help_text="What follows the link's `#`.")


class OpenInvitationSerializer(Shape):
    leads_to = serializers.ChoiceField(LEADS_TO_CHOICES)
    tenant = serializers.CharField(allow_null=True, help_text="Its name.")
    role = serializers.ChoiceField(ROLE_CHOICES, allow_null=True)
    username = serializers.CharField(allow_null=True, help_text="Whose password it sets.")
    expires_at = serializers.DateTimeField()


class AcceptanceSerializer(InvitationTokenSerializer):
    username = TextField(
        TYPED_MAX,
        allow_blank=True,
        default="",
        help_text="Of a new login; empty: join as who is signed in.",
    )
    password = TextField(TYPED_MAX, allow_blank=True, default="")


class SignedOutSerializer(SessionSerializer):
    logout_url = serializers.CharField(
        allow_null=True, help_text="Where the OpenID provider ends its own session."
    )


class NextSerializer(Shape):
    title = serializers.CharField()
    kind = serializers.CharField(help_text="Of operation; with its inputs a body of /plans.")
    cluster_id = serializers.CharField(allow_null=True)
    inputs = serializers.DictField(child=serializers.JSONField(allow_null=True))


class AttentionSerializer(Shape):
    key = serializers.CharField(help_text="The same for the same trouble.")
    severity = severity_field()
    text = serializers.CharField()
    state = serializers.ChoiceField(
        STATES, help_text="Of its alert; seen: no rule has said it, or not yet."
    )
    silenced = serializers.BooleanField()
    unknown = serializers.BooleanField(help_text="It could not be asked now, and stays.")
    rule = rule_field(allow_null=True)
    runbook = serializers.CharField(allow_null=True)
    alert_id = serializers.CharField(allow_null=True)
    cluster_id = serializers.CharField(allow_null=True, help_text="null: it is the tenant's.")
    cluster_name = serializers.CharField(allow_null=True)
    group = serializers.CharField(allow_null=True)
    topic = serializers.CharField(allow_null=True)
    operation_id = serializers.CharField(allow_null=True)
    broker = serializers.IntegerField(allow_null=True)
    since = serializers.DateTimeField(allow_null=True)
    as_of = serializers.DateTimeField(allow_null=True)
    next = NextSerializer(
        allow_null=True, help_text="A plan that may be the way out, which you may make."
    )


class FirstVerdictSerializer(Shape):
    first_verdict_due_at = serializers.DateTimeField(
        allow_null=True, help_text="When groups can be judged first; null: they are."
    )


class ClusterSummarySerializer(Shape):
    topics = serializers.IntegerField()
    partitions = serializers.IntegerField()
    under_replicated = serializers.IntegerField()
    offline = serializers.IntegerField()
    size_bytes = serializers.IntegerField(allow_null=True, help_text="Over all replicas.")


class PageOfListSerializer(Shape):
    page = serializers.IntegerField(help_text="The one that is shown: at most the last.")
    size = serializers.IntegerField(help_text="Rows a page.")
    matched = serializers.IntegerField()


class LagCountsSerializer(PageOfListSerializer):
    """The page, and figures of all groups and topics."""

    groups = serializers.IntegerField()
    topics = serializers.IntegerField()
    in_trouble = serializers.IntegerField(help_text="Groups.")
    troubled = serializers.ListField(child=serializers.CharField(), help_text="Some of these.")
    lag_records = serializers.IntegerField(help_text="As far as it is known.")
    behind_s = serializers.FloatField(allow_null=True, help_text="The furthest of all.")
    behind_is_exact = serializers.BooleanField(help_text="Otherwise it is at least that.")


class RetentionCountsSerializer(PageOfListSerializer):
    """The page, and figures of all topics."""

    bytes = serializers.IntegerField(allow_null=True, help_text="As far as they are known.")
    first_loss = GroupExpirySerializer(
        allow_null=True, help_text="The worst and soonest of all groups; null: none is in danger."
    )


class TopicCountsSerializer(ListCountsSerializer):
    partitions = serializers.IntegerField(allow_null=True, help_text="Of all that match.")
    largest_bytes = serializers.IntegerField(allow_null=True)
    replication_factor_max = serializers.IntegerField(allow_null=True)


class GroupCountsSerializer(ListCountsSerializer):
    largest_lag = serializers.IntegerField(allow_null=True, help_text="Of all that match.")


class UserCountsSerializer(ListCountsSerializer):
    managed = serializers.ListField(
        child=serializers.CharField(), help_text="The service's own users that are there."
    )


class UserRulesSerializer(Shape):
    count = serializers.IntegerField(help_text="ACLs that name the user.")
    denies = serializers.IntegerField(help_text="Of these.")
    first = AclBindingSerializer(many=True, help_text=f"At most {RULES_SHOWN} of them.")


class ListedUserSerializer(KafkaUserSerializer):
    rules = UserRulesSerializer(allow_null=True, help_text="null: ACLs were never read.")


class LoadSerializer(Shape):
    id = serializers.IntegerField(help_text="The broker.")
    leaders = serializers.IntegerField(allow_null=True)
    replicas = serializers.IntegerField(allow_null=True)
    size_bytes = serializers.IntegerField(
        allow_null=True, help_text="null while its log directories cannot be read."
    )


@extend_schema_field({"$ref": "#/components/schemas/Plan"})
class PlanField(serializers.JSONField):
    """A plan of any kind: the document has one shape a kind and calls their union `Plan`."""


def _part(name: str, data: serializers.Field[Any, Any, Any, Any]) -> ShapeClass:
    """`{status, as_of, reason, data}` as component `<name>Part`; see `PartRunner.run`."""
    fields = {
        "status": serializers.ChoiceField(PART_STATUS_CHOICES),
        "as_of": serializers.DateTimeField(allow_null=True, help_text="When the data was true."),
        "reason": serializers.CharField(
            allow_null=True, help_text="Why the part is stale or unavailable."
        ),
        "data": data,
    }
    return type(f"{name}PartSerializer", (Shape,), fields)


# One class a shape, however many pages have it: two would be two components of one name.
@cache
def _one(shape: ShapeClass) -> ShapeClass:
    return _part(_name(shape), shape(allow_null=True))


@cache
def _list(shape: ShapeClass) -> ShapeClass:
    return _part(f"{_name(shape)}List", shape(many=True, allow_null=True))


def _name(shape: ShapeClass) -> str:
    return shape.__name__.removesuffix("Serializer")


def _page(name: str, parts: Mapping[str, ShapeClass]) -> ShapeClass:
    """`{parts: {…}}` as component `<name>Page` of the console."""
    made = {part: shape() for part, shape in parts.items()}
    inner = type(f"Console{name}PartsSerializer", (Shape,), made)
    return type(f"Console{name}PageSerializer", (Shape,), {"parts": inner()})


CLUSTER, TOPIC, GROUP = _one(ClusterSerializer), _one(TopicSerializer), _one(GroupSerializer)
TOPICS, GROUPS = _list(TopicRowSerializer), _list(GroupRowSerializer)
OPERATION, OPERATIONS = _one(OperationSerializer), _list(OperationSerializer)
LAG, RETENTION = _one(LagSerializer), _one(RetentionSerializer)
COLLECTOR = _one(FirstVerdictSerializer)
LOADS, REASSIGNMENTS = _list(LoadSerializer), _one(ActiveReassignmentsSerializer)

OverviewPageSerializer = _page(
    "Overview",
    {
        "clusters": _list(ClusterSerializer),
        "attention": _list(AttentionSerializer),
        "operations": OPERATIONS,
    },
)
ClusterPageSerializer = _page(
    "Cluster",
    {
        "cluster": CLUSTER,
        "attention": _list(AttentionSerializer),
        "summary": _one(ClusterSummarySerializer),
        "loads": LOADS,
        "versions": _one(ClusterVersionsSerializer),
        "reassignments": REASSIGNMENTS,
        "operations": OPERATIONS,
        "events": _list(TimelineEventSerializer),
        "client_config": _one(ClientConfigSerializer),
    },
)
PLACEMENT = _one(BrokerPlacementSerializer)
BrokerPageSerializer = _page(
    "Broker",
    {
        "broker": _one(BrokerDetailSerializer),
        "trouble": PLACEMENT,
        "process": _one(BrokerProcessSerializer),
        "settings": _list(ConfigEntrySerializer),
        "operations": OPERATIONS,
    },
)
PlacementPageSerializer = _page("Placement", {"partitions": PLACEMENT})
DirectoriesPageSerializer = _page("Directories", {"directories": _one(BrokerDirectoriesSerializer)})
TopicsPageSerializer = _page("Topics", {"topics": TOPICS, "counts": _one(TopicCountsSerializer)})
TopicPageSerializer = _page(
    "Topic",
    {"topic": TOPIC, "retention": RETENTION, "messages": _one(MessageRightsSerializer)},
)
ClientsPageSerializer = _page(
    "Clients", {"readers": _one(TopicReadersSerializer), "rules": _list(AclSerializer)}
)
ProducersPageSerializer = _page("Producers", {"producers": _one(ProducersSerializer)})
ReplicasPageSerializer = _page("Replicas", {"replicas": _one(TopicReplicasSerializer)})
GroupsPageSerializer = _page(
    "Groups", {"groups": GROUPS, "counts": _one(GroupCountsSerializer), "lag": LAG}
)
GroupPageSerializer = _page(
    "Group", {"group": GROUP, "lag": LAG, "retention": RETENTION, "collector": COLLECTOR}
)
AccessPageSerializer = _page(
    "Access",
    {
        "users": _list(ListedUserSerializer),
        "users_counts": _one(UserCountsSerializer),
        "overlaps": _list(PasswordOverlapSerializer),
        "acls": _list(AclSerializer),
        "acls_counts": _one(ListCountsSerializer),
        "quotas": _one(QuotasOfPageSerializer),
        "drift": _one(DriftOfPageSerializer),
    },
)
DriftPageSerializer = _page("Drift", {"drift": _one(ClusterDriftSerializer)})
ReassignPageSerializer = _page(
    "Reassign",
    {
        "cluster": CLUSTER,
        "counts": _one(TopicCountsSerializer),
        "loads": LOADS,
        "reassignments": REASSIGNMENTS,
    },
)
AnalyticsPageSerializer = _page(
    "Analytics",
    {
        "lag": LAG,
        "lag_counts": _one(LagCountsSerializer),
        "retention": RETENTION,
        "retention_counts": _one(RetentionCountsSerializer),
        "runs": _list(AnalyticsRunSerializer),
        "collector": COLLECTOR,
    },
)
OperationsPageSerializer = _page(
    "Operations", {"operations": OPERATIONS, "page": _one(PageSerializer)}
)
OperationPageSerializer = _page(
    "Operation", {"operation": OPERATION, "plan": _part("Plan", PlanField(allow_null=True))}
)
