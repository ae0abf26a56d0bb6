"""What every Kafka client of the gateway is given: where the cluster is and who we are there."""

from typing import Any

from controlplane.gateway.connection_spec import OAUTHBEARER, ConnectionSpec
from controlplane.gateway.egress_hook import proxy_url
from controlplane.gateway.oauth import TokenProvider
from controlplane.gateway.tls import broker_context
from controlplane.gateway.tls_transport import bound_handshakes

bound_handshakes()


def client_settings(spec: ConnectionSpec, address: str) -> dict[str, Any]:
    """kafka-python's names; every connection passes `spec.egress`.

    It begins at `address`, which let us in: the library chooses one of several by chance and gives
    it all of its time, though another one would have answered.

    Raises:
        GatewayError: `bad-certificates`.
    """
    found: dict[str, Any] = {
        "bootstrap_servers": [address],
        "security_protocol": spec.security_protocol,
        "proxy_url": proxy_url(spec.egress),
        **login_settings(spec),
    }
    if spec.uses_tls:
        found["ssl_context"] = broker_context(spec)
    return found


def login_settings(spec: ConnectionSpec) -> dict[str, Any]:
    """Of these settings those of SASL; none without it."""
    if not spec.uses_sasl:
        return {}
    if spec.sasl_mechanism == OAUTHBEARER:
        return {
            "sasl_mechanism": OAUTHBEARER,
            "sasl_oauth_token_provider": TokenProvider(spec),
        }
    return {
        "sasl_mechanism": spec.sasl_mechanism,
        "sasl_plain_username": spec.username or "",
        "sasl_plain_password": spec.password or "",
    }
