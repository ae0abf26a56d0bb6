"""How the gateway reaches one cluster."""

from dataclasses import dataclass, field

from controlplane.gateway.egress import ANYWHERE, EgressPolicy

OAUTHBEARER = "OAUTHBEARER"


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthClient:
    """Who asks a token endpoint for tokens, by the client credentials grant of RFC 6749 §4.4.

    Attributes:
        token_url: an https URL.
        scope: space-separated; empty: the endpoint's default.
    """

    token_url: str
    client_id: str
    client_secret: str = field(repr=False)
    scope: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionSpec:
    """How to reach a cluster as its administrator.

    Attributes:
        ca_pem: the certificates that brokers' certificates must lead to; None: the system's own.
            A broker's certificate must name the host that it was reached by, always.
        client_certificate_pem: with `client_key_pem` who we are, where the brokers ask for that.
        client_key_pem: PKCS #8 without a password.
        oauth: whose tokens to show, where the mechanism is OAUTHBEARER.
        egress: where connections may go, those to brokers that the cluster names and to the token
            endpoint too. Only for what the operator runs that is anywhere.
    """

    bootstrap_servers: tuple[str, ...]
    security_protocol: str = "PLAINTEXT"
    sasl_mechanism: str | None = None
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    ca_pem: str | None = None
    client_certificate_pem: str | None = None
    client_key_pem: str | None = field(default=None, repr=False)
    oauth: OAuthClient | None = None
    egress: EgressPolicy = ANYWHERE
    timeout_s: float = 10.0

    @property
    def uses_tls(self) -> bool:
        return self.security_protocol in {"SSL", "SASL_SSL"}

    @property
    def uses_sasl(self) -> bool:
        return self.security_protocol in {"SASL_PLAINTEXT", "SASL_SSL"}
