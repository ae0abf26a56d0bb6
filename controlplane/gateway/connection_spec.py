"""How the gateway reaches one cluster."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionSpec:
    """How to reach a cluster as its administrator."""

    bootstrap_servers: tuple[str, ...]
    security_protocol: str = "PLAINTEXT"
    sasl_mechanism: str | None = None
    username: str | None = None
    password: str | None = None
    timeout_s: float = 10.0
