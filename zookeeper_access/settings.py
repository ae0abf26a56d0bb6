"""Logins, ACLs and TLS towards ZooKeeper, from the keys of a properties file."""

from __future__ import annotations

import dataclasses
import re
import ssl
from collections.abc import Callable, Mapping
from typing import Final, Self

from kazoo.security import ACL, Id, Permissions, make_digest_acl_credential

from zookeeper_access import keys

_USERNAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_ADMINISTRATOR = re.compile(r"(sasl|x509|digest):[^\s,]{1,256}")
# Also what a JAAS file and a properties file take without escapes, and what `digest` can carry.
_PASSWORD = re.compile(r"[A-Za-z0-9!#$%&()*+,./<=>?@\[\]^_{|}~-]{12,256}")
_NETTY: Final = "org.apache.zookeeper.ClientCnxnSocketNetty"
_VERSIONS: Final = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
READ_WRITE: Final = Permissions.READ | Permissions.WRITE | Permissions.CREATE | Permissions.DELETE
"""Everything but to change the ACL itself."""


class AccessError(ValueError):
    """A setting that cannot be used. The message never holds a credential."""

    def __init__(self, key: str, reason: str) -> None:
        self.key = key
        self.reason = reason
        super().__init__(f"{key}: {reason}")


@dataclasses.dataclass(frozen=True, slots=True)
class Login:
    """A user name and its password."""

    username: str
    password: str = dataclasses.field(repr=False)

    def owner(self) -> str:
        """This login in ACLs of the scheme `digest`, as `scheme:id`: user and a hash."""
        return f"digest:{make_digest_acl_credential(self.username, self.password)}"


@dataclasses.dataclass(frozen=True, slots=True)
class LentLogin(Login):
    """A login that a process acts as for a time; its clients stop when it is taken back."""

    _holders: list[Callable[[Login], None]] = dataclasses.field(
        default_factory=list, init=False, repr=False, compare=False
    )

    def held_by(self, forget: Callable[[Login], None]) -> None:
        """Have `forget(login)` called when the login is taken back."""
        self._holders.append(forget)

    def take_back(self) -> None:
        """Have every holder forget the login."""
        while self._holders:
            self._holders.pop()(self)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """TLS towards ZooKeeper. Files are PEM; without a `certificate` the client shows none."""

    trusted: str
    certificate: str = ""
    key_password: str = dataclasses.field(default="", repr=False)
    versions: tuple[str, ...] = ("TLSv1.2", "TLSv1.3")
    ciphers: tuple[str, ...] = ()
    check_hostname: bool = True

    def context(self) -> ssl.SSLContext:
        """Trusts `trusted` alone, not the system's authorities. Raises AccessError."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = self.check_hostname
        context.verify_mode = ssl.CERT_REQUIRED
        order = [name for name in _VERSIONS if name in self.versions]
        context.minimum_version, context.maximum_version = _VERSIONS[order[0]], _VERSIONS[order[-1]]
        if self.ciphers:
            try:
                context.set_ciphers(":".join(self.ciphers))
            except ssl.SSLError as error:
                raise AccessError(keys.CIPHER_SUITES, "no such cipher suite") from error
        try:
            context.load_verify_locations(self.trusted)
        except (OSError, ssl.SSLError) as error:
            raise AccessError(keys.TRUSTSTORE_LOCATION, _why(error, self.trusted)) from error
        if self.certificate:
            try:
                context.load_cert_chain(self.certificate, password=self.key_password)
            except (OSError, ssl.SSLError) as error:
                raise AccessError(keys.KEYSTORE_LOCATION, _why(error, self.certificate)) from error
        return context


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ZooKeeperAccess:
    """How a process reaches ZooKeeper. The empty one logs in nowhere and leaves nodes open.

    `sasl` is what the server asks for before it does anything. `identity` is the `digest` login
    that node ACLs name. `administrators` (`scheme:id`) have all rights on every node made.
    """

    sasl: Login | None = None
    identity: Login | None = None
    administrators: tuple[str, ...] = ()
    set_acl: bool = False
    tls: Tls | None = None

    @classmethod
    def parse(cls, settings: Mapping[str, str]) -> Self:
        """From the keys of `keys`; others are passed over. Raises AccessError."""
        sasl = _login(settings, keys.SASL_USERNAME, keys.SASL_PASSWORD)
        identity = _login(settings, keys.ACL_USERNAME, keys.ACL_PASSWORD)
        set_acl = _flag(settings, keys.SET_ACL)
        if set_acl and sasl is None and identity is None:
            raise AccessError(
                keys.SET_ACL, f"needs {keys.ACL_USERNAME} or {keys.SASL_USERNAME} to name an owner"
            )
        administrators = _list(settings, keys.ACL_ADMINISTRATORS)
        for one in administrators:
            if not _ADMINISTRATOR.fullmatch(one):
                raise AccessError(keys.ACL_ADMINISTRATORS, "expected SCHEME:ID, …")
        return cls(
            sasl=sasl,
            identity=identity,
            administrators=administrators,
            set_acl=set_acl,
            tls=_tls(settings),
        )

    def acl(self) -> list[ACL] | None:
        """What every node that this process makes gets; None leaves it open to everybody."""
        if not self.set_acl:
            return None
        return node_acl(self.owner(), administrators=self.administrators)

    def owner(self) -> str:
        """This process in an ACL, as `scheme:id`; empty without a login."""
        if self.identity is not None:
            return self.identity.owner()
        return f"sasl:{self.sasl.username}" if self.sasl is not None else ""


def node_acl(
    *owners: str, owner_permissions: int = Permissions.ALL, administrators: tuple[str, ...]
) -> list[ACL]:
    """All rights to the administrators, `owner_permissions` to owners, none to anybody else."""
    others = dict.fromkeys(each for each in owners if each and each not in administrators)
    return [
        *(ACL(owner_permissions, acl_id(each)) for each in others),
        *(ACL(Permissions.ALL, acl_id(each)) for each in dict.fromkeys(administrators)),
    ]


def acl_id(text: str) -> Id:
    """`scheme:id` as ZooKeeper's pair."""
    scheme, _, name = text.partition(":")
    return Id(scheme, name)


def _login(settings: Mapping[str, str], name_key: str, password_key: str) -> Login | None:
    username, password = settings.get(name_key, ""), settings.get(password_key, "")
    if not username and not password:
        return None
    if not _USERNAME.fullmatch(username):
        raise AccessError(name_key, "expected letters, digits, dots, hyphens, underscores")
    if not _PASSWORD.fullmatch(password):
        raise AccessError(
            password_key, "expected 12 to 256 printable ASCII characters, no quotes, colons, blanks"
        )
    return Login(username, password)


def _tls(settings: Mapping[str, str]) -> Tls | None:
    socket = settings.get(keys.CLIENT_SOCKET, "")
    if not _flag(settings, keys.SSL_ENABLE):
        return None
    if socket not in ("", _NETTY):
        raise AccessError(keys.CLIENT_SOCKET, f"with TLS it is {_NETTY}, or unset")
    for key in (keys.CRL_ENABLE, keys.OCSP_ENABLE):
        if _flag(settings, key):
            raise AccessError(key, "revocation is not checked; must stay false")
    for key in (keys.KEYSTORE_TYPE, keys.TRUSTSTORE_TYPE):
        if settings.get(key, "PEM").upper() not in ("", "PEM"):
            raise AccessError(key, "only PEM is served")
    trusted = settings.get(keys.TRUSTSTORE_LOCATION, "")
    if not trusted:
        raise AccessError(keys.TRUSTSTORE_LOCATION, "must be set: whom to trust")
    versions = _list(settings, keys.ENABLED_PROTOCOLS) or tuple(_VERSIONS)
    if not set(versions) <= set(_VERSIONS):
        raise AccessError(keys.ENABLED_PROTOCOLS, f"expected some of {', '.join(_VERSIONS)}")
    algorithm = settings.get(keys.ENDPOINT_IDENTIFICATION, "HTTPS").upper()
    if algorithm not in ("HTTPS", ""):
        raise AccessError(keys.ENDPOINT_IDENTIFICATION, "expected HTTPS, or empty for no check")
    tls = Tls(
        trusted=trusted,
        certificate=settings.get(keys.KEYSTORE_LOCATION, ""),
        key_password=settings.get(keys.KEYSTORE_PASSWORD, ""),
        versions=versions,
        ciphers=_list(settings, keys.CIPHER_SUITES),
        check_hostname=algorithm == "HTTPS",
    )
    tls.context()  # what cannot be read is said at the start
    return tls


def _flag(settings: Mapping[str, str], key: str) -> bool:
    text = settings.get(key, "false").strip().lower()
    if text not in ("true", "false"):
        raise AccessError(key, "either true or false")
    return text == "true"


def _list(settings: Mapping[str, str], key: str) -> tuple[str, ...]:
    return tuple(one.strip() for one in settings.get(key, "").split(",") if one.strip())


def _why(error: OSError, file: str) -> str:
    """Errors of ssl are OSErrors too, with a number of their own."""
    return f"{file}: {error.strerror or 'not a PEM file that can be used'}"
