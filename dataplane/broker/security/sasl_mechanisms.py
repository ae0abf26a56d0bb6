"""The table of SASL mechanisms: what each listener's settings enable, ready for a handshake."""

from __future__ import annotations

import functools
import logging
from typing import TYPE_CHECKING

from dataplane.config.sasl import PLAIN, enabled_mechanisms, plain_users
from dataplane.security.plain import PlainExchange
from dataplane.security.scram import ScramMechanism
from dataplane.security.scram_exchange import ScramExchange

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataplane.broker.metadata.config_store import ConfigStore
    from dataplane.broker.security.authorizer import Authorizer
    from dataplane.config import BrokerConfig
    from dataplane.ports.entropy import Entropy
    from dataplane.security.sasl import Mechanisms
    from dataplane.security.sasl_exchange import SaslExchange

_log = logging.getLogger(__name__)


class SaslMechanisms:
    """Follows dynamic changes of the settings: a table is made once per listener and settings."""

    def __init__(self, configs: ConfigStore, authorizer: Authorizer, entropy: Entropy) -> None:
        self._configs = configs
        self._authorizer = authorizer
        self._entropy = entropy
        self._config: BrokerConfig | None = None
        self._tables: dict[str, Mechanisms] = {}

    def of_listener(self, listener: str) -> Mechanisms:
        """By name, in the order of `sasl.enabled.mechanisms`."""
        config = self._configs.broker_config
        if config is not self._config:
            self._config, self._tables = config, {}
        table = self._tables.get(listener)
        if table is None:
            table = self._tables[listener] = dict(self._made(config, listener))
        return table

    def _made(
        self, config: BrokerConfig, listener: str
    ) -> list[tuple[str, Callable[[], SaslExchange]]]:
        made: list[tuple[str, Callable[[], SaslExchange]]] = []
        for name in enabled_mechanisms(config, listener):
            scram = ScramMechanism.from_sasl_name(name)
            if scram is not None:
                exchange = functools.partial(
                    ScramExchange,
                    scram,
                    self._authorizer.scram.credential,
                    self._entropy,
                    decoy_secret=self._authorizer.decoy_secret,
                )
                made.append((name, exchange))
            elif name == PLAIN:
                made.append((name, functools.partial(PlainExchange, plain_users(config, listener))))
        return made


def warn_of_clear_passwords(config: BrokerConfig) -> None:
    """PLAIN without TLS is allowed, as in Kafka; whoever reads along has the passwords."""
    for listener in config.listeners:
        is_clear = listener.protocol.uses_sasl and not listener.protocol.uses_tls
        if is_clear and PLAIN in enabled_mechanisms(config, listener.name):
            _log.warning(
                "listener %s takes passwords by PLAIN without TLS: they cross the network in clear",
                listener.name,
            )
