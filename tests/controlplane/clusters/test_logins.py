"""By which mechanisms clients log in."""

import pytest

from controlplane.clusters.logins import OF_NEW_USERS, SCRAM, client_mechanisms


@pytest.mark.parametrize("service", ["SCRAM-SHA-256", "SCRAM-SHA-512", ""])
def test_clients_of_a_managed_cluster_may_use_both_whatever_the_service_uses(service):
    found = client_mechanisms(
        is_managed=True, security_protocol="SASL_SSL", service_mechanism=service
    )
    assert found[0] == OF_NEW_USERS
    assert sorted(found) == sorted(SCRAM)


@pytest.mark.parametrize("mechanism", ["PLAIN", "OAUTHBEARER", "SCRAM-SHA-256"])
def test_of_a_registered_cluster_what_is_known_to_work(mechanism):
    of = {"is_managed": False, "service_mechanism": mechanism}
    assert client_mechanisms(security_protocol="SASL_PLAINTEXT", **of) == [mechanism]


@pytest.mark.parametrize("protocol", ["PLAINTEXT", "SSL"])
@pytest.mark.parametrize("is_managed", [True, False])
def test_without_a_login_there_is_none(protocol, is_managed):
    of = {"is_managed": is_managed, "service_mechanism": "SCRAM-SHA-256"}
    assert client_mechanisms(security_protocol=protocol, **of) == []
