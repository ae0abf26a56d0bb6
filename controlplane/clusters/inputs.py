"""What users may say about clusters."""

import re
import unicodedata
from typing import Any

from rest_framework import serializers

from controlplane.clusters.credentials import misfits
from controlplane.clusters.models import (
    LISTENER_SECURITY_CHOICES,
    MECHANISM_CHOICES,
    SECURITY_CHOICES,
)
from controlplane.common.serializers import Shape

NAME = re.compile(r"^[a-z][a-z0-9-]{0,62}$")
NAME_MAX = 63
BROKERS_MAX = 30
CONFIG_VALUE_MAX = 10_000
PEM_MAX = 64 * 1024
BOOTSTRAP = r"^[^\s,:]+:\d{1,5}(,[^\s,:]+:\d{1,5})*$"
# Neither a user nor a fragment: who asks goes in the fields made for it.
TOKEN_ENDPOINT = r"^https://[^\s/?#@\\]+(/[^\s#\\]*)?$"  # noqa: S105 - a pattern


def printable(text: str) -> None:
    """A login is written into other languages' settings, where a control character is syntax."""
    if any(unicodedata.category(character) == "Cc" for character in text):
        raise serializers.ValidationError("It holds control characters.")


class ClusterCreateInputs(Shape):
    name = serializers.RegexField(
        NAME, max_length=NAME_MAX, help_text="Lower-case letters, digits, hyphens."
    )
    broker_count = serializers.IntegerField(min_value=1, max_value=BROKERS_MAX, default=3)
    config = serializers.DictField(
        child=serializers.CharField(max_length=CONFIG_VALUE_MAX), required=False
    )
    # Encrypted unless somebody says otherwise: a client that does not expect it fails at once and
    # says why, where one that sends its records in the open is noticed by nobody.
    listener_security = serializers.ChoiceField(
        LISTENER_SECURITY_CHOICES,
        default="SASL_SSL",
        help_text="With SASL_SSL clients trust the cluster's own authority (`client-config`).",
    )


class CredentialInputs(Shape):
    """The way in to a cluster that runs elsewhere; fields that it does not use are refused."""

    security_protocol = serializers.ChoiceField(SECURITY_CHOICES, default="PLAINTEXT")
    sasl_mechanism = serializers.ChoiceField(MECHANISM_CHOICES, required=False)
    username = serializers.CharField(
        required=False,
        max_length=200,
        validators=[printable],
        help_text="PLAIN and SCRAM: who logs in.",
    )
    password = serializers.CharField(
        required=False,
        max_length=500,
        write_only=True,
        trim_whitespace=False,
        validators=[printable],
    )
    ca_pem = serializers.CharField(
        required=False,
        max_length=PEM_MAX,
        help_text="TLS: the authorities to trust, in PEM; without it the system's own. The"
        " brokers' certificates must name the hosts that they are reached by.",
    )
    client_certificate_pem = serializers.CharField(
        required=False, max_length=PEM_MAX, help_text="TLS: the client's certificate chain, in PEM."
    )
    client_key_pem = serializers.CharField(
        required=False,
        max_length=PEM_MAX,
        write_only=True,
        help_text="TLS: the certificate's key, in PEM, without a password.",
    )
    oauth_token_url = serializers.RegexField(
        TOKEN_ENDPOINT, required=False, max_length=500, help_text="OAUTHBEARER: an https URL."
    )
    oauth_client_id = serializers.CharField(required=False, max_length=200, validators=[printable])
    oauth_client_secret = serializers.CharField(
        required=False,
        max_length=2000,
        write_only=True,
        trim_whitespace=False,
        validators=[printable],
    )
    oauth_scope = serializers.CharField(required=False, max_length=500, validators=[printable])

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        wrong = misfits(attrs)
        if wrong:
            raise serializers.ValidationError({name: [text] for name, text in wrong.items()})
        return attrs


class ClusterRegisterInputs(CredentialInputs):
    name = serializers.RegexField(NAME, max_length=NAME_MAX)
    bootstrap_servers = serializers.RegexField(BOOTSTRAP, max_length=2000)


class ClusterCredentialsInputs(CredentialInputs):
    """The whole way in, given again: nothing of the one before is taken over."""

    bootstrap_servers = serializers.RegexField(
        BOOTSTRAP, required=False, max_length=2000, help_text="Left out: those that are kept."
    )


class NoInputs(Shape):
    """Nothing to say beyond the cluster itself."""
