"""`python -m dataplane broker|agent|join|stop-host|install-version|local-cluster`.

Exit codes: 0 stopped as asked, 1 failed, 2 bad arguments or bad configuration.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any, NoReturn

PORT_MAX = 65_535


class _Help(argparse.HelpFormatter):
    """As wide as a terminal of 80 columns.

    To ask for the terminal's width, which argparse does at every argument that is declared, imports
    shutil with three compressors: half a MiB that a broker would keep.
    """

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=78)


class _Parser(argparse.ArgumentParser):
    """Its subcommands are of this class too."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(formatter_class=_Help, **settings)


def main(arguments: list[str] | None = None) -> int:
    parser = _Parser(prog="python -m dataplane", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    _add_broker(commands.add_parser("broker", help="run one broker"))
    _add_agent(commands.add_parser("agent", help="run a host agent"))
    _add_join(commands.add_parser("join", help="exchange a one-time token for an agent's files"))
    _add_stop_host(
        commands.add_parser("stop-host", help="stop a host's agent and its brokers in good order")
    )
    _add_install_version(
        commands.add_parser("install-version", help="put a release of the broker on this host")
    )
    _add_local_cluster(
        commands.add_parser("local-cluster", help="run ZooKeeper and brokers, no control plane")
    )
    options = parser.parse_args(arguments)
    if options.command == "broker":
        from dataplane.compose.main import main as run_broker

        return run_broker(options.config, options.set, check=options.check)
    if options.command == "join":
        from dataplane.agent.join import main as join

        return join(options)
    if options.command == "agent":
        from dataplane.compose.agent import main as run_agent

        return run_agent(options)
    if options.command == "stop-host":
        from dataplane.agent.stop_host import main as stop_host

        return stop_host(options)
    if options.command == "install-version":
        from dataplane.agent.install_version import main as install_version

        return install_version(options)
    from dataplane.local_cluster import main as run_local_cluster

    return run_local_cluster(options)


def _add_broker(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", help="a properties file with Kafka's broker keys")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a key that overrides the file; may be repeated",
    )
    parser.add_argument(
        "--check", action="store_true", help="only check the configuration, do not start"
    )


def _add_agent(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host-id", required=True, help="this host's name in the control plane")
    parser.add_argument(
        "--zookeeper", required=True, metavar="HOST:PORT[,…]", help="where the cluster's state is"
    )
    parser.add_argument(
        "--data-dir", required=True, help="brokers' files, logs and pids; made when missing"
    )
    parser.add_argument(
        "--key-file", required=True, help="Fernet keys that open what is sealed here, one a line"
    )
    parser.add_argument(
        "--zookeeper-config",
        default=None,
        metavar="FILE",
        help="how to log in to ZooKeeper: the file of `manage.py zookeeper host`, mode 0600",
    )
    parser.add_argument(
        "--rack", default=None, help="broker.rack of this host's brokers; default: the host id"
    )
    _add_further_data_dirs(parser)
    parser.add_argument(
        "--label",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="what operators find this host by; may be repeated. Without one those of"
        " PENSTOCK_HOST_LABELS, with commas between",
    )
    parser.add_argument(
        "--address",
        default=None,
        help="where clients reach this host; must be given where it has others than loopback",
    )
    parser.add_argument(
        "--port-range",
        default="19100-19999",
        metavar="LOW-HIGH",
        help="ports that its brokers may take",
    )
    parser.add_argument(
        "--versions",
        default=None,
        metavar="DIR",
        help="releases of the broker, a directory each, beside the agent's own; without it what"
        " PENSTOCK_VERSIONS_DIR says",
    )
    parser.add_argument(
        "--replace-host",
        action="store_true",
        help="take the host id over from a data directory that is lost, once its agent is gone",
    )
    parser.add_argument(
        "--adopt-ensemble",
        action="store_true",
        help="once, where the ZooKeeper of before is lost for good: go over to that of --zookeeper",
    )
    parser.add_argument(
        "--keep-brokers",
        action="store_true",
        help="on SIGTERM leave the brokers running, for the next agent to take up; SIGINT stops"
        " them even so",
    )
    parser.add_argument(
        "--brokers-die-with-agent",
        action="store_true",
        help="stop the brokers also when the agent is killed",
    )


def _add_further_data_dirs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--extra-data-dir",
        action="append",
        default=[],
        metavar="NAME=DIR",
        help="another disk for brokers' logs; may be repeated. Without one those of"
        " PENSTOCK_EXTRA_DATA_DIRS, with commas between",
    )
    parser.add_argument(
        "--replace-data-dir",
        action="append",
        default=[],
        metavar="NAME",
        help="the disk of this extra directory was replaced for good: take what is there now",
    )


def _add_join(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--server", required=True, metavar="URL", help="the control plane's")
    parser.add_argument(
        "--token-file",
        dest="token",
        default=None,
        metavar="FILE",
        help="holds the token of `manage.py host token`; - is standard input, and without the"
        " option it stands in PENSTOCK_JOIN_TOKEN",
    )
    parser.add_argument("--address", required=True, help="where clients reach this host")
    parser.add_argument("--rack", default=None, help="default: the host's name")
    parser.add_argument(
        "--port-range",
        default="9092-9191",
        metavar="LOW-HIGH",
        help="ports that its brokers may take; default: 9092-9191",
    )
    parser.add_argument(
        "--data-dir",
        default="/var/lib/penstock-agent",
        help="brokers' files, logs and pids; default: /var/lib/penstock-agent",
    )
    parser.add_argument(
        "--into",
        default="/etc/penstock",
        metavar="DIR",
        help="where agent.env and keys go; default: /etc/penstock",
    )


def _add_stop_host(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data-dir", required=True, help="that of the host's agent")
    parser.add_argument(
        "--timeout-s", type=float, default=80.0, help="how long the brokers may take; default: 80"
    )


def _add_install_version(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", help="of the version: the directory that it gets")
    parser.add_argument(
        "--versions", required=True, metavar="DIR", help="the directory that the agent is told of"
    )
    parser.add_argument(
        "--from",
        dest="source",
        default=None,
        metavar="TREE",
        help="a checkout or an unpacked archive of the release; default: what runs this command",
    )


def _add_local_cluster(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--brokers", type=_positive, metavar="N", help="how many; default: 1, or one per id"
    )
    parser.add_argument(
        "--port", type=_port, required=True, help="broker i listens on PORT+i; 0: free ones"
    )
    parser.add_argument(
        "--data-dir", required=True, help="everything the cluster writes; made when missing"
    )
    parser.add_argument(
        "--listener",
        action="append",
        default=[],
        metavar="NAME://HOST:PORT",
        help="a further listener; broker i binds PORT+i; may be repeated",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a key of every broker, {broker} stands for its id; may be repeated",
    )
    parser.add_argument("--broker-ids", default=None, metavar="A,B,C", help="ids instead of 0..N-1")
    parser.add_argument("--zookeeper-port", type=_port, default=0, help="default: any free port")


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number of at least 1")
    return int(text)


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > PORT_MAX:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number from 0 to {PORT_MAX}")
    return int(text)


def _run() -> NoReturn:
    sys.exit(main())


if __name__ == "__main__":
    _run()
