"""ZooKeeper: where it is, how to log in, TLS, and whose the nodes are.

`zookeeper_access` reads the values and checks them against each other.
"""

from __future__ import annotations

from dataplane.config.keys.declare import (
    INTERNAL,
    READ_ONLY,
    flag,
    names,
    number,
    scoped,
    secret,
    text,
)

KEYS = scoped(
    INTERNAL,
    text("zookeeper.connect", None, "ZooKeeper servers, host:port list with an optional /chroot."),
    number(
        "zookeeper.session.timeout.ms",
        18_000,
        "How long ZooKeeper waits for a silent broker; it is asked for 5 % less, since it ends a"
        " session at the first of its ticks after that.",
    ),
    number("zookeeper.connection.timeout.ms", None, "How long to wait for ZooKeeper at start."),
    number("zookeeper.max.in.flight.requests", 10, "Requests to ZooKeeper at once.", least=1),
    flag(
        "zookeeper.set.acl",
        False,
        "Whether nodes in ZooKeeper get ACLs: all rights to this broker's login and the"
        " administrators, none to others.",
    ),
    text(
        "zookeeper.clientCnxnSocket",
        None,
        "Without effect here: Kafka wants ClientCnxnSocketNetty with TLS, and it may stay so.",
    ),
    flag("zookeeper.ssl.client.enable", False, "Whether to use TLS towards ZooKeeper."),
    text(
        "zookeeper.ssl.keystore.location",
        None,
        "PEM file with the key and certificate that this broker shows; unset shows none.",
    ),
    secret("zookeeper.ssl.keystore.password", "Password of the key in it.", dynamic=READ_ONLY),
    text("zookeeper.ssl.keystore.type", None, "Format of the key store; PEM is served."),
    text(
        "zookeeper.ssl.truststore.location",
        None,
        "PEM file with the authorities that servers' certificates must come from; no others count.",
    ),
    secret(
        "zookeeper.ssl.truststore.password",
        "Without effect here: PEM needs none.",
        dynamic=READ_ONLY,
    ),
    text("zookeeper.ssl.truststore.type", None, "Format of the trust store; PEM is served."),
    text("zookeeper.ssl.protocol", "TLSv1.2", "Without effect here: the enabled protocols count."),
    names("zookeeper.ssl.enabled.protocols", None, "TLS versions; unset is TLSv1.2 and TLSv1.3."),
    names("zookeeper.ssl.cipher.suites", None, "Cipher suites; unset is the library's choice."),
    text(
        "zookeeper.ssl.endpoint.identification.algorithm",
        "HTTPS",
        "How a server's host name is checked against its certificate; empty is not at all.",
    ),
    flag("zookeeper.ssl.crl.enable", False, "Not supported; must stay false."),
    flag("zookeeper.ssl.ocsp.enable", False, "Not supported; must stay false."),
    text(
        "penstock.zookeeper.sasl.username",
        None,
        "User of SASL DIGEST-MD5 towards ZooKeeper: lets the broker in.",
    ),
    secret("penstock.zookeeper.sasl.password", "Its password.", dynamic=READ_ONLY),
    text(
        "penstock.zookeeper.acl.username",
        None,
        "Login of the scheme digest, for which zookeeper.set.acl makes the nodes; one a cluster.",
    ),
    secret("penstock.zookeeper.acl.password", "Its password.", dynamic=READ_ONLY),
    names(
        "penstock.zookeeper.acl.administrators",
        (),
        "SCHEME:ID of those who get all rights on every node besides.",
    ),
)
