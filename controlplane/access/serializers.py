from typing import Any

from rest_framework import serializers

from controlplane.access.decisions.authorizer import CLUSTER, CLUSTER_NAME, Reason, Verdict
from controlplane.access.decisions.matrix import COLUMNS_MAX
from controlplane.access.decisions.quotas import QUOTA_KEYS
from controlplane.access.inputs import (
    OPERATIONS,
    RESOURCE_TYPES,
    VALID_OPERATIONS,
    UpperChoice,
)
from controlplane.access.models import OPEN_STATES
from controlplane.clusters.questions import DENIED_EVENTS
from controlplane.common.serializers import PageSerializer, Shape
from controlplane.gateway.types import QUOTA_CLIENT_ID, QUOTA_IP, QUOTA_USER
from controlplane.observed.serializers import (
    AS_OF,
    STALE,
    ObservedRowSerializer,
    ObservedSerializer,
    observed_page,
)
from controlplane.observed.sighting_serializers import SightedSerializer

VERDICTS = [each.value for each in Verdict]


class KafkaUserSerializer(ObservedRowSerializer):
    username = serializers.CharField()
    mechanisms = serializers.ListField(child=serializers.CharField())
    managed = serializers.BooleanField(help_text="The service's own user.")


KafkaUserPageSerializer = observed_page(KafkaUserSerializer)


class PasswordOverlapSerializer(Shape):
    """Two passwords of one user that work beside each other."""

    username = serializers.CharField()
    old_mechanism = serializers.CharField()
    new_mechanism = serializers.CharField(help_text="Clients with the new password name this one.")
    state = serializers.ChoiceField(
        list(OPEN_STATES),
        help_text="`held`: the old password is not removed by itself any more; see `problem`.",
    )
    rotation = serializers.CharField(help_text="The operation that began it.")
    created_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField(help_text="When the old password is removed.")
    problem = serializers.CharField(
        allow_blank=True, help_text="Why it has not ended yet although its time is over."
    )


class PasswordOverlapListSerializer(Shape):
    data = PasswordOverlapSerializer(many=True)  # type: ignore[assignment] # a field


class AclBindingSerializer(Shape):
    principal = serializers.CharField()
    host = serializers.CharField()
    operation = serializers.CharField()
    permission = serializers.CharField()
    resource_type = serializers.CharField()
    resource_name = serializers.CharField()
    pattern_type = serializers.CharField()


class AclSerializer(ObservedRowSerializer, AclBindingSerializer):
    pass


AclPageSerializer = observed_page(AclSerializer)


class AccessDriftRowSerializer(SightedSerializer):
    area = serializers.ChoiceField(["user", "acl"])
    name = serializers.CharField(help_text="A user's name, or a rule in words.")
    desired = serializers.CharField(help_text="What the last verified operation left.")
    observed = serializers.CharField()
    operation_id = serializers.CharField()


class SectionAgeSerializer(Shape):
    as_of = serializers.DateTimeField(
        allow_null=True, help_text=f"{AS_OF} Null: never read, and whether anything drifts unknown."
    )
    stale_reason = serializers.CharField(allow_null=True, help_text=STALE)


class AccessDriftSerializer(Shape):
    data = AccessDriftRowSerializer(many=True)  # type: ignore[assignment] # a field
    users = SectionAgeSerializer()
    acls = SectionAgeSerializer()
    under_way = serializers.ListField(
        child=serializers.CharField(),
        help_text="Operations that may be about to change something: of that nothing is said.",
    )


class AclDiffSerializer(Shape):
    before = AclBindingSerializer(many=True)
    after = AclBindingSerializer(many=True)


ANONYMOUS = "User:ANONYMOUS"
QUESTION_OPERATIONS = [name for name in OPERATIONS if name != "ALL"]
"""What a request may need; ALL is for rules."""


class AccessQuestionSerializer(Shape):
    """Can `principal`, from `host`, do `operation` on that resource?"""

    principal = serializers.RegexField(
        r"^User:[^\x00-\x1f]+$",
        max_length=205,
        default=ANONYMOUS,
        help_text="`User:<name>`, of a certificate its whole name; who does not log in by default.",
    )
    operation = UpperChoice(QUESTION_OPERATIONS, default="DESCRIBE")
    resource_type = UpperChoice(RESOURCE_TYPES, default=CLUSTER)
    resource_name = serializers.CharField(
        max_length=249, required=False, help_text=f"Of the cluster it is `{CLUSTER_NAME}`."
    )
    host = serializers.IPAddressField(
        default="", allow_blank=True, help_text="The client's address; without it, one of no rule."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        kind = attrs["resource_type"]
        if attrs["operation"] not in VALID_OPERATIONS[kind]:
            raise serializers.ValidationError(
                {"operation": f"{attrs['operation']} does not apply to a {kind}."}
            )
        if kind == CLUSTER:
            attrs.setdefault("resource_name", CLUSTER_NAME)
            if attrs["resource_name"] != CLUSTER_NAME:
                raise serializers.ValidationError(
                    {"resource_name": f"The cluster's resource is called {CLUSTER_NAME}."}
                )
        elif not attrs.get("resource_name"):
            raise serializers.ValidationError({"resource_name": "Say which one."})
        return attrs


class BrokerVerdictSerializer(Shape):
    broker = serializers.IntegerField()
    verdict = serializers.ChoiceField(VERDICTS)


class AccessDecisionSerializer(Shape):
    """The verdict of Kafka's own rules, and what decides it."""

    principal = serializers.CharField()
    operation = serializers.CharField()
    resource_type = serializers.CharField()
    resource_name = serializers.CharField()
    host = serializers.CharField(allow_blank=True)
    verdict = serializers.ChoiceField(VERDICTS)
    reason = serializers.ChoiceField([each.value for each in Reason])
    text = serializers.CharField(help_text="The answer in a sentence.")
    deciding = AclBindingSerializer(many=True, help_text="The ACLs that allow it, or deny it.")
    missing = AclBindingSerializer(many=True, help_text="ACLs that would have to be added.")
    templates = serializers.ListField(
        child=serializers.CharField(), help_text="Those of which a rule allows it."
    )
    unknown = serializers.ListField(
        child=serializers.CharField(), help_text="Brokers' settings that decide and are unknown."
    )
    unknown_reason = serializers.CharField(allow_null=True, help_text="Why they are.")
    by_broker = BrokerVerdictSerializer(many=True, help_text="Where brokers are set differently.")
    other_hosts = serializers.ListField(
        child=serializers.CharField(), help_text="Hosts named by ACLs that get another answer."
    )
    acls = SectionAgeSerializer()


class MatrixResourceSerializer(Shape):
    resource_type = serializers.CharField()
    pattern_type = serializers.CharField()
    resource_name = serializers.CharField()


class MatrixEntrySerializer(Shape):
    operation = serializers.CharField()
    hosts = serializers.ListField(child=serializers.CharField(), help_text="`*`: from anywhere.")


class MatrixCellSerializer(Shape):
    resource = serializers.IntegerField(help_text="Which of `resources`, from 0.")
    allow = MatrixEntrySerializer(many=True)
    deny = MatrixEntrySerializer(many=True)


class MatrixRowSerializer(Shape):
    principal = serializers.CharField()
    cells = MatrixCellSerializer(many=True)


class AccessMatrixSerializer(Shape):
    """A page of principals, and the resources that ACLs about them name."""

    data = MatrixRowSerializer(many=True)  # type: ignore[assignment] # a field
    resources = MatrixResourceSerializer(many=True)
    columns_left_out = serializers.IntegerField(
        help_text=f"Resources beyond {COLUMNS_MAX}: those with the fewest ACLs. Narrow the search."
    )
    principals = serializers.IntegerField(help_text="How many there are on all pages.")
    page = PageSerializer()
    observed = SectionAgeSerializer()


class TemplateFieldSerializer(Shape):
    name = serializers.CharField()
    title = serializers.CharField()
    hint = serializers.CharField()
    may_be_prefix = serializers.BooleanField()
    is_required = serializers.BooleanField()


class TemplateRuleSerializer(Shape):
    resource_type = serializers.CharField()
    operations = serializers.ListField(child=serializers.CharField())
    field = serializers.CharField(allow_null=True, help_text="Whose value is the resource's name.")
    name = serializers.CharField(allow_blank=True, help_text="The name, where there is no field.")
    suffix = serializers.CharField(allow_blank=True, help_text="Added to the field's value.")
    is_prefix = serializers.BooleanField()


class AclTemplateSerializer(Shape):
    name = serializers.CharField()
    title = serializers.CharField()
    text = serializers.CharField()
    asks = TemplateFieldSerializer(many=True, help_text="What the template asks for.")
    rules = TemplateRuleSerializer(many=True)


class AclTemplateListSerializer(Shape):
    data = AclTemplateSerializer(many=True)  # type: ignore[assignment] # a field


def _quota_values(name: str, **more: Any) -> type[Shape]:
    fields = {key: serializers.FloatField(allow_null=True) for key in QUOTA_KEYS}
    return type(name, (Shape,), {**fields, **more})


QuotaValuesSerializer = _quota_values(
    "QuotaValuesSerializer", __doc__="Of each broker; null: none of its own."
)


class QuotaDiffSerializer(Shape):
    before = QuotaValuesSerializer()
    after = QuotaValuesSerializer()


class QuotaEntitySerializer(Shape):
    type = serializers.ChoiceField([QUOTA_USER, QUOTA_CLIENT_ID, QUOTA_IP])
    name = serializers.CharField(
        allow_null=True, help_text="Null: all that have no quota of their own."
    )


class ClientQuotaSerializer(Shape):
    entity = QuotaEntitySerializer(many=True)
    words = serializers.CharField(help_text="Of whom, in words.")
    quotas = QuotaValuesSerializer()
    managed = serializers.BooleanField(help_text="Of the service's own user, or of an address.")


class ClientQuotaListSerializer(Shape):
    """As the brokers say it now, or while they do not, as they last did (`observed`). Each broker
    bounds what reaches it.
    """

    data = ClientQuotaSerializer(many=True)  # type: ignore[assignment] # a field
    observed = ObservedSerializer()


class DeniedAttemptSerializer(Shape):
    event = serializers.ChoiceField(DENIED_EVENTS)
    principal = serializers.CharField(allow_blank=True)
    operation = serializers.CharField(allow_blank=True)
    resource_type = serializers.CharField(
        allow_null=True, help_text="Kafka's, as of an ACL; null of a login."
    )
    resource_name = serializers.CharField(
        allow_blank=True, help_text="As the client named it; believe nothing."
    )
    host = serializers.CharField(allow_blank=True, help_text="The client's address.")
    api = serializers.CharField(allow_blank=True, help_text="Kafka's name of the last request.")
    count = serializers.IntegerField(help_text="Within what was looked at.")
    first_ms = serializers.IntegerField()
    last_ms = serializers.IntegerField()
    brokers = serializers.ListField(child=serializers.IntegerField())


class AuditedBrokerSerializer(Shape):
    id = serializers.IntegerField()
    since_ms = serializers.IntegerField(
        allow_null=True,
        help_text="How far back was looked; null: its log holds no line, or nothing is known.",
    )
    is_whole = serializers.BooleanField(help_text="Whether the broker keeps nothing older.")
    held_back = serializers.IntegerField(
        allow_null=True, help_text="Lines that it did not write, as there were too many."
    )
    left_out = serializers.IntegerField(
        allow_null=True, help_text="Attempts that are not listed: older, or of who made many."
    )
    unknown_because = serializers.CharField(
        allow_null=True, help_text="Why nothing is known of it; null when something is."
    )


class DeniedAttemptPageSerializer(Shape):
    data = DeniedAttemptSerializer(many=True)  # type: ignore[assignment] # a field
    page = PageSerializer()
    brokers = AuditedBrokerSerializer(many=True)
