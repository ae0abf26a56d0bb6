"""Authentication, authorisation, TLS."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from dataplane.config.keys.declare import (
    INTERNAL,
    PER_BROKER,
    READ_ONLY,
    class_name,
    flag,
    long,
    names,
    number,
    scoped,
    secret,
    text,
)
from dataplane.config.sasl import SECURED_HANDLERS, UNSECURED_HANDLERS

if TYPE_CHECKING:
    from dataplane.config.key import Value


def _kafkas_validator(value: Value) -> None:
    if value and value not in (*SECURED_HANDLERS, *UNSECURED_HANDLERS):
        raise ValueError("not supported; must stay unset, or name a validator of Kafka's own")


# Who may do what on a broker is never a tenant's setting: users and ACLs are its means.
KEYS = scoped(
    INTERNAL,
    text(
        "authorizer.class.name",
        "",
        "Any non-empty name turns ACLs on; kafka.security.authorizer.AclAuthorizer is Kafka's.",
    ),
    text("super.users", "", "Principals allowed everything: User:a;User:b."),
    flag(
        "allow.everyone.if.no.acl.found", False, "Whether a resource without ACLs is open to all."
    ),
    names(
        "sasl.enabled.mechanisms",
        ("GSSAPI",),
        "SASL mechanisms that clients may use.",
        dynamic=PER_BROKER,
    ),
    text(
        "sasl.mechanism.inter.broker.protocol",
        "GSSAPI",
        "SASL mechanism among brokers.",
        dynamic=PER_BROKER,
    ),
    secret("sasl.jaas.config", "Login of the broker, and users of PLAIN."),
    dataclasses.replace(
        class_name(
            "sasl.server.callback.handler.class",
            None,
            "For OAUTHBEARER one of Kafka's own validators; else it must stay unset.",
        ),
        check=_kafkas_validator,
    ),
    text(
        "sasl.oauthbearer.jwks.endpoint.url",
        None,
        "Keys of OAUTHBEARER's tokens: https, a file, or http on loopback.",
    ),
    long(
        "sasl.oauthbearer.jwks.endpoint.refresh.ms",
        3_600_000,
        "How old the keys may become.",
    ),
    long(
        "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms",
        100,
        "Least wait after the keys could not be read.",
    ),
    long(
        "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms",
        10_000,
        "Longest wait after the keys could not be read.",
    ),
    names("sasl.oauthbearer.expected.audience", None, "Audiences a token may be for."),
    text("sasl.oauthbearer.expected.issuer", None, "Issuer of every token."),
    text("sasl.oauthbearer.scope.claim.name", "scope", "Claim that holds a token's scopes."),
    text("sasl.oauthbearer.sub.claim.name", "sub", "Claim that holds a token's principal."),
    number(
        "sasl.oauthbearer.clock.skew.seconds",
        30,
        "How far the issuer's clock may be off.",
    ),
    number("sasl.server.max.receive.size", 524_288, "Largest SASL token.", least=0),
    long("connections.max.reauth.ms", 0, "How long a SASL session lasts; 0 is for ever.", least=0),
    class_name(
        "principal.builder.class",
        "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder",
        "Only Kafka's default is served.",
    ),
    text(
        "ssl.principal.mapping.rules",
        "DEFAULT",
        "How a certificate's name becomes a principal: RULE:pattern/replacement/[LU] and DEFAULT, "
        "the first that matches.",
    ),
    text(
        "ssl.client.auth",
        "none",
        "Whether TLS clients show a certificate; under SASL_SSL a listener's own setting alone "
        "counts.",
        choices=("required", "requested", "none"),
        dynamic=PER_BROKER,
    ),
    text("ssl.keystore.type", "JKS", "Format of the key store; PEM is served.", dynamic=PER_BROKER),
    text(
        "ssl.keystore.location",
        None,
        "File with the broker's key and certificate chain.",
        dynamic=PER_BROKER,
    ),
    secret("ssl.keystore.password", "Password of the key store."),
    secret("ssl.keystore.key", "Private key in PEM."),
    secret("ssl.keystore.certificate.chain", "Certificate chain in PEM."),
    secret("ssl.key.password", "Password of the private key."),
    text(
        "ssl.truststore.type",
        "JKS",
        "Format of the trust store; PEM is served.",
        dynamic=PER_BROKER,
    ),
    text("ssl.truststore.location", None, "File with trusted certificates.", dynamic=PER_BROKER),
    secret("ssl.truststore.password", "Password of the trust store."),
    secret("ssl.truststore.certificates", "Trusted certificates in PEM."),
    text("ssl.protocol", "TLSv1.3", "Preferred TLS version.", dynamic=PER_BROKER),
    names(
        "ssl.enabled.protocols", ("TLSv1.2", "TLSv1.3"), "TLS versions served.", dynamic=PER_BROKER
    ),
    names(
        "ssl.cipher.suites",
        (),
        "Cipher suites served; empty is the library's choice.",
        dynamic=PER_BROKER,
    ),
    text(
        "ssl.endpoint.identification.algorithm",
        "https",
        "How brokers check each other's host name.",
        dynamic=PER_BROKER,
    ),
    secret(
        "delegation.token.secret.key",
        "Key that signs delegation tokens; unset turns them off.",
        dynamic=READ_ONLY,
    ),
    secret(
        "delegation.token.master.key",
        "The same, by its name before release 3.",
        dynamic=READ_ONLY,
    ),
    long(
        "delegation.token.expiry.check.interval.ms",
        3_600_000,
        "How often expired tokens are looked for.",
        least=1,
    ),
    long("delegation.token.max.lifetime.ms", 604_800_000, "Longest life of a token.", least=1),
    long(
        "delegation.token.expiry.time.ms", 86_400_000, "Life of a token between renewals.", least=1
    ),
    flag(
        "penstock.tenant.configs.only",
        False,
        "Whether clients that are no super users may change only a tenant's keys of brokers, set "
        "no quotas of super users and of addresses, and command no broker as its peers do, "
        "whatever ACLs they have. Quotas that do not name a super user do not bound it then.",
    ),
    text(
        "penstock.audit.log.file",
        None,
        "File of the audit log; unset, it is beside the broker's own log, or part of it where that "
        "is no file.",
    ),
    text(
        "penstock.inter.broker.username",
        None,
        "SCRAM user that brokers log in with towards each other.",
    ),
    secret("penstock.inter.broker.password", "Its password."),
    secret(
        "penstock.bootstrap.scram",
        "Users created if absent: user=MECHANISM:iterations:salt:stored_key:server_key, …",
    ),
)
