"""What the launcher prints: progress while it works, then how to get in."""

from __future__ import annotations

import sys
import time
from typing import Any

from deploy.local.config import LocalConfig


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


def banner(config: LocalConfig, access: dict[str, Any], client: dict[str, str] | None) -> None:
    print(f"\nPenstock is up.\n\n  console   {config.url}")
    print(f"  login     {access['username']}")
    print(f"  password  {access['password']}")
    print(f"  REST      {config.url}/api/v1   (Authorization: Bearer {access['api_key']})")
    print(f"  data      {config.data_dir}")
    if client is not None:
        print("\nA client configuration, ready to paste (Java, librdkafka):\n")
        for key, value in client.items():
            if "." in key:
                print(f"  {key}={value}")
        print(f"\n  the same as JSON: {config.data_dir / 'demo-client.json'}")
    print("\nCtrl-C stops everything; the data stays. `make reset` deletes it.\n", flush=True)
