from rest_framework import serializers

from controlplane.clusters.inputs import ClusterCreateInputs
from controlplane.clusters.models import KIND_CHOICES, PHASE_CHOICES
from controlplane.clusters.snippets import LANGUAGES
from controlplane.common.serializers import ParamsField, Shape, etag_field, page_serializer
from controlplane.observed.serializers import HealthSerializer, ObservedSerializer
from controlplane.operations.serializers import OperationSerializer
from controlplane.operations.shapes import plan_shape


class BrokerDriftSerializer(Shape):
    field = serializers.CharField(help_text="live, host, port or rack.")
    desired = serializers.CharField(allow_blank=True)
    observed = serializers.CharField(allow_blank=True)
    text = serializers.CharField(help_text="What differs, a sentence in English.")
    text_code = serializers.CharField(
        help_text="Which sentence it is; it stays when the sentence is put another way."
    )
    params = ParamsField(help_text="What was put into the sentence; null: none.")


class BrokerSerializer(Shape):
    id = serializers.IntegerField()
    host = serializers.CharField()
    port = serializers.IntegerField()
    rack = serializers.CharField(allow_null=True)
    managed = serializers.BooleanField(help_text="Whether an agent of the service runs it.")
    alive = serializers.BooleanField(allow_null=True)
    observed_state = serializers.CharField()
    pid = serializers.IntegerField(allow_null=True)
    restarts = serializers.IntegerField()
    since_ms = serializers.IntegerField(allow_null=True)
    message = serializers.CharField(allow_blank=True)
    drift = BrokerDriftSerializer(
        many=True,
        allow_null=True,
        help_text="Where it is not as it was placed; null while the cluster was not read. Brokers"
        " of a cluster that runs elsewhere have none.",
    )


def _mechanisms() -> serializers.ListField:
    return serializers.ListField(
        child=serializers.CharField(),
        help_text="What a client may log in by, the usual one first. Of a cluster that runs"
        " elsewhere the one that is known to work; of a user those that it has a password for.",
    )


class ClusterSerializer(Shape):
    id = serializers.CharField()
    name = serializers.CharField()
    kind = serializers.ChoiceField(KIND_CHOICES)
    phase = serializers.ChoiceField(PHASE_CHOICES)
    health = HealthSerializer()
    bootstrap_servers = serializers.CharField()
    security_protocol = serializers.CharField()
    sasl_mechanism = serializers.CharField(
        allow_null=True, help_text="What new users get and `client-config` names; null: no login."
    )
    sasl_mechanisms = _mechanisms()
    brokers = BrokerSerializer(many=True)
    controller_id = serializers.IntegerField(allow_null=True)
    unknown_because = serializers.CharField(
        allow_null=True,
        help_text="Why the brokers did not say who they are: controller and, of a registered"
        " cluster, brokers are unknown then. Null when they did, or were not asked, as in lists.",
    )
    zookeeper_path = serializers.CharField(allow_null=True)
    cut_bound_s = serializers.FloatField(
        allow_null=True,
        help_text="Seconds that writes with acks=all may wait while two of its hosts do not reach"
        " each other but both reach ZooKeeper, also where one of the two has the active controller:"
        " 1.25 times its replica.lag.time.max.ms, and 1.5 s. Null for a cluster whose settings"
        " others choose.",
    )
    created_at = serializers.DateTimeField()
    etag = etag_field()


ClusterPageSerializer = page_serializer(ClusterSerializer)


class ClusterPlanInputSerializer(ClusterCreateInputs):
    confirm = serializers.BooleanField(default=False, help_text="Start at once.")


class ClusterPlanSerializer(Shape):
    plan = plan_shape("cluster.create")()
    operation = OperationSerializer(allow_null=True)


class SnippetSerializer(Shape):
    language = serializers.ChoiceField(LANGUAGES)
    title = serializers.CharField()
    file = serializers.CharField(help_text="What to call it.")
    install = serializers.CharField(allow_blank=True, help_text="Brings the client.")
    run = serializers.CharField(
        allow_blank=True, help_text="Runs it, with the password in the environment."
    )
    text = serializers.CharField(help_text="Sends one record; it never holds a password.")


class ClientConfigSerializer(Shape):
    values = serializers.DictField(child=serializers.CharField())
    mechanisms = _mechanisms()
    properties = serializers.CharField(help_text="librdkafka's keys, one a line.")
    java = serializers.CharField(help_text="The same with the keys of Java clients.")
    python = serializers.CharField()
    snippets = SnippetSerializer(many=True)
    ca_pem = serializers.CharField(
        allow_null=True, help_text="Whom clients have to trust, where that is the cluster's own."
    )


class UserClientConfigSerializer(ClientConfigSerializer):
    """`observed`: when the user's mechanisms were last read; the rest is the cluster's record."""

    observed = ObservedSerializer()
