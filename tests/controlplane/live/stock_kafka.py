"""A stock Apache Kafka with authorizer and SASL_SSL: a ZooKeeper and JVMs of its own.

Started here on free ports of the loopback, stopped here; `make test-governance-kafka` governs it.
"""

import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from dataplane.config import format_properties
from dataplane.runtime.embedded_zookeeper import EmbeddedZooKeeper
from tests.certificates import Authority
from tests.kafka_jars import class_path
from tests.ports import free_row

BROKERS = (1, 2, 3)
ADMIN, PASSWORD = "admin", "stock-kafka-admin"
JVM_OPTIONS = ("-Xmx384M", "-Xms128M", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
START_S_MAX = 120.0
LOGIN_MODULES = "org.apache.kafka.common.security"


class StockKafka:
    """`directory` holds its configuration, certificates, logs; `ca_file` is what clients trust.

    `settings` of every broker are laid over those that it has here.
    """

    def __init__(
        self,
        directory: Path,
        *,
        brokers: Sequence[int] = BROKERS,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self.directory = directory
        self.settings = settings or {}
        self.ports = dict(zip(brokers, range(free_row(len(brokers)), 2**16), strict=False))
        self.bootstrap = ",".join(f"127.0.0.1:{port}" for port in self.ports.values())
        directory.mkdir(parents=True)
        self.authority = Authority(directory, "authority")
        self.ca_file: Path = self.authority.file
        self.zookeeper = EmbeddedZooKeeper(directory / "zookeeper")
        self.processes: dict[int, subprocess.Popen[bytes]] = {}

    def start(self) -> None:
        self.zookeeper.start()
        for broker in self.ports:
            self.start_broker(broker)
        self._wait_for_all()

    def start_broker(self, broker: int) -> None:
        home = self.directory / str(broker)
        home.mkdir(exist_ok=True)
        config = home / "server.properties"
        config.write_text(format_properties(self._settings(broker)))
        with (home / "broker.log").open("ab") as log:
            self.processes[broker] = subprocess.Popen(
                ["java", *JVM_OPTIONS, "-cp", class_path(), "kafka.Kafka", str(config)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=home,
            )

    def stop(self) -> None:
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.zookeeper.stop()
        shutil.rmtree(self.directory / "zookeeper", ignore_errors=True)

    def registration(self, name: str) -> dict[str, str]:
        """The inputs of `cluster.register`."""
        return {
            "name": name,
            "bootstrap_servers": self.bootstrap,
            "security_protocol": "SASL_SSL",
            "sasl_mechanism": "PLAIN",
            "username": ADMIN,
            "password": PASSWORD,
            "ca_pem": self.ca_file.read_text(),
        }

    def partitions_on(self, broker: int) -> set[str]:
        """Names of the directories of partitions that this broker keeps on its disk."""
        return {each.name for each in (self.directory / str(broker) / "data").iterdir()}

    def _settings(self, broker: int) -> dict[str, str]:
        login = f'username="{ADMIN}" password="{PASSWORD}" user_{ADMIN}="{PASSWORD}"'
        scram = f"{LOGIN_MODULES}.scram.ScramLoginModule required;"
        prefix = "listener.name.sasl_ssl."
        return {
            "broker.id": str(broker),
            "listeners": f"SASL_SSL://127.0.0.1:{self.ports[broker]}",
            "log.dirs": str(self.directory / str(broker) / "data"),
            "zookeeper.connect": self.zookeeper.connect_string,
            "security.inter.broker.protocol": "SASL_SSL",
            "sasl.mechanism.inter.broker.protocol": "PLAIN",
            "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
            f"{prefix}plain.sasl.jaas.config": (
                f"{LOGIN_MODULES}.plain.PlainLoginModule required {login};"
            ),
            f"{prefix}scram-sha-256.sasl.jaas.config": scram,
            f"{prefix}scram-sha-512.sasl.jaas.config": scram,
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(self.authority.issue(f"broker-{broker}")),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self.ca_file),
            "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
            "super.users": f"User:{ADMIN}",
            "offsets.topic.num.partitions": "2",
            "group.initial.rebalance.delay.ms": "0",
            **self.settings,
        }

    def admin(self) -> AdminClient:
        """A stock client that may do everything, by the login that its own configuration names."""
        return AdminClient(
            {
                "bootstrap.servers": self.bootstrap,
                "security.protocol": "SASL_SSL",
                "sasl.mechanism": "PLAIN",
                "sasl.username": ADMIN,
                "sasl.password": PASSWORD,
                "ssl.ca.location": str(self.ca_file),
                "log_level": 0,
            }
        )

    def _wait_for_all(self) -> None:
        client = self.admin()
        deadline_s = time.monotonic() + START_S_MAX
        while time.monotonic() < deadline_s:
            for broker, process in self.processes.items():
                if process.poll() is not None:
                    log = self.directory / str(broker) / "broker.log"
                    raise RuntimeError(f"broker {broker} ended: {log.read_text()[-3000:]}")
            try:
                if len(client.list_topics(timeout=2).brokers) == len(self.ports):
                    return
            except KafkaException:
                continue
        raise RuntimeError(f"the brokers do not answer within {START_S_MAX:.0f} s")
