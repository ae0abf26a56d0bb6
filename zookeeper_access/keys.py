"""The keys that say how to reach ZooKeeper. Those of Kafka have Kafka's names and meanings."""

from __future__ import annotations

from typing import Final

SET_ACL: Final = "zookeeper.set.acl"
CLIENT_SOCKET: Final = "zookeeper.clientCnxnSocket"
SSL_ENABLE: Final = "zookeeper.ssl.client.enable"
KEYSTORE_LOCATION: Final = "zookeeper.ssl.keystore.location"
KEYSTORE_PASSWORD: Final = "zookeeper.ssl.keystore.password"  # noqa: S105 - a key's name
KEYSTORE_TYPE: Final = "zookeeper.ssl.keystore.type"
TRUSTSTORE_LOCATION: Final = "zookeeper.ssl.truststore.location"
TRUSTSTORE_PASSWORD: Final = "zookeeper.ssl.truststore.password"  # noqa: S105 - a key's name
TRUSTSTORE_TYPE: Final = "zookeeper.ssl.truststore.type"
SSL_PROTOCOL: Final = "zookeeper.ssl.protocol"
ENABLED_PROTOCOLS: Final = "zookeeper.ssl.enabled.protocols"
CIPHER_SUITES: Final = "zookeeper.ssl.cipher.suites"
ENDPOINT_IDENTIFICATION: Final = "zookeeper.ssl.endpoint.identification.algorithm"
CRL_ENABLE: Final = "zookeeper.ssl.crl.enable"
OCSP_ENABLE: Final = "zookeeper.ssl.ocsp.enable"

# Kafka takes its login from a JAAS file of the Java process; a Python process has none.
SASL_USERNAME: Final = "penstock.zookeeper.sasl.username"
SASL_PASSWORD: Final = "penstock.zookeeper.sasl.password"  # noqa: S105 - a key's name
ACL_USERNAME: Final = "penstock.zookeeper.acl.username"
ACL_PASSWORD: Final = "penstock.zookeeper.acl.password"  # noqa: S105 - a key's name
ACL_ADMINISTRATORS: Final = "penstock.zookeeper.acl.administrators"

ALL: Final = frozenset(
    {
        SET_ACL,
        CLIENT_SOCKET,
        SSL_ENABLE,
        KEYSTORE_LOCATION,
        KEYSTORE_PASSWORD,
        KEYSTORE_TYPE,
        TRUSTSTORE_LOCATION,
        TRUSTSTORE_PASSWORD,
        TRUSTSTORE_TYPE,
        SSL_PROTOCOL,
        ENABLED_PROTOCOLS,
        CIPHER_SUITES,
        ENDPOINT_IDENTIFICATION,
        CRL_ENABLE,
        OCSP_ENABLE,
        SASL_USERNAME,
        SASL_PASSWORD,
        ACL_USERNAME,
        ACL_PASSWORD,
        ACL_ADMINISTRATORS,
    }
)

CONNECTION: Final = ALL - {SET_ACL, ACL_USERNAME, ACL_PASSWORD, ACL_ADMINISTRATORS}
"""What lets a process in, as against what says which nodes are its own."""
