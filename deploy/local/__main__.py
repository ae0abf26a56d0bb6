"""`python -m deploy.local up|check|down|…`: the whole service on one machine."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time

from deploy.local.config import LocalConfig, SetupError
from deploy.local.running import refuse_second_launcher, running_pid

STOP_TIMEOUT_S = 60.0


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m deploy.local", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("up", help="start everything and stay in the foreground")
    commands.add_parser("check", help="judge the settings, start and change nothing")
    commands.add_parser("down", help="stop a running service")
    commands.add_parser("status", help="say which parts run")
    reset = commands.add_parser("reset", help="stop it and delete its data")
    reset.add_argument("--force", action="store_true", help="do not ask")
    logs = commands.add_parser("logs", help="follow the logs")
    logs.add_argument("part", nargs="?", help="one part only, such as web or agent")
    manage = commands.add_parser("manage", help="run manage.py with the service's own settings")
    manage.add_argument("arguments", nargs=argparse.REMAINDER, help="such as: tenant list")
    options = parser.parse_args(arguments)
    try:
        config = LocalConfig.from_environment(os.environ)
        return _run(options, config)
    except SetupError as error:
        print(f"penstock: {error}", file=sys.stderr)
        return error.exit_code


def _run(options: argparse.Namespace, config: LocalConfig) -> int:
    match options.command:
        case "up":
            from deploy.local.up import up

            return up(config)
        case "check":
            refuse_second_launcher(config)
            config.check_usable()
            return 0
        case "down":
            return _down(config)
        case _:
            return _of_running(options, config)


def _of_running(options: argparse.Namespace, config: LocalConfig) -> int:
    """The commands about a data directory that is there already."""
    match options.command:
        case "reset":
            return _reset(config, force=options.force)
        case "status":
            return _status(config)
        case "manage":
            return _manage(config, options.arguments)
        case _:
            return _logs(config, options.part)


def _down(config: LocalConfig) -> int:
    pid = running_pid(config)
    if pid is None:
        print("not running")
        return 0
    os.kill(pid, signal.SIGTERM)
    deadline_s = time.monotonic() + STOP_TIMEOUT_S
    while running_pid(config) is not None:
        if time.monotonic() > deadline_s:
            raise SetupError(f"process {pid} is still stopping after {STOP_TIMEOUT_S:.0f} s")
        time.sleep(0.1)
    print("stopped")
    return 0


def _reset(config: LocalConfig, *, force: bool) -> int:
    if not force:
        try:
            answer = input(f"Delete everything in {config.data_dir}? Type yes: ")
        except EOFError:
            raise SetupError("nobody to ask; FORCE=1 deletes without asking") from None
        if answer.strip() != "yes":
            print("nothing deleted")
            return 1
    _down(config)
    # Only what a service made: a mistyped data directory must not cost somebody their files.
    if config.data_dir.exists() and not (config.data_dir / "run").is_dir():
        raise SetupError(f"{config.data_dir} is not a Penstock data directory; nothing deleted")
    shutil.rmtree(config.data_dir, ignore_errors=True)
    print(f"deleted {config.data_dir}")
    return 0


def _status(config: LocalConfig) -> int:
    if running_pid(config) is None or not config.state_file.exists():
        print("not running")
        return 3
    state = json.loads(config.state_file.read_text())
    print(f"running as process {state['pid']}, console {state['url']}")
    for part in state["parts"]:
        word = "running" if part["running"] else "stopped"
        restarts = f", restarted {part['restarts']}×" if part["restarts"] else ""
        print(f"  {part['name']:<10} {word}, pid {part['pid']}{restarts}")
    return 0 if all(part["running"] for part in state["parts"]) else 1


def _manage(config: LocalConfig, arguments: list[str]) -> int:
    """The service's ports, ZooKeeper login and addresses; by themselves they are the defaults."""
    from deploy.local import stack

    if not config.run_dir.is_dir():
        raise SetupError(f"{config.data_dir} holds no service yet; `make up` makes one")
    command = stack.manage(*(arguments or ["help"]))
    return subprocess.run(command, check=False, env=config.child_environment()).returncode


def _logs(config: LocalConfig, part: str | None) -> int:
    found = {path.stem: path for path in config.logs_dir.glob("*.log")}
    # `make logs PART=cl_…-1`: a broker's log lies with its data.
    found |= {path.parent.name: path for path in config.brokers_dir.glob("*/broker.log")}
    if part is not None and part not in found:
        parts = ", ".join(sorted(found)) or "none yet"
        raise SetupError(f"no logs of a part {part!r}; there are: {parts}")
    files = [str(found[name]) for name in ([part] if part else sorted(found))]
    if not files:
        raise SetupError(f"no logs in {config.logs_dir} yet")
    try:
        return subprocess.run(["tail", "-n", "20", "-F", *files], check=False).returncode
    except KeyboardInterrupt:
        return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
