"""Whether a launcher serves a data directory. Standard library only: asked before set-up too."""

from __future__ import annotations

from pathlib import Path

from deploy.local.config import LocalConfig, SetupError


def refuse_second_launcher(config: LocalConfig) -> None:
    """Raise `SetupError` when the data directory has a launcher."""
    running = running_pid(config)
    if running is not None:
        raise SetupError(f"already running as process {running}; `make down` stops it")


def running_pid(config: LocalConfig) -> int | None:
    """The process id of the launcher that owns the data directory, if it lives."""
    try:
        pid = int(config.pid_file.read_text())
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except (OSError, ValueError):
        return None
    return pid if b"deploy.local" in command else None
