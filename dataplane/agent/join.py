"""`python -m dataplane join`: exchange a one-time token for what this host's agent needs.

Everything that can be wrong here is looked at before the token is spent: the directory, files of
another ensemble, the way to the control plane. What comes back are secrets, so it comes by HTTPS
with a checked certificate, or from this machine.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import http.client
import ipaddress
import json
import os
import re
import ssl
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from dataplane.agent.main import EXIT_BAD_ARGUMENTS, EXIT_FAILED

ENV_FILE, KEY_FILE, LOGIN_FILE = "agent.env", "host.key", "zookeeper.properties"
TOKEN_VARIABLE = "PENSTOCK_JOIN_TOKEN"  # noqa: S105 - the name of a variable
ANSWER_BYTES_MAX = 65_536
TIMEOUT_S = 30.0
LINE_MAX = 300
_TOKEN = re.compile(r"psj_([0-9a-f]{8})_[A-Za-z0-9_-]{20,100}")
_KEY = re.compile(r"[A-Za-z0-9_=-]{20,100}")
_VALUE = re.compile(r"[A-Za-z0-9._:,/\[\]-]{1,500}")
Ask = Callable[[SplitResult, bytes], tuple[int, bytes]]
"""Posts a body to an address; status and answer. Raises OSError, http.client.HTTPException."""


class JoinError(Exception):
    """One line: why this host has not joined. `spent` is whether the token may be."""

    def __init__(self, text: str, *, spent: bool = False) -> None:
        super().__init__(text)
        self.spent = spent


def main(options: argparse.Namespace) -> int:
    """Exit code 0, 1 (refused or failed) or 2 (bad arguments, the token is not spent)."""
    try:
        host_id = join(options)
    except JoinError as error:
        sys.stderr.write(f"penstock join: {error}\n")
        return EXIT_FAILED if error.spent else EXIT_BAD_ARGUMENTS
    sys.stdout.write(f"host {host_id} has joined: its settings are in {options.into}\n")
    return 0


def join(options: argparse.Namespace, ask: Ask | None = None) -> str:
    """The host's name, once its files are written. Raises JoinError."""
    token = _token(options.token)
    address = _address(options.server)
    into = Path(options.into)
    _check_place(into, _ensemble_of(token))
    try:
        status, answer = (ask or _post)(address, json.dumps({"token": token}).encode())
    except (OSError, http.client.HTTPException) as error:
        raise JoinError(f"{options.server} does not answer: {error}", spent=True) from error
    found = _understood(status, answer)
    try:
        _write(into, found, options)
    except OSError as error:
        text = f"{error.filename}: {error.strerror}; the token is used, ask for another one"
        raise JoinError(text, spent=True) from error
    return str(found["host_id"])


def _token(given: str | None) -> str:
    """From a file, or the environment: on the command line everybody on the host could read it."""
    if given is None:
        text = os.environ.get(TOKEN_VARIABLE, "").strip()
        if not text:
            raise JoinError(f"give the token by --token-file, or in {TOKEN_VARIABLE}")
    else:
        try:
            text = sys.stdin.read(LINE_MAX) if given == "-" else Path(given).read_text()
            text = text[:LINE_MAX].strip()
        except (OSError, UnicodeDecodeError) as error:
            raise JoinError(f"--token-file {given}: {error}") from error
    if not _TOKEN.fullmatch(text):
        raise JoinError("that is no join token: psj_…")
    return text


def _ensemble_of(token: str) -> str:
    found = _TOKEN.fullmatch(token)
    return found[1] if found is not None else ""


def ensemble_of(connect_string: str) -> str:
    """As the control plane counts it: eight digits that its connect string comes to."""
    return hashlib.sha256(connect_string.encode()).hexdigest()[:8]


def _address(server: str) -> SplitResult:
    try:
        found = urlsplit(server)
        _ = found.port
    except ValueError as error:
        raise JoinError(f"--server {server[:LINE_MAX]}: {error}") from error
    host = found.hostname or ""
    if found.scheme not in {"https", "http"} or not host or found.path.strip("/"):
        raise JoinError(f"--server {server[:LINE_MAX]}: expected https://host or https://host:port")
    if found.scheme == "http" and not _is_loopback(host):
        raise JoinError(f"--server {server[:LINE_MAX]}: keys are sent by https alone")
    return found


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _check_place(into: Path, ensemble: str) -> None:
    """The files can be written, and none of another ensemble is there."""
    settings = into / ENV_FILE
    try:
        into.mkdir(parents=True, exist_ok=True)
        probe = into / f".{ENV_FILE}.new"
        with probe.open("wb"):
            pass
        probe.unlink()
        known = settings.read_text() if settings.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise JoinError(f"--into {into}: {error}") from error
    for line in known.splitlines():
        name, _, value = line.partition("=")
        if name == "PENSTOCK_ZOOKEEPER" and ensemble_of(value.strip()) != ensemble:
            raise JoinError(
                f"{settings} is of the ensemble {value.strip()[:LINE_MAX]}, the token of another:"
                " move the file away if this host shall leave it"
            )


def _post(address: SplitResult, body: bytes) -> tuple[int, bytes]:
    host, port = address.hostname or "", address.port
    connection: http.client.HTTPConnection
    if address.scheme == "https":
        context = ssl.create_default_context()
        connection = http.client.HTTPSConnection(host, port, timeout=TIMEOUT_S, context=context)
    else:
        connection = http.client.HTTPConnection(host, port, timeout=TIMEOUT_S)
    with contextlib.closing(connection):
        connection.request("POST", "/agents/join", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, answer.read(ANSWER_BYTES_MAX + 1)


def _understood(status: int, answer: bytes) -> dict[str, Any]:
    """Raises JoinError with the control plane's own line, or because it makes no sense."""
    try:
        found = json.loads(answer) if len(answer) <= ANSWER_BYTES_MAX else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise JoinError(f"the answer ({status}) cannot be understood", spent=True)
    if status != http.client.OK:
        text = str(found.get("detail") or found.get("title") or "refused")
        raise JoinError(f"refused ({status}): {' '.join(text.split())[:LINE_MAX]}", spent=True)
    keys, login = found.get("keys"), found.get("zookeeper_settings")
    sound = (
        all(_is_value(found.get(name)) for name in ("host_id", "zookeeper"))
        and isinstance(keys, list)
        and 0 < len(keys) <= 10
        and all(isinstance(key, str) and _KEY.fullmatch(key) for key in keys)
        and isinstance(login, dict)
        and all(_is_line(name) and _is_line(value) for name, value in login.items())
    )
    if not sound:
        raise JoinError("the answer lacks what an agent needs", spent=True)
    return found


def _is_value(value: object) -> bool:
    return isinstance(value, str) and _VALUE.fullmatch(value) is not None


def _is_line(value: object) -> bool:
    return isinstance(value, str) and value.isprintable() and len(value) <= 4_096


def _write(into: Path, found: Mapping[str, Any], options: argparse.Namespace) -> None:
    """The secrets first, then the file that names them: with it a host is whole."""
    login = found["zookeeper_settings"]
    if login:
        text = "".join(f"{name}={value}\n" for name, value in _with_acl_last(login))
        _put(into / LOGIN_FILE, text)
    _put(into / KEY_FILE, "".join(f"{key}\n" for key in found["keys"]))
    rows = {
        "PENSTOCK_AGENT_DATA_DIR": options.data_dir,
        "PENSTOCK_ZOOKEEPER": found["zookeeper"],
        "PENSTOCK_HOST_ZOOKEEPER_CONFIG": str(into / LOGIN_FILE) if login else "",
        "PENSTOCK_HOST_KEY_FILE": str(into / KEY_FILE),
        "PENSTOCK_HOST_ID": found["host_id"],
        "PENSTOCK_HOST_ADDRESS": options.address,
        "PENSTOCK_HOST_RACK": options.rack or found["host_id"],
        "PENSTOCK_BROKER_PORTS": options.port_range,
    }
    _put(into / ENV_FILE, "".join(f"{name}={value}\n" for name, value in rows.items()))


def _with_acl_last(login: Mapping[str, str]) -> list[tuple[str, str]]:
    """A file that was cut short must not leave open what its whole would close."""
    return sorted(login.items(), key=lambda row: row[0] == "zookeeper.set.acl")


def _put(path: Path, text: str) -> None:
    """Of this user alone from its first byte, and whole or not there."""
    written = path.with_name(f".{path.name}.new")
    with contextlib.suppress(FileNotFoundError):
        written.unlink()
    descriptor = os.open(written, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    written.replace(path)
