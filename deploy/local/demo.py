"""The demo: topics, a client's user and ACLs, made by the ordinary REST operations."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from deploy.local.api import Api
from deploy.local.config import SetupError

CLIENT_USER = "demo-app"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DemoTopic:
    name: str
    partitions: int
    configs: dict[str, str]


# Small segments and short retention, so that retention is seen at work within minutes.
TOPICS = (
    DemoTopic(name="demo.orders", partitions=6, configs={"retention.ms": "86400000"}),
    DemoTopic(name="demo.payments", partitions=3, configs={"retention.ms": "86400000"}),
    DemoTopic(
        name="demo.clicks",
        partitions=6,
        configs={"retention.ms": "3600000", "segment.bytes": "1048576"},
    ),
    DemoTopic(name="demo.inventory", partitions=3, configs={"cleanup.policy": "compact"}),
    DemoTopic(name="demo.audit", partitions=1, configs={"retention.ms": "604800000"}),
)


def ensure_topics(api: Api, cluster_id: str) -> None:
    existing = {topic["name"] for topic in api.get(f"/clusters/{cluster_id}/topics")["data"]}
    for topic in TOPICS:
        if topic.name not in existing:
            inputs: dict[str, Any] = dataclasses.asdict(topic)
            api.run("topic.create", cluster_id, {**inputs, "replication_factor": 3})


def ensure_client(api: Api, cluster: dict[str, Any], client_file: Path) -> dict[str, str]:
    """Make the demo user once; its password is shown once, so it is kept in a 0600 file."""
    if client_file.exists():
        client: dict[str, str] = json.loads(client_file.read_text())
        if client.get("cluster_id") == cluster["id"]:
            return client
    users = {user["username"] for user in api.get(f"/clusters/{cluster['id']}/users")["data"]}
    if CLIENT_USER in users:
        # The file with its password is gone: create the user again rather than guess.
        api.run("user.delete", cluster["id"], {"username": CLIENT_USER}, confirm=CLIENT_USER)
    inputs = {"username": CLIENT_USER, "mechanism": "SCRAM-SHA-512", "acls": _acls()}
    operation = api.run("user.create", cluster["id"], inputs)
    secret = api.post(f"/operations/{operation['id']}/secret")
    client = {
        "cluster_id": cluster["id"],
        "bootstrap.servers": _bootstrap(cluster),
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": CLIENT_USER,
        "sasl.password": secret["password"],
    }
    client_file.touch(mode=0o600)
    client_file.write_text(json.dumps(client, indent=1))
    return client


def _bootstrap(cluster: dict[str, Any]) -> str:
    servers = cluster["bootstrap_servers"]
    if not servers:
        raise SetupError("the demo cluster has no bootstrap servers")
    return servers if isinstance(servers, str) else ",".join(servers)


def _acls() -> list[dict[str, str]]:
    def acl(resource_type: str, name: str, operation: str) -> dict[str, str]:
        return {
            "principal": f"User:{CLIENT_USER}",
            "host": "*",
            "operation": operation,
            "permission": "ALLOW",
            "resource_type": resource_type,
            "resource_name": name,
            "pattern_type": "PREFIXED",
        }

    topics = [acl("TOPIC", "demo.", operation) for operation in ("READ", "WRITE", "DESCRIBE")]
    return [*topics, acl("GROUP", "demo-", "READ")]
