"""The product's web process, workers and beat with a real database and Redis, over a fake cluster.

For what is about those parts: it starts in seconds, and every write to the cluster is known.
"""

import json
from pathlib import Path
from typing import Any

from tests.controlplane.live.service import WORKERS, LiveService, python
from tests.controlplane.live.shared_fake import SharedGateway

MAKE_CLUSTER = """
from controlplane.tenants.models import Tenant
from tests.controlplane.support import cluster_make
print(cluster_make(Tenant.objects.get()).id)
"""


class FakedService(LiveService):
    app = beat_app = "tests.controlplane.live.fake_worker"

    def __init__(self, directory: Path, *, database_url: str = "", **environment: Any) -> None:
        super().__init__(directory)
        # Its own file, whatever database the other tests of this run are on.
        self.environment.pop("DATABASE_URL", None)
        if database_url:
            self.environment["DATABASE_URL"] = database_url
        self.environment |= {"PENSTOCK_ZOOKEEPER_CONFIG": "", **environment}
        self.cluster = SharedGateway(self.holds)

    def start(self) -> None:
        (self.directory / "data").mkdir(parents=True)
        self.start_redis()
        self.manage("migrate", "--verbosity", "0")
        self.login = json.loads(self.manage("bootstrap_demo", "--json"))
        self.api_key = self.login["api_key"]
        self.cluster_id = self.manage(
            "shell", "--verbosity", "0", "--command", MAKE_CLUSTER
        ).strip()
        self.spawn(
            "web",
            *python("-m", "uvicorn"),
            "tests.controlplane.live.fake_web:application",
            *("--host", "127.0.0.1", "--port", str(self.web_port)),
            *("--no-proxy-headers", "--log-level", "warning"),
        )
        for name in WORKERS:
            self.start_worker(name)
        self.start_beat()
        self.wait_for("web", lambda: self.get("/me") is not None)
