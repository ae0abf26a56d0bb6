"""The shapes of a cluster's software."""

from rest_framework import serializers

from controlplane.common.serializers import Shape


class BrokerVersionSerializer(Shape):
    id = serializers.IntegerField()
    desired = serializers.CharField(help_text="What its host was told to run.")
    running = serializers.CharField(
        allow_null=True, help_text="What its agent started; null: not reported, or not known."
    )
    software = serializers.CharField(
        allow_null=True,
        help_text="What the process calls itself; null: it does not say, as older releases.",
    )
    protocol = serializers.CharField(
        allow_null=True, help_text="What the process says that it speaks to other brokers."
    )
    digest = serializers.CharField(allow_null=True)


class VersionOfferSerializer(Shape):
    name = serializers.CharField()
    is_own = serializers.BooleanField(help_text="What the hosts' agents themselves are of.")
    is_current = serializers.BooleanField()
    software = serializers.CharField(allow_null=True, allow_blank=True)
    digest = serializers.CharField(allow_null=True)
    oldest = serializers.CharField(
        allow_null=True, help_text="The oldest inter.broker.protocol.version that it speaks."
    )
    newest = serializers.CharField(allow_null=True)
    why_not = serializers.CharField(
        allow_null=True, help_text="Why the brokers may not run it now; null where they may."
    )


class ClusterVersionsSerializer(Shape):
    version = serializers.CharField(help_text="`agent`: what the hosts' agents are of.")
    software = serializers.CharField(allow_null=True, allow_blank=True)
    protocol = serializers.CharField(
        allow_null=True,
        help_text="inter.broker.protocol.version; null while the brokers do not all say the same.",
    )
    protocol_newest = serializers.CharField(
        allow_null=True, help_text="To which it may be raised; null where to none, or not known."
    )
    changes = serializers.ListField(child=serializers.CharField())
    is_mixed = serializers.BooleanField(help_text="Whether brokers are of two versions.")
    may_change = serializers.BooleanField()
    brokers = BrokerVersionSerializer(many=True)
    offers = VersionOfferSerializer(many=True, help_text="What any of its hosts has.")
    reported_at = serializers.DateTimeField(
        allow_null=True,
        help_text="The oldest of its hosts' reports; they report when something has changed.",
    )
