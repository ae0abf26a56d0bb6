"""What a change of the brokers' release takes, and what its plans show."""

from rest_framework import serializers

from controlplane.clusters.rolling import CANARY_MAX_S, CANARY_S, RolledBrokerSerializer
from controlplane.clusters.versions import NAME, NAME_MAX
from controlplane.common.serializers import Shape


class ClusterUpgradeInputs(Shape):
    version = serializers.RegexField(
        NAME,
        max_length=NAME_MAX,
        help_text="The directory's name on the hosts; `agent` is what their agents are of.",
    )
    canary_s = serializers.IntegerField(
        required=False, default=CANARY_S, min_value=0, max_value=CANARY_MAX_S
    )


class ClusterFinalizeVersionInputs(Shape):
    canary_s = serializers.IntegerField(
        required=False, default=CANARY_S, min_value=0, max_value=CANARY_MAX_S
    )


class UpgradedBrokerSerializer(RolledBrokerSerializer):
    from_version = serializers.CharField()
    to_version = serializers.CharField()
    from_software = serializers.CharField(
        allow_null=True, help_text="As the broker says of itself; null: it does not, or is away."
    )


class SoftwareSerializer(Shape):
    before = serializers.CharField(help_text="The cluster's version until now.")
    after = serializers.CharField()
    software = serializers.CharField(allow_blank=True, help_text="As the release calls itself.")
    digest = serializers.CharField(help_text="SHA-256 of its files, the same on every host.")


class ProtocolSerializer(Shape):
    now = serializers.CharField(help_text="inter.broker.protocol.version.")
    after = serializers.CharField(help_text="What brokers speak to each other afterwards.")
    newest = serializers.CharField(help_text="The newest that the version knows.")
    changes = serializers.ListField(
        child=serializers.CharField(),
        help_text="What is new in it; comes with cluster.finalize_version and not before.",
    )


class WayBackSerializer(Shape):
    is_open = serializers.BooleanField()
    text = serializers.CharField()


class UpgradeDiffSerializer(Shape):
    version = SoftwareSerializer()
    protocol = ProtocolSerializer()
    way_back = WayBackSerializer()
    brokers = UpgradedBrokerSerializer(many=True, help_text="In the order of the roll.")
    canary_s = serializers.IntegerField()


class FinalizeDiffSerializer(Shape):
    version = serializers.CharField()
    protocol = ProtocolSerializer()
    no_way_back_to = serializers.ListField(
        child=serializers.CharField(),
        help_text="Versions on the hosts that the brokers cannot go back to afterwards.",
    )
    brokers = RolledBrokerSerializer(many=True)
    canary_s = serializers.IntegerField()
