from typing import Any

from rest_framework import serializers

from controlplane.common.serializers import Shape, etag_field, page_serializer
from controlplane.notifications.events import WARNING
from controlplane.notifications.inputs import (
    CA_MAX_CHARS,
    RECEIVERS_MAX,
    URL_MAX_CHARS,
    VALUE_MAX_CHARS,
)
from controlplane.notifications.kinds.signature import SECRET_MAX_CHARS
from controlplane.notifications.models import (
    DELIVERY_STATE_CHOICES,
    EVENT_STATE_CHOICES,
    KIND_CHOICES,
    SEVERITY_CHOICES,
)

FILTERS_MAX = 100
SECRETS = "Write-only: shown nowhere. Left out of a change, those of before stay."


class DestinationConfigSerializer(Shape):
    url = serializers.CharField(
        allow_null=True, help_text="webhook, alertmanager, pagerduty (null: PagerDuty's own)"
    )
    ca_pem = serializers.CharField(allow_null=True, help_text="authorities trusted besides")
    to = serializers.ListField(child=serializers.CharField(), help_text="email: the receivers")


class DestinationSerializer(Shape):
    id = serializers.CharField()
    name = serializers.CharField()
    kind = serializers.ChoiceField(KIND_CHOICES)
    enabled = serializers.BooleanField(help_text="False: nothing is sent, what waits stays a day.")
    min_severity = serializers.ChoiceField(SEVERITY_CHOICES)
    rules = serializers.ListField(child=serializers.CharField(), help_text="Empty: any.")
    clusters = serializers.ListField(child=serializers.CharField(), help_text="Empty: any.")
    send_resolved = serializers.BooleanField()
    config = DestinationConfigSerializer()
    has_secrets = serializers.BooleanField()
    rotation_ends_at = serializers.DateTimeField(
        allow_null=True, help_text="Until then webhooks are signed with the secret of before too."
    )
    created_at = serializers.DateTimeField()
    failures = serializers.IntegerField(help_text="Failed attempts since the last delivery.")
    last_sent_at = serializers.DateTimeField(allow_null=True)
    last_failed_at = serializers.DateTimeField(allow_null=True)
    last_error = serializers.CharField()
    etag = etag_field()


DestinationPageSerializer = page_serializer(DestinationSerializer)


class DestinationConfigInputSerializer(Shape):
    url = serializers.CharField(max_length=URL_MAX_CHARS, required=False)
    ca_pem = serializers.CharField(max_length=CA_MAX_CHARS, required=False)
    to = serializers.ListField(
        child=serializers.CharField(max_length=254),
        min_length=1,
        max_length=RECEIVERS_MAX,
        required=False,
    )


def _secret(max_length: int, help_text: str) -> serializers.CharField:
    return serializers.CharField(
        max_length=max_length,
        required=False,
        write_only=True,
        trim_whitespace=False,
        help_text=help_text,
    )


class DestinationSecretsInputSerializer(Shape):
    signing_secret = _secret(
        SECRET_MAX_CHARS, "webhook: a change leaves the one of before valid for a day"
    )
    url = _secret(URL_MAX_CHARS, "slack")
    routing_key = _secret(VALUE_MAX_CHARS, "pagerduty")
    authorization = _secret(VALUE_MAX_CHARS, "alertmanager: the header's value")


def _ids(help_text: str, **more: Any) -> serializers.ListField:
    child = serializers.RegexField(r"^[A-Za-z0-9_-]+\Z", max_length=100)
    return serializers.ListField(child=child, max_length=FILTERS_MAX, help_text=help_text, **more)


class DestinationChangeSerializer(Shape):
    """All of a destination but its address and secrets, which stay when they are left out."""

    name = serializers.CharField(max_length=100)
    enabled = serializers.BooleanField()
    min_severity = serializers.ChoiceField(SEVERITY_CHOICES)
    rules = _ids("Ids of rules; empty: any.")
    clusters = _ids("Ids of clusters; empty: any.")
    send_resolved = serializers.BooleanField()
    config = DestinationConfigInputSerializer(
        required=False, help_text="In place of all of it; left out, it stays."
    )
    secrets = DestinationSecretsInputSerializer(required=False, help_text=SECRETS)

    def validate_rules(self, value: list[str]) -> list[str]:
        return sorted(set(value))

    def validate_clusters(self, value: list[str]) -> list[str]:
        return sorted(set(value))


class DestinationInputSerializer(DestinationChangeSerializer):
    kind = serializers.ChoiceField(KIND_CHOICES)
    enabled = serializers.BooleanField(default=True)
    min_severity = serializers.ChoiceField(SEVERITY_CHOICES, default=WARNING)
    rules = _ids("Ids of rules; empty: any.", default=list)
    clusters = _ids("Ids of clusters; empty: any.", default=list)
    send_resolved = serializers.BooleanField(default=True)


class DestinationTestSerializer(Shape):
    delivered = serializers.BooleanField()
    code = serializers.CharField(help_text="`delivered`, or of the failure")
    text = serializers.CharField(allow_blank=True)
    status = serializers.IntegerField(allow_null=True, help_text="of an HTTP answer")
    took_ms = serializers.IntegerField()


class DeliverySerializer(Shape):
    id = serializers.CharField()
    destination_id = serializers.CharField()
    destination_name = serializers.CharField()
    kind = serializers.ChoiceField(KIND_CHOICES)
    alert_id = serializers.CharField()
    event_id = serializers.CharField()
    event_state = serializers.ChoiceField(EVENT_STATE_CHOICES)
    rule = serializers.CharField()
    severity = serializers.ChoiceField(SEVERITY_CHOICES)
    summary = serializers.CharField(allow_blank=True)
    state = serializers.ChoiceField(
        DELIVERY_STATE_CHOICES, help_text="`dead`: not tried again unless it is sent again by hand."
    )
    attempts = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    tried_at = serializers.DateTimeField(allow_null=True)
    next_try_at = serializers.DateTimeField(allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True)
    error_code = serializers.CharField(allow_blank=True)
    error_text = serializers.CharField(allow_blank=True)
    status = serializers.IntegerField(allow_null=True)


class DeliveryDetailSerializer(DeliverySerializer):
    event = serializers.JSONField(help_text="The event as it is sent: labels, values, links.")


DeliveryPageSerializer = page_serializer(DeliverySerializer)


class DeliveryQuerySerializer(Shape):
    """The filters of the list; what pages it is checked where it is paged."""

    destination_id = serializers.CharField(max_length=40, required=False)
    alert_id = serializers.CharField(max_length=60, required=False)
    state = serializers.ChoiceField(DELIVERY_STATE_CHOICES, required=False)
    severity = serializers.ChoiceField(SEVERITY_CHOICES, required=False)

    def to_internal_value(self, data: Any) -> Any:
        return super().to_internal_value({n: data[n] for n in self.fields if n in data})
