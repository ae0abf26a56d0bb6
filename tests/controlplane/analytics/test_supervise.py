"""Supervision of real processes; a small program stands where Spark would run."""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from controlplane.analytics import process, rules, supervise
from controlplane.analytics.conf import conf
from controlplane.analytics.launch import quoted, secret_options, write_config
from controlplane.analytics.models import (
    AnalyticsRun,
    CollectorState,
    GoldGroupLag,
)
from controlplane.analytics.ways_in import WayIn
from controlplane.clusters.models import REGISTERED
from controlplane.gateway.connection_spec import ConnectionSpec, OAuthClient
from controlplane.operations.states import CANCELLED, FAILED, QUEUED, RUNNING, SUCCEEDED
from spark_analytics.contracts.errors import ContractError
from spark_analytics.contracts.gold import ALL_TABLES
from spark_analytics.contracts.runs import CATALOG_SECRETS, CatalogInput, Job, RunConfig
from tests.controlplane.analytics import rows

FINISH = """
import json, sys
config = json.load(open(sys.argv[1]))
work, start = config["work_dir"], config["from_ts_ms"]
assert "DATABASE_URL" not in __import__("os").environ
for table in TABLES:
    open(f"{work}/{table}.jsonl", "w").close()
ids = [cluster["cluster_id"] for cluster in config["clusters"]]
result = {"run_id": config["run_id"], "ok": OK, "from_ts_ms": start, "to_ts_ms": config["to_ts_ms"],
          "formula_version": 1, "clusters": [{"cluster_id": i} for i in ids],
          "error": None if OK else "the brokers said no"}
with open(f"{work}/part", "w") as file:
    file.write(json.dumps(result))
__import__("os").replace(f"{work}/part", f"{work}/result.json")
"""
HANG = """
import subprocess, sys, time, json
config = json.load(open(sys.argv[1]))
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
row = {"ts_ms": 1, "phase": "ingest", "done": 0, "total": 2, "message": str(child.pid)}
open(config["work_dir"] + "/progress.jsonl", "w").write(json.dumps(row) + "\\n" + '{"half')
time.sleep(600)
"""
FINISH = FINISH.replace("TABLES", repr(list(ALL_TABLES)))
DIE = "import sys; sys.exit('out of memory')"


@pytest.fixture
def stand_in(world, monkeypatch, settings, tmp_path):
    """`stand_in(program)`: what the next launches run instead of Spark."""
    settings.DATA_DIR = tmp_path
    settings.ANALYTICS_URI = f"file://{tmp_path}/lake"
    monkeypatch.setenv("DATABASE_URL", os.environ.get("DATABASE_URL", "secret"))
    monkeypatch.setenv("PENSTOCK_ANALYTICS_FIRST_AFTER_S", "5")
    # The hour's end must not decide how many runs a test sees.
    monkeypatch.setattr(rules, "ROLLUP_PLANS", {})

    def use(program):
        monkeypatch.setattr(
            process, "command", lambda config: [sys.executable, "-c", program, str(config)]
        )

    CollectorState.objects.create(
        pk=world.cluster.id, first_sample_at=timezone.now() - timedelta(minutes=5)
    )
    yield use
    for pid_file in tmp_path.glob("analytics-runs/*/pid.json"):
        found = process.find(pid_file.parent)
        if found is not None:
            process.end(found)


def tick_until(state, seconds=20):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        supervise.tick()
        run = AnalyticsRun.objects.order_by("pk").last()
        if run is not None and run.state == state:
            return run
        time.sleep(0.05)
    raise AssertionError(f"never {state}: {run and run.state} {run and run.error}")


def ticked_until_hanging():
    """A run whose program has started its own child; that child's pid."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        supervise.tick()
        run = AnalyticsRun.objects.order_by("pk").last()
        if run is not None and run.progress.get("phase") == "ingest":
            return run, int(run.progress["message"])
        time.sleep(0.05)
    raise AssertionError("the program did not get going")


def is_gone(pid):
    for _ in range(100):
        try:
            text = Path(f"/proc/{pid}/stat").read_text()
        except FileNotFoundError:
            return True
        if text.rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.02)
    return False


def test_a_due_run_is_started_and_its_result_loaded(stand_in, world):
    stand_in(FINISH.replace("OK", "True"))
    run = tick_until(SUCCEEDED)
    assert (run.attempt, run.host) == (1, socket.gethostname())
    assert not (Path(run.work_dir) / "secrets.json").exists()
    assert run.clusters.get().cluster_id == world.cluster.id
    supervise.tick()
    assert AnalyticsRun.objects.count() == 1


def test_secrets_are_on_a_private_file_and_nowhere_else(stand_in, world):
    world.cluster.security_protocol = "SASL_PLAINTEXT"
    world.cluster.sasl_mechanism = "SCRAM-SHA-512"
    world.cluster.admin_username = 'pen"stock'
    world.cluster.save()
    stand_in(HANG)
    run, _ = ticked_until_hanging()
    work = Path(run.work_dir)
    secrets = work / "secrets.json"
    assert secrets.stat().st_mode & 0o777 == 0o600
    options = json.loads(secrets.read_text())[world.cluster.id]
    assert 'username="pen\\"stock"' in options["kafka.sasl.jaas.config"]
    config = RunConfig.from_json((work / "config.json").read_text())
    assert "jaas" not in (work / "config.json").read_text()
    assert config.clusters[0].kafka_options == {"kafka.security.protocol": "SASL_PLAINTEXT"}
    assert (config.from_ts_ms, config.to_ts_ms) == (run.from_ts_ms, run.to_ts_ms)


def test_a_login_stays_inside_its_jaas_string():
    assert quoted('a"b\\c') == '"a\\"b\\\\c"'
    # The JVM ends a string at a line's end: what follows could name another login module.
    assert quoted("x\n; Evil required") == '"x\\012; Evil required"'
    assert quoted("\r\x00") == '"\\015\\000"'


def test_the_connector_gets_authorities_certificate_and_token_endpoint():
    spec = ConnectionSpec(
        bootstrap_servers=("a:1",),
        security_protocol="SASL_SSL",
        sasl_mechanism="OAUTHBEARER",
        ca_pem="CA",
        client_certificate_pem="CERT",
        client_key_pem="KEY",
        oauth=OAuthClient(token_url="https://id/t", client_id="me", client_secret="s"),
    )
    assert secret_options(spec) == {
        "kafka.ssl.truststore.type": "PEM",
        "kafka.ssl.truststore.certificates": "CA",
        "kafka.ssl.keystore.type": "PEM",
        "kafka.ssl.keystore.certificate.chain": "CERT",
        "kafka.ssl.keystore.key": "KEY",
        "kafka.sasl.mechanism": "OAUTHBEARER",
        "kafka.sasl.login.callback.handler.class": (
            "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler"
        ),
        "kafka.sasl.oauthbearer.token.endpoint.url": "https://id/t",
        "kafka.sasl.jaas.config": (
            "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
            ' required clientId="me" clientSecret="s";'
        ),
    }
    assert secret_options(ConnectionSpec(bootstrap_servers=("a:1",))) == {}


def test_a_token_is_on_a_file_of_its_own_and_the_client_s_secret_stays_here(tmp_path, settings):
    spec = ConnectionSpec(
        bootstrap_servers=("a:1",),
        security_protocol="SASL_SSL",
        sasl_mechanism="OAUTHBEARER",
        oauth=OAuthClient(token_url="https://id/t", client_id="me", client_secret="hunter2"),
    )
    ways = {"kc_1": WayIn(spec=spec, token="tok-1"), "kc_2": WayIn(spec=spec, refusal="no")}
    run = AnalyticsRun(id="run_1", work_dir=str(tmp_path), from_ts_ms=0, to_ts_ms=30_000)
    written = RunConfig.from_json(write_config(run, conf(), ways).read_text())
    token = tmp_path / "tokens" / "kc_1"
    assert (token.read_text(), token.stat().st_mode & 0o777) == ("tok-1", 0o600)
    secrets = (tmp_path / "secrets.json").read_text()
    assert "hunter2" not in secrets
    assert "tok-1" not in secrets + (tmp_path / "config.json").read_text()
    options = json.loads(secrets)
    assert options.keys() == {"kc_1"}, "what must not be read needs no login"
    assert options["kc_1"]["kafka.sasl.oauthbearer.token.endpoint.url"] == token.as_uri()
    assert [row.refusal for row in written.clusters] == [None, "no"]


def test_the_login_to_the_catalog_is_on_the_private_file_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("PENSTOCK_LAKE_CATALOG_URI", "jdbc:postgresql://db-1/lake")
    monkeypatch.setenv("PENSTOCK_LAKE_CATALOG_JARS", "/opt/driver.jar")
    monkeypatch.setenv("PENSTOCK_LAKE_CATALOG_USER", "penstock")
    monkeypatch.setenv("PENSTOCK_LAKE_CATALOG_PASSWORD", "hunter2")
    run = AnalyticsRun(id="run_1", work_dir=str(tmp_path), from_ts_ms=0, to_ts_ms=30_000)
    settings = conf()
    text = write_config(run, settings, {}).read_text()
    assert RunConfig.from_json(text).catalog == CatalogInput(
        uri="jdbc:postgresql://db-1/lake", jars=("/opt/driver.jar",)
    )
    secrets = tmp_path / "secrets.json"
    assert json.loads(secrets.read_text()) == {
        CATALOG_SECRETS: {"user": "penstock", "password": "hunter2"}
    }
    assert secrets.stat().st_mode & 0o777 == 0o600
    assert "hunter2" not in text + repr(settings)


@pytest.mark.parametrize(
    "uri", ["postgres://db/lake", "jdbc:postgresql://me:pw@db/lake", "jdbc:x://db/?password=pw"]
)
def test_a_catalog_is_named_by_jdbc_and_without_a_login(monkeypatch, uri):
    monkeypatch.setenv("PENSTOCK_LAKE_CATALOG_URI", uri)
    with pytest.raises(ContractError, match="the catalog's URI must"):
        conf()


def test_machines_elsewhere_ask_for_their_tokens_themselves(tmp_path, settings):
    settings.SPARK_MASTER = "spark://elsewhere:7077"
    client = OAuthClient(token_url="https://id/t", client_id="me", client_secret="s")
    spec = ConnectionSpec(
        bootstrap_servers=("a:1",),
        security_protocol="SASL_SSL",
        sasl_mechanism="OAUTHBEARER",
        oauth=client,
    )
    run = AnalyticsRun(id="run_1", work_dir=str(tmp_path), from_ts_ms=0, to_ts_ms=30_000)
    write_config(run, conf(), {"kc_1": WayIn(spec=spec, token="tok-1")})
    options = json.loads((tmp_path / "secrets.json").read_text())["kc_1"]
    assert options["kafka.sasl.oauthbearer.token.endpoint.url"] == "https://id/t"
    assert list((tmp_path / "tokens").iterdir()) == []


def test_a_run_is_given_the_addresses_that_were_looked_at(stand_in, world):
    world.cluster.bootstrap_servers = "localhost:1,127.0.0.1:2"
    world.cluster.save()
    stand_in(HANG)
    run, _ = ticked_until_hanging()
    config = RunConfig.from_json((Path(run.work_dir) / "config.json").read_text())
    (given,) = config.clusters
    assert given.bootstrap_servers == "localhost:1,127.0.0.1:2"
    assert given.hosts is not None
    assert "127.0.0.1" in given.hosts["localhost"]


def test_a_cluster_that_leads_elsewhere_is_refused_to_the_run(stand_in, world, settings):
    settings.EGRESS_ALLOWED = ["127.0.0.2/32"]
    world.cluster.kind, world.cluster.bootstrap_servers = REGISTERED, "127.0.0.2:1"
    world.cluster.save()
    stand_in(HANG)
    run, _ = ticked_until_hanging()
    work = Path(run.work_dir)
    (given,) = RunConfig.from_json((work / "config.json").read_text()).clusters
    assert "loopback" in (given.refusal or "")
    assert json.loads((work / "secrets.json").read_text()) == {}


def test_a_run_that_failed_says_why_and_loads_nothing(stand_in):
    stand_in(FINISH.replace("OK", "False"))
    run = tick_until(FAILED)
    assert run.error == "the brokers said no"
    assert GoldGroupLag.objects.count() == 0


def test_cancel_ends_the_whole_group(stand_in):
    stand_in(HANG)
    run, grandchild = ticked_until_hanging()
    AnalyticsRun.objects.filter(pk=run.pk).update(cancel_requested=True)
    began = time.monotonic()
    run = tick_until(CANCELLED)
    assert time.monotonic() - began < 5
    assert is_gone(grandchild)
    assert not process.is_alive(process.find(Path(run.work_dir)))


def test_the_deadline_ends_it(stand_in):
    stand_in(HANG)
    run, grandchild = ticked_until_hanging()
    AnalyticsRun.objects.filter(pk=run.pk).update(deadline_at=timezone.now() - timedelta(seconds=1))
    assert tick_until(FAILED).error == "the deadline has passed"
    assert is_gone(grandchild)


def test_the_scheduled_run_after_a_failed_one_works(stand_in):
    stand_in(HANG)
    failed, _ = ticked_until_hanging()
    work = Path(failed.work_dir)
    (work / process.LOG_FILE).write_text("reading telemetry\nno answer from broker 2\n")
    AnalyticsRun.objects.filter(pk=failed.pk).update(
        deadline_at=timezone.now() - timedelta(seconds=1),
        created_at=timezone.now() - timedelta(hours=1),
    )
    said = tick_until(FAILED).error
    assert said == "the deadline has passed: no answer from broker 2"
    stand_in(FINISH.replace("OK", "True"))
    deadline = time.monotonic() + 20
    while not AnalyticsRun.objects.filter(state=SUCCEEDED).exclude(pk=failed.pk).exists():
        assert time.monotonic() < deadline, "no run came after the failed one"
        supervise.tick()
        time.sleep(0.05)


def test_a_process_that_dies_is_started_again_and_then_given_up(stand_in):
    stand_in(DIE)
    run = tick_until(FAILED)
    assert run.attempt == supervise.ATTEMPTS_MAX
    assert run.error == "out of memory"


def test_a_run_killed_in_the_middle_is_done_again(stand_in):
    stand_in(HANG)
    run, grandchild = ticked_until_hanging()
    work = Path(run.work_dir)
    (work / "tokens" / "kc_1").write_text("tok-1")
    os.kill(process.find(work).pid, 9)
    stand_in(FINISH.replace("OK", "True"))
    again = tick_until(SUCCEEDED)
    assert (again.pk, again.attempt) == (run.pk, 2)
    assert not [name for name in ("tokens", "secrets.json") if (work / name).exists()]
    assert is_gone(grandchild)


def test_a_tick_that_died_leaves_a_lease_that_runs_out(stand_in):
    stand_in(HANG)
    run, _ = ticked_until_hanging()
    in_a_moment = timezone.now() + timedelta(seconds=30)
    AnalyticsRun.objects.filter(pk=run.pk).update(
        lease_expires_at=in_a_moment, cancel_requested=True
    )
    supervise.tick()
    assert AnalyticsRun.objects.get(pk=run.pk).state == RUNNING
    AnalyticsRun.objects.filter(pk=run.pk).update(lease_expires_at=timezone.now())
    assert tick_until(CANCELLED)


def test_supervision_keeps_the_run_s_lease_file_fresh(stand_in):
    stand_in(HANG)
    run, _ = ticked_until_hanging()
    lease = Path(run.work_dir) / "lease"
    os.utime(lease, (1, 1))
    supervise.tick()
    assert time.time() - lease.stat().st_mtime < 60


def test_a_run_of_a_host_that_went_away_is_taken_over(stand_in, tmp_path):
    stand_in(FINISH.replace("OK", "True"))
    run = rows.running(tmp_path / "elsewhere", host="another", attempt=1)
    AnalyticsRun.objects.filter(pk=run.pk).update(heartbeat_at=timezone.now())
    supervise.tick()
    assert AnalyticsRun.objects.get(pk=run.pk).state == RUNNING
    AnalyticsRun.objects.filter(pk=run.pk).update(
        heartbeat_at=timezone.now() - supervise.HOST_LOST_AFTER * 2
    )
    supervise.tick()
    assert AnalyticsRun.objects.get(pk=run.pk).state == QUEUED
    assert tick_until(SUCCEEDED).attempt == 2


def test_a_worker_that_leaves_takes_its_run_along(stand_in):
    stand_in(HANG)
    run, grandchild = ticked_until_hanging()
    supervise.stop_here()
    assert is_gone(grandchild)
    assert AnalyticsRun.objects.get(pk=run.pk).state == QUEUED
    stand_in(FINISH.replace("OK", "True"))
    assert tick_until(SUCCEEDED).attempt == 1


def test_another_process_with_our_pid_is_left_alone(tmp_path):
    mine = os.getpid()
    stranger = process.RunProcess(mine, 1)
    assert not process.is_alive(stranger)
    process.end(stranger)


def test_who_asks_to_cancel_during_a_launch_is_heard(stand_in, monkeypatch):
    stand_in(HANG)
    read = AnalyticsRun.refresh_from_db

    def asked_after_reading(run, *args, **named):
        read(run, *args, **named)
        AnalyticsRun.objects.filter(pk=run.pk, state=QUEUED).update(cancel_requested=True)

    monkeypatch.setattr(AnalyticsRun, "refresh_from_db", asked_after_reading)
    supervise.tick()
    run = AnalyticsRun.objects.get()
    assert (run.state, run.cancel_requested) == (RUNNING, True)
    assert tick_until(CANCELLED)


def test_a_tick_that_lost_its_lease_changes_nothing(stand_in, monkeypatch):
    """It saw the process gone; meanwhile another worker took over and started it again."""
    stand_in(HANG)
    run, _ = ticked_until_hanging()
    found = process.find(Path(run.work_dir))
    os.kill(found.pid, 9)
    while process.is_alive(found):
        time.sleep(0.01)
    real = process.last_words

    def overtaken(work_dir, limit=300):
        AnalyticsRun.objects.filter(pk=run.pk).update(lease_token="another worker's", attempt=2)
        return real(work_dir, limit)

    monkeypatch.setattr(process, "last_words", overtaken)
    supervise.tick()
    found = AnalyticsRun.objects.get(pk=run.pk)
    assert (found.state, found.attempt, found.error) == (RUNNING, 2, "")
    assert found.lease_token == "another worker's"


def test_rollups_run_beside_the_telemetry_job_and_one_at_a_time(stand_in, monkeypatch):
    plans = {
        Job.HOURLY: rules.RollupPlan(period_s=3600, settle_s=300, again=2, back_max=48),
        Job.DAILY: rules.RollupPlan(period_s=86_400, settle_s=900, again=1, back_max=3),
    }
    monkeypatch.setattr(rules, "ROLLUP_PLANS", plans)
    CollectorState.objects.update(first_sample_at=timezone.now() - timedelta(days=3))
    stand_in(FINISH.replace("OK", "True"))
    active_at_once = set()
    deadline = time.monotonic() + 40
    while time.monotonic() < deadline:
        supervise.tick()
        runs = AnalyticsRun.objects.all()
        active_at_once.add(frozenset(run.job for run in runs if run.state in (QUEUED, RUNNING)))
        if {run.job for run in runs if run.state == SUCCEEDED} == set(Job):
            break
        time.sleep(0.05)
    assert {run.job for run in AnalyticsRun.objects.filter(state=SUCCEEDED)} == set(Job)
    assert frozenset({Job.TELEMETRY, Job.HOURLY}) in active_at_once
    assert not any({Job.HOURLY, Job.DAILY} <= at_once for at_once in active_at_once)
    config = json.loads(
        (Path(AnalyticsRun.objects.get(job=Job.HOURLY).work_dir) / "config.json").read_text()
    )
    assert (config["job"], config["to_ts_ms"] - config["from_ts_ms"]) == ("hourly", 7_200_000)
