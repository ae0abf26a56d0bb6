"""`manage.py secrets check|add-key|use-newest|reseal|drop-old|host-key`: keys of sealed values."""

import contextlib
import re
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from controlplane.clusters.hosts import HostsUnavailableError, hosts
from controlplane.clusters.sealing import (
    DESIRED,
    NO_KEY,
    NoHostKeyError,
    drop_old_host_keys,
    host_keys,
    hosts_with_key,
    hosts_without_key,
    reseal_desired,
    tally_desired,
    use_newest_host_key,
)
from controlplane.common import sealed_values
from controlplane.common.crypto import key_file, keyring
from controlplane.common.keyfiles import WAITING, keys_in_file, marked_keys, new_key, write_keys
from controlplane.common.keyring import KeysUnusableError, SecretUnreadableError
from controlplane.common.sealed_values import Tally, name_of, sealed_columns
from controlplane.common.words import counted

KEYS_MAX = 20
HOST_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
UNREAD_HINT = "a key that opened them is missing; put it back (deploy/secrets.md)"


class Command(BaseCommand):
    help = "The keys that seal secrets at rest: count, add, rotate, re-seal. All may run again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        for name, text in (
            ("check", "how many values stand under which key; exit code 1 unless all are current"),
            ("add-key", "add a fresh key to the file: it opens, and seals nothing yet"),
            ("use-newest", "the key that was added last seals from now on"),
            ("reseal", "bring every sealed value under the first key"),
            ("drop-old", "take all keys but the first out of the file, once nothing needs them"),
        ):
            actions.add_parser(name, help=text)
        host = actions.add_parser(
            "host-key", help="the key of what one host reads, made where there is none"
        )
        host.add_argument("host_id")
        host.add_argument(
            "--file", type=Path, required=True, help="the agent's key file, made here"
        )
        changes = host.add_mutually_exclusive_group()
        changes.add_argument("--add", action="store_true", help="also a fresh one, to replace it")
        changes.add_argument(
            "--use-newest",
            action="store_true",
            help="the one that was added seals from now on; what stands sealed is re-sealed",
        )

    def handle(self, *_: Any, action: str, **options: Any) -> None:
        self._options = options
        actions: dict[str, Callable[[], None]] = {
            "check": self._check,
            "add-key": self._add_key,
            "use-newest": self._use_newest,
            "reseal": self._reseal,
            "drop-old": self._drop_old,
            "host-key": self._host_key,
        }
        try:
            keyring()
            actions[action]()
        except (KeysUnusableError, NoHostKeyError, SecretUnreadableError, ValueError) as error:
            raise CommandError(str(error)) from error
        except HostsUnavailableError as error:
            raise CommandError(f"ZooKeeper: {error}") from error
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}") from error
        finally:
            with contextlib.suppress(HostsUnavailableError):
                hosts().close()

    def _check(self) -> None:
        counted = self._all(sealed_values.tally, tally_desired)
        old, unreadable = _sums(counted)
        if old or unreadable:
            raise CommandError(_what_is_left(old, unreadable), returncode=1)

    def _reseal(self) -> None:
        counted = self._all(sealed_values.reseal, reseal_desired)
        old, unreadable = _sums(counted)
        if old or unreadable:
            raise CommandError(_what_is_left(old, unreadable), returncode=1)
        for host_id in sorted(hosts_with_key()):
            drop_old_host_keys(host_id)

    def _add_key(self) -> None:
        file = _own_file()
        found = marked_keys(file)
        if len(found) >= KEYS_MAX:
            raise CommandError(f"{file} has {counted(len(found), 'key')}; drop old ones first")
        write_keys(file, [*found, WAITING + new_key()])
        self.stdout.write(f"{file} has {counted(len(found) + 1, 'key')}; the first one seals")

    def _use_newest(self) -> None:
        file = _own_file()
        found = marked_keys(file)
        if not found[-1].startswith(WAITING):
            raise CommandError(f"no key waits in {file}: add one first")
        write_keys(file, [found[-1].removeprefix(WAITING), *found[:-1]])
        self.stdout.write(
            f"the newest of {counted(len(found), 'key')} seals; now `manage.py secrets reseal`"
        )

    def _drop_old(self) -> None:
        file = _own_file()
        old, unreadable = _sums(self._all(sealed_values.tally, tally_desired))
        if old or unreadable:
            raise CommandError(f"nothing dropped: {_what_is_left(old, unreadable)}")
        first, *older = keys_in_file(file)
        write_keys(file, [first])
        self.stdout.write(
            f"{counted(len(older), 'key')} dropped; backups of before need what was dropped"
        )

    def _host_key(self) -> None:
        """The file comes before anything is sealed with what it holds."""
        host_id, file = self._options["host_id"], self._options["file"]
        if not HOST_ID.fullmatch(host_id):
            raise CommandError(f"{host_id!r} cannot be a host's name")
        if self._options["use_newest"]:
            use_newest_host_key(host_id)
        write_keys(file, host_keys(host_id, is_adding=self._options["add"]))
        found = reseal_desired(host_id)
        self._say(f"{DESIRED} {host_id}", found)
        if self._options["use_newest"] and tally_desired(host_id).is_clean:
            drop_old_host_keys(host_id)
            write_keys(file, host_keys(host_id))
        self.stdout.write(f"{file} is for the agent of {host_id} alone")

    def _all(
        self, of_column: Callable[[sealed_values.Column], Tally], of_hosts: Callable[[], Tally]
    ) -> list[Tally]:
        counted = []
        for column in sealed_columns():
            counted.append(of_column(column))
            self._say(name_of(column), counted[-1])
        counted.append(of_hosts())
        self._say(DESIRED, counted[-1])
        if without := hosts_without_key():
            self.stdout.write(NO_KEY.format(", ".join(without)))
        return counted

    def _say(self, name: str, found: Tally) -> None:
        self.stdout.write(
            f"{name}: {found.current} current, {found.old} old, {found.unreadable} unreadable"
            + (f"; {found.resealed} re-sealed now" if found.resealed else "")
        )


def _own_file() -> Path:
    file = key_file()
    if file is None:
        raise CommandError("the keys come from PENSTOCK_FERNET_KEY: change that list, first seals")
    return file


def _sums(counted: list[Tally]) -> tuple[int, int]:
    return sum(each.old for each in counted), sum(each.unreadable for each in counted)


def _what_is_left(old: int, unreadable: int) -> str:
    said = [f"{old} values use an old key"] if old else []
    if unreadable:
        said.append(f"{unreadable} values open with no key: {UNREAD_HINT}")
    return "; ".join(said)
