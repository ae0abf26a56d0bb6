"""By which mechanisms clients log in. Pure.

One truth for brokers, for users, and for what people are told.
"""

from typing import Final

SCRAM: Final = ("SCRAM-SHA-256", "SCRAM-SHA-512")
"""What brokers of managed clusters take; Kafka keeps a password per user and mechanism."""
OF_NEW_USERS: Final = "SCRAM-SHA-512"
"""What a user of a managed cluster gets when nobody asks for another."""


def client_mechanisms(
    *, is_managed: bool, security_protocol: str, service_mechanism: str
) -> list[str]:
    """What clients may use, the usual one first; none where there is no login.

    Of a cluster that runs elsewhere that is what it is known to take: by which the service itself
    logs in. Of one of ours the service's own login says nothing, for its user is not a client's.
    """
    if not security_protocol.startswith("SASL"):
        return []
    if is_managed:
        return sorted(SCRAM, key=lambda mechanism: mechanism != OF_NEW_USERS)
    return [service_mechanism] if service_mechanism else []
