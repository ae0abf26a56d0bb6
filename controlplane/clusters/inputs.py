"""What users may say about clusters."""

import re

from rest_framework import serializers

from controlplane.clusters.models import MECHANISM_CHOICES, SECURITY_CHOICES
from controlplane.common.serializers import Shape

NAME = re.compile(r"^[a-z][a-z0-9-]{0,62}$")
NAME_MAX = 63
BROKERS_MAX = 30
CONFIG_VALUE_MAX = 10_000


class ClusterCreateInputs(Shape):
    name = serializers.RegexField(
        NAME, max_length=NAME_MAX, help_text="Lower-case letters, digits, hyphens."
    )
    broker_count = serializers.IntegerField(min_value=1, max_value=BROKERS_MAX, default=3)
    host_ids = serializers.ListField(
        child=serializers.CharField(max_length=100), required=False, max_length=1_000
    )
    config = serializers.DictField(
        child=serializers.CharField(max_length=CONFIG_VALUE_MAX), required=False
    )


class ClusterRegisterInputs(Shape):
    name = serializers.RegexField(NAME, max_length=NAME_MAX)
    bootstrap_servers = serializers.RegexField(
        r"^[^\s,:]+:\d{1,5}(,[^\s,:]+:\d{1,5})*$", max_length=2000
    )
    security_protocol = serializers.ChoiceField(SECURITY_CHOICES, default="PLAINTEXT")
    sasl_mechanism = serializers.ChoiceField(MECHANISM_CHOICES, required=False)
    username = serializers.CharField(required=False, max_length=200)
    password = serializers.CharField(required=False, max_length=500, write_only=True)


class NoInputs(Shape):
    """Nothing to say beyond the cluster itself."""
