"""Whether a cluster refuses a user: asked before the admin client is made.

The admin library takes a refused user for a broker that is away and tries again until its time
is up. librdkafka distinguishes the two at once.
"""

import contextlib
import time
from typing import Any

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from controlplane.gateway.connection_spec import OAUTHBEARER, ConnectionSpec
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.oauth import token_of
from controlplane.gateway.records import security_settings

PROBE_S_MAX = 2.0
POLL_S = 0.05
REFUSED = KafkaError._AUTHENTICATION  # noqa: SLF001 - librdkafka's own codes are public all the same


def check_authentication(spec: ConnectionSpec) -> None:
    """Pass when a broker lets the user in, or when none answers in `PROBE_S_MAX` seconds.

    Raises:
        GatewayError: SASL_AUTHENTICATION_FAILED, with the broker's words.
    """
    if not spec.uses_sasl:
        return
    if spec.sasl_mechanism == OAUTHBEARER:
        token_of(spec)
        return
    refusals: list[str] = []

    def on_error(error: Any) -> None:
        if error.code() == REFUSED:
            refusals.append(error.str())

    client = AdminClient(
        security_settings(spec) | {"client.id": "penstock-authentication"},
        error_cb=on_error,
        logger=None,
    )
    deadline_s = time.monotonic() + min(PROBE_S_MAX, spec.timeout_s / 4)
    while time.monotonic() < deadline_s:
        client.poll(POLL_S)
        if refusals:
            raise GatewayError(
                "SASL_AUTHENTICATION_FAILED",
                f"user {spec.username!r} by {spec.sasl_mechanism}: {refusals[0]}",
            )
        with contextlib.suppress(KafkaException):
            client.list_topics(timeout=POLL_S)
            return
