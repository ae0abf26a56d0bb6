"""What the launcher prints: progress while it works, then how to get in."""

from __future__ import annotations

import sys
import time
from typing import Any

from deploy.local.config import LocalConfig

LOGIN = ("  sasl.username=", "  sasl.password=")
JAAS_LOGIN = "org.apache.kafka.common.security.scram.ScramLoginModule"


class Progress:
    """One line a step, with the seconds since the start; plain text, also in a pipe."""

    def __init__(self) -> None:
        self._began_s = time.monotonic()

    def begin(self, step: str) -> None:
        self._say(f"… {step}")

    def note(self, text: str) -> None:
        self._say(f"✓ {text}")

    def end(self) -> None:
        sys.stdout.flush()

    def _say(self, text: str) -> None:
        print(f"{time.monotonic() - self._began_s:6.1f} s  {text}", flush=True)


def client_text(client: dict[str, str]) -> str:
    """How clients log in, each kind in its own words, and what the login may."""
    shared = [f"  {key}={value}" for key, value in client.items() if "." in key]
    common = [line for line in shared if not line.startswith(LOGIN)]
    login = [line for line in shared if line.startswith(LOGIN)]
    user, password = client["sasl.username"], client["sasl.password"]
    return "\n".join(
        [
            "A client configuration, ready to paste (librdkafka; in a file for kcat -F):",
            "",
            *common,
            *login,
            "",
            "  Java has, in place of the last two lines:",
            f'  sasl.jaas.config={JAAS_LOGIN} required username="{user}" password="{password}";',
            "",
            f"  {user} may read and write topics demo.* in groups demo-*; what else a user may is",
            "  set on the console's page Access.",
        ]
    )


def banner(config: LocalConfig, access: dict[str, Any], client: dict[str, str] | None) -> None:
    print(f"\nPenstock is up.\n\n  console   {config.url}")
    print(f"  login     {access['username']}")
    print(f"  password  {access['password']}")
    print(f"  REST      {config.url}/api/v1   (Authorization: Bearer {access['api_key']})")
    print(f"  data      {config.data_dir}")
    if client is not None:
        print("\n" + client_text(client))
        print(f"\n  the same as JSON: {config.data_dir / 'demo-client.json'}")
    print("\nCtrl-C stops everything; the data stays. `make reset` deletes it.\n", flush=True)
