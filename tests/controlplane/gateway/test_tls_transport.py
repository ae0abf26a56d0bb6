"""A broker that is connected to and then says nothing: TLS with it ends."""

import threading

from kafka.admin import KafkaAdminClient
from kafka.errors import KafkaError

from controlplane.gateway import tls_transport
from controlplane.gateway.client_settings import client_settings
from controlplane.gateway.connection_spec import ConnectionSpec
from tests.controlplane.gateway.peers import serving, silent

ENDS_S = 15.0


def test_a_handshake_that_is_not_answered_ends(monkeypatch):
    monkeypatch.setattr(tls_transport, "HANDSHAKE_S", 0.3)
    ended: list[KafkaError] = []

    def connect(address):
        spec = ConnectionSpec(bootstrap_servers=(address,), security_protocol="SSL")
        try:
            KafkaAdminClient(**client_settings(spec, address), bootstrap_timeout_ms=1_000)
        except KafkaError as error:
            ended.append(error)

    with serving(silent) as address:
        # In a thread of its own: what does not end would hold the test.
        thread = threading.Thread(target=connect, args=(address,), daemon=True)
        thread.start()
        thread.join(ENDS_S)
    assert [type(error).__name__ for error in ended] == ["KafkaTimeoutError"]
