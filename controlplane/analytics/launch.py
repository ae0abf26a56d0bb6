"""From a queued run to a started process: what the run is given, and where its secrets go."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from controlplane.analytics import process
from controlplane.analytics.collect import WATCHED_PHASES
from controlplane.analytics.conf import AnalyticsConf
from controlplane.analytics.models import AnalyticsRun
from controlplane.clusters.connections import connection_spec
from controlplane.clusters.models import Cluster
from controlplane.gateway.connection_spec import OAUTHBEARER, ConnectionSpec
from spark_analytics.contracts.runs import ClusterInput, RunConfig

LEASE_FILE = "lease"
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
    specs = {
        cluster.id: connection_spec(cluster)
        for cluster in Cluster.objects.filter(deleted_at=None, phase__in=WATCHED_PHASES).order_by(
            "pk"
        )
    }
    secrets_path = work / "secrets.json"
    _write_private(secrets_path, json.dumps({key: secret_options(s) for key, s in specs.items()}))
    config_path = work / "config.json"
    _write_private(config_path, run_config(run, conf, specs, secrets_path).to_json())
    return process.start(config_path, work)


def run_config(
    run: AnalyticsRun, conf: AnalyticsConf, specs: dict[str, ConnectionSpec], secrets_path: Path
) -> RunConfig:
    return RunConfig(
        run_id=run.id,
        master=conf.spark_master,
        data_uri=conf.data_uri,
        work_dir=run.work_dir,
        from_ts_ms=run.from_ts_ms,
        to_ts_ms=run.to_ts_ms,
        deadline_s=conf.deadline_s,
        clusters=tuple(
            ClusterInput(
                cluster_id=cluster_id,
                bootstrap_servers=",".join(spec.bootstrap_servers),
                kafka_options={"kafka.security.protocol": spec.security_protocol},
            )
            for cluster_id, spec in specs.items()
        ),
        jars_dir=str(conf.jars_dir),
        secrets_path=str(secrets_path),
        lease_path=str(Path(run.work_dir) / LEASE_FILE),
        spark_conf=conf.spark_conf,
    )


def secret_options(spec: ConnectionSpec) -> dict[str, str]:
    """The connector options that nobody else may read."""
    return {f"kafka.{name}": value for name, value in (_tls(spec) | _login(spec)).items()}


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


def _login(spec: ConnectionSpec) -> dict[str, str]:
    if not spec.uses_sasl:
        return {}
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
