"""Keys of Kafka 3.9 that mean nothing to these brokers: known, checked, and marked so.

One sentence a group. A key that gets an effect is taken out of here and declared where it belongs.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

from dataplane.config.key import WITHOUT_EFFECT, ConfigKey, ConfigType, Dynamic, Scope
from dataplane.config.keys.declare import CLUSTER, INTERNAL, OPERATOR, PER_BROKER, must_stay_unset

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataplane.config.key import Value

BOOLEAN = ConfigType.BOOLEAN
STRING = ConfigType.STRING
INT = ConfigType.INT
SHORT = ConfigType.SHORT
LONG = ConfigType.LONG
DOUBLE = ConfigType.DOUBLE
LIST = ConfigType.LIST
CLASS = ConfigType.CLASS
PASSWORD = ConfigType.PASSWORD


def _not_empty(value: Value) -> None:
    if not value:
        raise ValueError("Value must not be empty")


def _positive_or_default(value: Value) -> None:
    if not isinstance(value, int) or (value < 1 and value != -1):
        raise ValueError("Value must be -1, for the default, or at least 1")


def _key(
    name: str,
    kind: ConfigType,
    default: Value,
    *,
    least: float = -math.inf,
    most: float = math.inf,
    check: Callable[[Value], None] | None = None,
    dynamic: Dynamic = Dynamic.READ_ONLY,
    internal: bool = False,
) -> ConfigKey:
    return ConfigKey(
        name,
        kind,
        default,
        "",
        lowest=least,
        highest=most,
        check=check,
        dynamic=dynamic,
        is_internal=internal,
    )


def _group(reason: str, scope: Scope, *keys: ConfigKey) -> tuple[ConfigKey, ...]:
    """The keys, with the reason for which they mean nothing."""
    return tuple(
        dataclasses.replace(key, doc=f"{WITHOUT_EFFECT}{reason}", scope=scope) for key in keys
    )


KEYS = (
    *_group(
        "brokers here keep their metadata in ZooKeeper, not in KRaft.",
        INTERNAL,
        _key("broker.heartbeat.interval.ms", INT, 2000),
        _key("broker.session.timeout.ms", INT, 9000),
        _key("controller.listener.names", STRING, None),
        _key("controller.quorum.append.linger.ms", INT, 25),
        _key("controller.quorum.bootstrap.servers", LIST, (), check=_not_empty),
        _key("controller.quorum.election.backoff.max.ms", INT, 1000),
        _key("controller.quorum.election.timeout.ms", INT, 1000),
        _key("controller.quorum.fetch.timeout.ms", INT, 2000),
        _key("controller.quorum.request.timeout.ms", INT, 2000),
        _key("controller.quorum.retry.backoff.ms", INT, 20),
        _key("controller.quorum.voters", LIST, (), check=_not_empty),
        _key("early.start.listeners", STRING, None),
        _key("eligible.leader.replicas.enable", BOOLEAN, False),
        _key("initial.broker.registration.timeout.ms", INT, 60000),
        _key("log.dir.failure.timeout.ms", LONG, 30000, least=1),
        _key("metadata.log.dir", STRING, None),
        _key("metadata.log.max.record.bytes.between.snapshots", LONG, 20971520, least=1),
        _key("metadata.log.max.snapshot.interval.ms", LONG, 3600000, least=0),
        _key("metadata.log.segment.bytes", INT, 1073741824, least=12),
        _key("metadata.log.segment.min.bytes", INT, 8388608, least=12, internal=True),
        _key("metadata.log.segment.ms", LONG, 604800000),
        _key("metadata.max.idle.interval.ms", INT, 500, least=0),
        _key("metadata.max.retention.bytes", LONG, 104857600),
        _key("metadata.max.retention.ms", LONG, 604800000),
        _key("process.roles", LIST, (), check=must_stay_unset),
        _key("sasl.mechanism.controller.protocol", STRING, "GSSAPI"),
        _key("server.max.startup.time.ms", LONG, 9223372036854775807, least=0, internal=True),
        _key("unclean.leader.election.interval.ms", LONG, 300000, least=1, internal=True),
        _key("zookeeper.metadata.migration.enable", BOOLEAN, False, check=must_stay_unset),
        _key("zookeeper.metadata.migration.min.batch.size", INT, 200, least=1, internal=True),
    ),
    *_group(
        "there is no tiered storage.",
        INTERNAL,
        _key("remote.fetch.max.wait.ms", INT, 500, least=1, dynamic=CLUSTER),
        _key(
            "remote.log.index.file.cache.total.size.bytes",
            LONG,
            1073741824,
            least=1,
            dynamic=CLUSTER,
        ),
        _key("remote.log.manager.copier.thread.pool.size", INT, -1, check=_positive_or_default),
        _key(
            "remote.log.manager.copy.max.bytes.per.second",
            LONG,
            9223372036854775807,
            least=1,
            dynamic=CLUSTER,
        ),
        _key("remote.log.manager.copy.quota.window.num", INT, 11, least=1),
        _key("remote.log.manager.copy.quota.window.size.seconds", INT, 1, least=1),
        _key("remote.log.manager.expiration.thread.pool.size", INT, -1, check=_positive_or_default),
        _key(
            "remote.log.manager.fetch.max.bytes.per.second",
            LONG,
            9223372036854775807,
            least=1,
            dynamic=CLUSTER,
        ),
        _key("remote.log.manager.fetch.quota.window.num", INT, 11, least=1),
        _key("remote.log.manager.fetch.quota.window.size.seconds", INT, 1, least=1),
        _key("remote.log.manager.task.interval.ms", LONG, 30000, least=1),
        _key("remote.log.manager.task.retry.backoff.max.ms", LONG, 30000, least=1, internal=True),
        _key("remote.log.manager.task.retry.backoff.ms", LONG, 500, least=1, internal=True),
        _key("remote.log.manager.task.retry.jitter", DOUBLE, 0.2, least=0, most=0.5, internal=True),
        _key("remote.log.manager.thread.pool.size", INT, 10, least=1),
        _key("remote.log.metadata.custom.metadata.max.bytes", INT, 128, least=0),
        _key(
            "remote.log.metadata.manager.class.name",
            STRING,
            "org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager",
            check=_not_empty,
        ),
        _key("remote.log.metadata.manager.class.path", STRING, None),
        _key("remote.log.metadata.manager.impl.prefix", STRING, "rlmm.config.", check=_not_empty),
        _key("remote.log.metadata.manager.listener.name", STRING, None, check=_not_empty),
        _key("remote.log.reader.max.pending.tasks", INT, 100, least=1),
        _key("remote.log.reader.threads", INT, 10, least=1),
        _key("remote.log.storage.manager.class.name", STRING, None, check=_not_empty),
        _key("remote.log.storage.manager.class.path", STRING, None),
        _key("remote.log.storage.manager.impl.prefix", STRING, "rsm.config.", check=_not_empty),
        _key("remote.log.storage.system.enable", BOOLEAN, False, check=must_stay_unset),
    ),
    *_group(
        "there are no share groups.",
        OPERATOR,
        _key("group.share.delivery.count.limit", INT, 5, least=2, most=10),
        _key("group.share.enable", BOOLEAN, False, internal=True),
        _key("group.share.heartbeat.interval.ms", INT, 5000, least=1),
        _key("group.share.max.groups", SHORT, 10, least=1, most=100),
        _key("group.share.max.heartbeat.interval.ms", INT, 15000, least=1),
        _key("group.share.max.record.lock.duration.ms", INT, 60000, least=30000, most=3600000),
        _key("group.share.max.session.timeout.ms", INT, 60000, least=1),
        _key("group.share.max.size", SHORT, 200, least=10, most=1000),
        _key("group.share.min.heartbeat.interval.ms", INT, 5000, least=1),
        _key("group.share.min.record.lock.duration.ms", INT, 15000, least=1000, most=30000),
        _key("group.share.min.session.timeout.ms", INT, 45000, least=1),
        _key("group.share.partition.max.record.locks", INT, 200, least=100, most=10000),
        _key("group.share.record.lock.duration.ms", INT, 30000, least=1000, most=60000),
        _key("group.share.session.timeout.ms", INT, 45000, least=1),
    ),
    *_group(
        "group coordinators run on the broker's event loop.",
        OPERATOR,
        _key("group.coordinator.append.linger.ms", INT, 10, least=0),
        _key("group.coordinator.new.enable", BOOLEAN, False, internal=True),
        _key("group.coordinator.threads", INT, 1, least=1),
    ),
    *_group(
        "SASL/GSSAPI is not served.",
        INTERNAL,
        _key("sasl.kerberos.kinit.cmd", STRING, "/usr/bin/kinit", dynamic=PER_BROKER),
        _key("sasl.kerberos.min.time.before.relogin", LONG, 60000, dynamic=PER_BROKER),
        _key("sasl.kerberos.principal.to.local.rules", LIST, ("DEFAULT",), dynamic=PER_BROKER),
        _key("sasl.kerberos.service.name", STRING, None, dynamic=PER_BROKER),
        _key("sasl.kerberos.ticket.renew.jitter", DOUBLE, 0.05, dynamic=PER_BROKER),
        _key("sasl.kerberos.ticket.renew.window.factor", DOUBLE, 0.8, dynamic=PER_BROKER),
    ),
    *_group(
        "brokers log in to each other by SCRAM or PLAIN.",
        INTERNAL,
        _key("sasl.login.connect.timeout.ms", INT, None),
        _key("sasl.login.read.timeout.ms", INT, None),
        _key("sasl.login.refresh.buffer.seconds", SHORT, 300, dynamic=PER_BROKER),
        _key("sasl.login.refresh.min.period.seconds", SHORT, 60, dynamic=PER_BROKER),
        _key("sasl.login.refresh.window.factor", DOUBLE, 0.8, dynamic=PER_BROKER),
        _key("sasl.login.refresh.window.jitter", DOUBLE, 0.05, dynamic=PER_BROKER),
        _key("sasl.login.retry.backoff.max.ms", LONG, 10000),
        _key("sasl.login.retry.backoff.ms", LONG, 100),
        _key("sasl.oauthbearer.token.endpoint.url", STRING, None),
    ),
    *_group(
        "it chooses or tunes the TLS of Java.",
        INTERNAL,
        _key("ssl.allow.dn.changes", BOOLEAN, False),
        _key("ssl.allow.san.changes", BOOLEAN, False),
        _key("ssl.keymanager.algorithm", STRING, "SunX509", dynamic=PER_BROKER),
        _key("ssl.provider", STRING, None, dynamic=PER_BROKER),
        _key("ssl.secure.random.implementation", STRING, None, dynamic=PER_BROKER),
        _key("ssl.trustmanager.algorithm", STRING, "PKIX", dynamic=PER_BROKER),
    ),
    *_group(
        "classes of Java are not loaded; it must stay unset.",
        INTERNAL,
        _key("client.quota.callback.class", CLASS, None, check=must_stay_unset),
        _key("sasl.client.callback.handler.class", CLASS, None, check=must_stay_unset),
        _key("sasl.login.callback.handler.class", CLASS, None, check=must_stay_unset),
        _key("sasl.login.class", CLASS, None, check=must_stay_unset),
        _key("security.providers", STRING, None, check=must_stay_unset),
        _key("ssl.engine.factory.class", CLASS, None, dynamic=PER_BROKER, check=must_stay_unset),
    ),
    *_group(
        "no secret is stored in ZooKeeper.",
        INTERNAL,
        _key("password.encoder.cipher.algorithm", STRING, "AES/CBC/PKCS5Padding"),
        _key("password.encoder.iterations", INT, 4096, least=1024),
        _key("password.encoder.key.length", INT, 128, least=8),
        _key("password.encoder.keyfactory.algorithm", STRING, None),
        _key("password.encoder.old.secret", PASSWORD, None),
        _key("password.encoder.secret", PASSWORD, None),
    ),
    *_group(
        "metrics are served in Prometheus text.",
        INTERNAL,
        _key("auto.include.jmx.reporter", BOOLEAN, True),
        _key("kafka.metrics.polling.interval.secs", INT, 10, least=1),
        _key("kafka.metrics.reporters", LIST, ()),
        _key("metrics.recording.level", STRING, "INFO"),
        _key("telemetry.max.bytes", INT, 1048576, least=1),
    ),
    *_group(
        "moves between directories are slowed down without samples.",
        OPERATOR,
        _key("alter.log.dirs.replication.quota.window.num", INT, 11, least=1),
        _key("alter.log.dirs.replication.quota.window.size.seconds", INT, 1, least=1),
    ),
    *_group(
        "connections among brokers have limits of their own.",
        OPERATOR,
        _key("socket.connection.setup.timeout.max.ms", LONG, 30000),
        _key("socket.connection.setup.timeout.ms", LONG, 10000),
    ),
    *_group(
        "no unstable versions are served.",
        OPERATOR,
        _key("unstable.api.versions.enable", BOOLEAN, False, internal=True),
        _key("unstable.feature.versions.enable", BOOLEAN, False, internal=True),
    ),
)
