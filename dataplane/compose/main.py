"""The `broker` command: read the configuration, run one broker, say why not."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import resource
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from dataplane.broker.security.audit_log import LOGGER
from dataplane.broker.security.sasl_mechanisms import warn_of_risks
from dataplane.compose.environment import zookeeper_access
from dataplane.config import (
    BROKER_CONFIGS,
    BrokerConfig,
    ConfigError,
    PropertiesError,
    parse_properties,
)
from dataplane.runtime import log_file
from dataplane.security.principal import parse_super_users

if TYPE_CHECKING:
    from collections.abc import Sequence

_log = logging.getLogger("dataplane")

EXIT_FAILED = 1
EXIT_BAD_CONFIG = 2
AUDIT_OLD_FILES = 4
GARBAGE_AFTER_OBJECTS = 20_000
"""New objects that are left before garbage is looked for among them. Hundreds of requests in work
hold thousands: at Python's 700 they are looked through again and again, a fifth of the time that
an OffsetCommit takes."""


def read_config(path: str | None, overrides: Sequence[str]) -> BrokerConfig:
    """The configuration from a properties file and `key=value` overrides.

    ConfigError, PropertiesError, OSError.
    """
    settings: dict[str, str] = {}
    if path is not None:
        try:
            with open(path, encoding="utf-8") as file:  # noqa: PTH123 - a plain read, no pathlib
                settings.update(parse_properties(file.read()))
        except UnicodeDecodeError as error:
            raise ConfigError(path, f"at byte {error.start}", "the file is not UTF-8") from error
    for item in overrides:
        key, separator, value = item.partition("=")
        if not separator or not key.strip():
            raise ConfigError(item, "", "expected KEY=VALUE")
        settings[key.strip()] = value.strip()
    return BrokerConfig.parse(settings)


def main(path: str | None, overrides: Sequence[str], *, check: bool = False) -> int:
    """Run one broker until SIGTERM or SIGINT. Exit code 0, 1 or 2."""
    logging.basicConfig(
        handlers=[log_file.from_environment()],
        level=logging.INFO,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    # It warns of every attempt to reconnect; what becomes of the session is said by us, once.
    logging.getLogger("kazoo").setLevel(logging.ERROR)
    try:
        config = read_config(path, overrides)
        _check_users(config)
        zookeeper_access(config)
        if not check:
            _require(config)
    except ConfigError as error:
        sys.stderr.write(f"penstock broker: {error}\n")
        return EXIT_BAD_CONFIG
    except PropertiesError as error:
        sys.stderr.write(f"penstock broker: {path}: {error}\n")
        return EXIT_BAD_CONFIG
    except OSError as error:
        sys.stderr.write(f"penstock broker: cannot read {path}: {error.strerror}\n")
        return EXIT_BAD_CONFIG
    _say_unknown(config)
    if check:
        return 0
    try:
        _open_audit_log(config)
    except OSError as error:
        sys.stderr.write(f"penstock broker: cannot write the audit log: {error}\n")
        return EXIT_FAILED
    _allow_many_files()
    gc.set_threshold(GARBAGE_AFTER_OBJECTS)
    return asyncio.run(_serve(config))


def _require(config: BrokerConfig) -> None:
    """What has no default, before anything is waited for. ConfigError."""
    if config.broker_id < 0:
        raise ConfigError("broker.id", config.broker_id, "must be at least 0")
    servers = str(config.require("zookeeper.connect"))
    for server in servers.partition("/")[0].split(","):
        host, colon, port = server.strip().rpartition(":")
        is_port = port.isdecimal() and 0 < int(port) < 65_536
        if not ((host and is_port) if colon else port):
            raise ConfigError("zookeeper.connect", servers, "expected host:port,host:port/chroot")


def _check_users(config: BrokerConfig) -> None:
    """Credentials are read for good when ZooKeeper is there: malformed ones are refused here, and
    mechanisms that are not served, which would refuse every client.
    """
    config.check_logins()
    try:
        parse_super_users(config.get_str("super.users"))
    except ValueError as error:
        raise ConfigError("super.users", config.get_str("super.users"), str(error)) from error
    warn_of_risks(config)
    key = "penstock.bootstrap.scram"
    text = config.get_str(key)
    if not text:
        return
    from dataplane.security.scram import parse_bootstrap

    try:
        parse_bootstrap(text)
    except ValueError as error:
        raise ConfigError(key, "[hidden]", str(error)) from error


def _open_audit_log(config: BrokerConfig) -> None:
    """A file of its own where one is named or known; else it goes where the rest does. OSError."""
    named = config.get_str("penstock.audit.log.file")
    path = Path(named) if named else log_file.beside_own_log("audit")
    audit_log = logging.getLogger(LOGGER)
    audit_log.setLevel(logging.INFO)  # whatever becomes of the loggers above it
    if path is None:
        return
    audit_log.addHandler(log_file.AppendedLog(log_file.LogFile(path, old_files=AUDIT_OLD_FILES)))
    audit_log.propagate = False


def _say_unknown(config: BrokerConfig) -> None:
    """Keys that mean nothing here are ignored, as in Kafka, but not silently."""
    for name in sorted(config.static):
        known = BROKER_CONFIGS.get(name)
        if known is not None and not known.has_effect and config[name] != known.default:
            sys.stderr.write(f"penstock broker: configuration {name} is {_lower(known.doc)}\n")
    for key in config.unknown:
        import difflib

        near = difflib.get_close_matches(key, BROKER_CONFIGS, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        sys.stderr.write(f"penstock broker: unknown configuration {key} is ignored{hint}\n")


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def _allow_many_files() -> None:
    """Three files per partition and one per connection: take what the system allows us."""
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


async def _serve(config: BrokerConfig) -> int:
    """Start, wait for a signal, stop."""
    from dataplane.compose.broker_process import BrokerProcess, StartError

    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    broker = BrokerProcess(config, on_fatal=stop.set)
    starting = loop.create_task(broker.start())
    stopping = loop.create_task(stop.wait())
    await asyncio.wait({starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
    if not starting.done():
        starting.cancel()
    try:
        await starting
    except asyncio.CancelledError:
        return 0
    except ConfigError as error:
        sys.stderr.write(f"penstock broker: {error}\n")
        return EXIT_BAD_CONFIG
    except (StartError, OSError) as error:
        sys.stderr.write(f"penstock broker: {error}\n")
        return EXIT_FAILED
    with contextlib.suppress(OSError):  # nobody may be reading
        sys.stdout.write(f"started broker={config.broker_id} {broker.where()}\n")
        sys.stdout.flush()
    await stopping
    await broker.stop()
    return EXIT_FAILED if broker.failure else 0
