"""The table of SASL mechanisms: what each listener's settings enable, ready for a handshake."""

from __future__ import annotations

import functools
import logging
from typing import TYPE_CHECKING

from dataplane.broker.security.bearer_tokens import bearer_exchange
from dataplane.config.sasl import (
    OAUTHBEARER,
    PLAIN,
    enabled_mechanisms,
    plain_users,
    token_settings,
)
from dataplane.security.plain import PlainExchange
from dataplane.security.scram import ScramMechanism
from dataplane.security.scram_exchange import ScramExchange

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataplane.broker.metadata.config_store import ConfigStore
    from dataplane.broker.metrics import Metrics
    from dataplane.broker.security.authorizer import Authorizer
    from dataplane.config import BrokerConfig
    from dataplane.ports.clock import Clock
    from dataplane.ports.entropy import Entropy
    from dataplane.security.sasl import Mechanisms
    from dataplane.security.sasl_exchange import SaslExchange

_log = logging.getLogger(__name__)


class SaslMechanisms:
    """Follows dynamic changes of the settings: a table is made once per listener and settings."""

    def __init__(
        self,
        configs: ConfigStore,
        authorizer: Authorizer,
        clock: Clock,
        entropy: Entropy,
        metrics: Metrics,
    ) -> None:
        self._configs = configs
        self._authorizer = authorizer
        self._clock = clock
        self._entropy = entropy
        self._metrics = metrics
        self._config: BrokerConfig | None = None
        self._tables: dict[str, Mechanisms] = {}

    def prepare(self) -> None:
        """Make the tables of all listeners now, so that what is wrong shows. Raises ConfigError."""
        for listener in self._configs.broker_config.listeners:
            if listener.protocol.uses_sasl:
                self.of_listener(listener.name)

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
                    tokens=self._authorizer.tokens.login,
                )
                made.append((name, exchange))
            elif name == PLAIN:
                made.append((name, functools.partial(PlainExchange, plain_users(config, listener))))
            elif name == OAUTHBEARER:
                settings = token_settings(config, listener)
                made.append((name, bearer_exchange(settings, self._clock, self._metrics)))
        return made


def warn_of_risks(config: BrokerConfig) -> None:
    """What Kafka allows and an operator should know: PLAIN without TLS shows passwords to whoever
    reads along, and unsigned tokens can be written by anybody.
    """
    for listener in config.listeners:
        if not listener.protocol.uses_sasl:
            continue
        mechanisms = enabled_mechanisms(config, listener.name)
        if PLAIN in mechanisms and not listener.protocol.uses_tls:
            _log.warning(
                "listener %s takes passwords by PLAIN without TLS: they cross the network in clear",
                listener.name,
            )
        if OAUTHBEARER in mechanisms and token_settings(config, listener.name).jwks_url is None:
            _log.warning(
                "listener %s takes tokens that nobody has signed: anybody can log in as anybody",
                listener.name,
            )
