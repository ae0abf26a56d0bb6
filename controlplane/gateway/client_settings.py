"""What every Kafka client of the gateway is given: where the cluster is and who we are there."""

from typing import Any

from controlplane.gateway.connection_spec import OAUTHBEARER, ConnectionSpec
from controlplane.gateway.oauth import TokenProvider
from controlplane.gateway.tls import broker_context


def client_settings(spec: ConnectionSpec) -> dict[str, Any]:
    """kafka-python's names.

    Raises:
        GatewayError: `bad-certificates`.
    """
    found: dict[str, Any] = {
        "bootstrap_servers": list(spec.bootstrap_servers),
        "security_protocol": spec.security_protocol,
    }
    if spec.uses_tls:
        found["ssl_context"] = broker_context(spec)
    if spec.uses_sasl:
        found["sasl_mechanism"] = spec.sasl_mechanism
        if spec.sasl_mechanism == OAUTHBEARER:
            found["sasl_oauth_token_provider"] = TokenProvider(spec)
        else:
            found["sasl_plain_username"] = spec.username or ""
            found["sasl_plain_password"] = spec.password or ""
    return found
