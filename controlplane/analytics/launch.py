"""From a queued run to a started process: what the run is given, and where its secrets go."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from controlplane.analytics import process, rules
from controlplane.analytics.conf import AnalyticsConf
from controlplane.analytics.models import AnalyticsRun
from controlplane.analytics.ways_in import WayIn, ways_in
from controlplane.clusters.models import WATCHED_PHASES, Cluster
from controlplane.gateway.connection_spec import OAUTHBEARER, ConnectionSpec
from spark_analytics.contracts.runs import CATALOG_SECRETS, ClusterInput, RunConfig

LEASE_FILE = "lease"
SECRETS_FILE = "secrets.json"
TOKENS = "tokens"
"""The folder of the tokens, in the run's: each is read when the run comes to its cluster."""
_SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
_PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
_OAUTH = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
_OAUTH_HANDLER = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler"


def launch(run: AnalyticsRun, conf: AnalyticsConf) -> process.RunProcess:
    """Write the run's files below `run.work_dir` and start it."""
    work = Path(run.work_dir)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True, mode=0o700)
    (work / LEASE_FILE).touch()
    watched = Cluster.objects.filter(deleted_at=None, phase__in=WATCHED_PHASES).order_by("pk")
    return process.start(write_config(run, conf, ways_in(watched)), work)


def write_config(run: AnalyticsRun, conf: AnalyticsConf, ways: Mapping[str, WayIn]) -> Path:
    """What the run is given, on files of this user alone; its configuration's path."""
    work = Path(run.work_dir)
    secrets_path = work / SECRETS_FILE
    (work / TOKENS).mkdir(mode=0o700)
    secrets = {
        key: secret_options(way.spec, _token_file(work, key, way, conf))
        for key, way in ways.items()
        if not way.refusal
    }
    if conf.catalog_login:
        secrets[CATALOG_SECRETS] = dict(conf.catalog_login)
    _write_private(secrets_path, json.dumps(secrets))
    config_path = work / "config.json"
    _write_private(config_path, run_config(run, conf, ways, secrets_path).to_json())
    return config_path


def _token_file(work: Path, cluster_id: str, way: WayIn, conf: AnalyticsConf) -> Path | None:
    """Where the JVM finds its token. On another machine it cannot, and asks for itself there."""
    if way.token is None or not conf.spark_master.startswith("local"):
        return None
    path = work / TOKENS / cluster_id
    _write_private(path, way.token)
    return path


def run_config(
    run: AnalyticsRun, conf: AnalyticsConf, ways: Mapping[str, WayIn], secrets_path: Path
) -> RunConfig:
    return RunConfig(
        run_id=run.id,
        master=conf.spark_master,
        data_uri=conf.data_uri,
        work_dir=run.work_dir,
        from_ts_ms=run.from_ts_ms,
        to_ts_ms=run.to_ts_ms,
        deadline_s=rules.deadline_s(run.to_ts_ms - run.from_ts_ms, conf.deadline_s),
        job=run.job,
        clusters=tuple(
            ClusterInput(
                cluster_id=cluster_id,
                bootstrap_servers=",".join(way.bootstrap_servers or way.spec.bootstrap_servers),
                kafka_options={"kafka.security.protocol": way.spec.security_protocol},
                hosts=way.hosts,
                refusal=way.refusal or None,
                from_ts_ms=run.starts_ms.get(cluster_id),
                telemetry_topic_id=way.telemetry_topic_id,
            )
            for cluster_id, way in ways.items()
        ),
        silver_keep_s=conf.silver_keep_s,
        catalog=conf.catalog,
        jars_dir=str(conf.jars_dir),
        secrets_path=str(secrets_path),
        lease_path=str(Path(run.work_dir) / LEASE_FILE),
        spark_conf=conf.spark_conf,
    )


def secret_options(spec: ConnectionSpec, token_file: Path | None = None) -> dict[str, str]:
    """The connector options that nobody else may read.

    With `token_file` the JVM has its token from there, and neither the client's secret nor a reason
    to connect to the token endpoint.
    """
    found = _tls(spec) | _login(spec, token_file)
    return {f"kafka.{name}": value for name, value in found.items()}


def _tls(spec: ConnectionSpec) -> dict[str, str]:
    """Without authorities of its own a cluster is checked by those that the JVM trusts."""
    found = {}
    if spec.uses_tls and spec.ca_pem:
        found = {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": spec.ca_pem}
    if spec.uses_tls and spec.client_certificate_pem and spec.client_key_pem:
        found |= {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.certificate.chain": spec.client_certificate_pem,
            "ssl.keystore.key": spec.client_key_pem,
        }
    return found


def _login(spec: ConnectionSpec, token_file: Path | None) -> dict[str, str]:
    if not spec.uses_sasl:
        return {}
    if token_file is not None:
        return {
            "sasl.mechanism": OAUTHBEARER,
            "sasl.login.callback.handler.class": _OAUTH_HANDLER,
            "sasl.oauthbearer.token.endpoint.url": token_file.resolve().as_uri(),
            "sasl.jaas.config": _jaas(_OAUTH),
        }
    if spec.oauth is not None:
        return {
            "sasl.mechanism": OAUTHBEARER,
            "sasl.login.callback.handler.class": _OAUTH_HANDLER,
            "sasl.oauthbearer.token.endpoint.url": spec.oauth.token_url,
            "sasl.jaas.config": _jaas(
                _OAUTH,
                clientId=spec.oauth.client_id,
                clientSecret=spec.oauth.client_secret,
                scope=spec.oauth.scope,
            ),
        }
    module = _PLAIN if spec.sasl_mechanism == "PLAIN" else _SCRAM
    return {
        "sasl.mechanism": spec.sasl_mechanism or "",
        "sasl.jaas.config": _jaas(
            module, username=spec.username or "", password=spec.password or ""
        ),
    }


def _jaas(module: str, **options: str) -> str:
    given = "".join(f" {name}={quoted(value)}" for name, value in options.items() if value)
    return f"{module} required{given};"


def quoted(text: str) -> str:
    """A JAAS string that ends where it should, whatever is in it.

    The JVM reads it as it reads Java's own: backslashes escape, and a line's end would end the
    string, so that what follows could name another login module.
    """
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c >= " " else f"\\{ord(c):03o}" for c in escaped) + '"'


def _write_private(path: Path, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
