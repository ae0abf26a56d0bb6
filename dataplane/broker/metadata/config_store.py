"""Dynamic configuration from ZooKeeper: /config/…, kept fresh by /config/changes.

Every entity's overrides are held in memory as text; typed topic settings are made when asked for.
What stands in ZooKeeper is taken as it is: a key that we refuse is logged and passed over, because
another tool may have written it.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from dataplane.broker.metadata.change_notifications import ChangeListener
from dataplane.broker.metadata.znode_reads import read_all
from dataplane.cluster import znodes
from dataplane.config import ConfigError, GroupConfig, TopicConfig, parse_topic_value
from dataplane.ports.coordinator import (
    BadVersionError,
    ConnectionLossError,
    CoordinatorError,
    Create,
    NodeExistsError,
    NoNodeError,
    SetData,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from dataplane.config import BrokerConfig
    from dataplane.ports.clock import Clock
    from dataplane.ports.coordinator import Coordinator

log = logging.getLogger(__name__)

USERS, CLIENTS, GROUPS = "users", "clients", "groups"
ENTITY_TYPES = ("topics", "brokers", USERS, CLIENTS, "ips", GROUPS)
UPDATE_ATTEMPTS = 10


class ConfigStore:
    """Overrides by entity type (`topics`, `brokers`, `users`, `clients`, `ips`, `groups`) and name.

    Names are those of the entities' nodes: of users, clients, addresses and groups as
    `znodes.sanitize` spells them, `<default>` for the default entity. Overrides of a user's client
    are of the type `users/U/clients`. `broker_config` holds this broker's settings, the dynamic
    ones among them as they are now; every change replaces it.
    """

    def __init__(
        self, coordinator: Coordinator, clock: Clock, config: BrokerConfig, *, broker_id: int
    ) -> None:
        self.broker_config = config
        self._coordinator = coordinator
        self._broker_id = broker_id
        self._overrides: dict[tuple[str, str], dict[str, str]] = {}
        self._topics: dict[str, TopicConfig] = {}
        # Of groups that have overrides, and under no name of all others.
        self._groups: dict[str, GroupConfig] = {}
        self._listeners: list[Callable[[str, str], None]] = []
        self._lock = asyncio.Lock()
        """Held from reading or writing an entity until it is known here: an older reading never
        replaces a newer change."""
        self._changes = ChangeListener(
            coordinator,
            clock,
            znodes.CONFIG_CHANGES,
            znodes.decode_config_change,
            self._on_changes,
        )

    @property
    def change_retries(self) -> int:
        """Times that what others changed could not be read, and was tried again."""
        return self._changes.retries

    async def start(self) -> None:
        """Load everything, then follow the changes."""
        # Listed before loading: a change in between is read twice, never missed.
        try:
            seen = await self._coordinator.children(znodes.CONFIG_CHANGES)
        except NoNodeError:
            seen = []
        for entity_type in ENTITY_TYPES:
            await self._load_type(entity_type)
        self._apply_broker_overrides()
        self._changes.start(seen)

    async def stop(self) -> None:
        await self._changes.stop()

    # -- asking ---------------------------------------------------------------------------------

    def topic_config(self, topic: str) -> TopicConfig:
        """The topic's settings over this broker's defaults; also for a topic without overrides."""
        config = self._topics.get(topic)
        if config is None:
            config = self._topics[topic] = self._parse_topic(topic)
        return config

    def overrides(self, entity_type: str, name: str) -> dict[str, str]:
        """What was set on an entity itself, as text."""
        return dict(self._overrides.get((entity_type, name), {}))

    def broker_overrides(self, broker_id: int | None) -> dict[str, str]:
        """Dynamic settings of one broker, or (None) of all."""
        name = znodes.DEFAULT_ENTITY if broker_id is None else str(broker_id)
        return self.overrides("brokers", name)

    def entities(self, entity_type: str) -> list[str]:
        """Names of the entities of this type that have overrides."""
        return sorted(name for kind, name in self._overrides if kind == entity_type)

    def entity_types(self) -> set[str]:
        """Types that have an entity with overrides, `users/U/clients` of each such user too."""
        return {kind for kind, _ in self._overrides}

    def on_change(self, listener: Callable[[str, str], None]) -> None:
        """`listener(entity_type, name)` runs on the loop after an entity changed."""
        self._listeners.append(listener)

    def group_config(self, group_id: str) -> GroupConfig:
        """The group's settings over this broker's; also for a group without overrides."""
        name = znodes.sanitize(group_id)
        if (GROUPS, name) not in self._overrides:
            name = ""  # what all of those have
        config = self._groups.get(name)
        if config is None:
            config = self._groups[name] = self._parse_group(name)
        return config

    def _parse_group(self, name: str) -> GroupConfig:
        try:
            return GroupConfig.parse(self.overrides(GROUPS, name), self.broker_config)
        except ConfigError as error:
            log.warning("group %s keeps the defaults: %s", name, error)
            return GroupConfig.parse({}, self.broker_config)

    async def reload_groups(self, group_ids: Iterable[str]) -> None:
        """Read these groups' overrides now: they may just have been set elsewhere."""
        await self._reload(GROUPS, [znodes.sanitize(group_id) for group_id in group_ids])

    async def reload_topics(self, topics: Iterable[str]) -> None:
        """Read these topics' overrides now.

        A topic that is new, or made again under an old name, comes from the controller before any
        notification of its settings; and a description must show what was just set elsewhere.
        """
        await self._reload("topics", topics)

    async def _reload(self, entity_type: str, names: Iterable[str]) -> None:
        paths = [(name, znodes.config_path(entity_type, name)) for name in names]
        async with self._lock:
            found = await read_all(self._coordinator, paths)
            for name, _ in paths:
                values = znodes.decode_config(found[name][0]) if name in found else {}
                self._changed(entity_type, name, values)

    # -- changing -------------------------------------------------------------------------------

    async def update(
        self,
        entity_type: str,
        name: str,
        change: Callable[[dict[str, str]], Mapping[str, str]],
    ) -> None:
        """Replace an entity's overrides by `change(present)`, and notify every broker.

        `change` runs again when somebody else was faster. What it raises is passed on.
        """
        path = znodes.config_path(entity_type, name)
        notice = Create(
            znodes.CONFIG_CHANGE_PREFIX,
            znodes.encode_config_change(f"{entity_type}/{name}"),
            sequential=True,
        )
        for _ in range(UPDATE_ATTEMPTS):
            async with self._lock:
                if (values := await self._written(path, entity_type, change, notice)) is not None:
                    self._changed(entity_type, name, values)
                    return
        raise CoordinatorError(f"{path} is changed by others all the time")

    async def _written(
        self,
        path: str,
        entity_type: str,
        change: Callable[[dict[str, str]], Mapping[str, str]],
        notice: Create,
    ) -> dict[str, str] | None:
        """The overrides that are there now; None when somebody else was faster."""
        try:
            data, stat = await self._coordinator.get(path)
        except NoNodeError:
            values = dict(change({}))
            writes: list[Create | SetData] = [
                *await self._missing_parents(entity_type),
                Create(path, znodes.encode_config(values)),
            ]
        else:
            values = dict(change(znodes.decode_config(data)))
            writes = [SetData(path, znodes.encode_config(values), stat.version)]
        try:
            await self._coordinator.multi([*writes, notice])
        except (BadVersionError, NodeExistsError, ConnectionLossError):
            # Changes are idempotent: one that did happen before its answer was lost is found in
            # the next round, and made again without effect.
            return None
        return values

    # -- inside ---------------------------------------------------------------------------------

    async def _missing_parents(self, entity_type: str) -> list[Create]:
        """What has to be made before a first entity of a type such as `users/U/clients`."""
        path = znodes.CONFIG
        missing: list[Create] = []
        for part in entity_type.split("/"):
            path = f"{path}/{part}"
            if missing or await self._coordinator.exists(path) is None:
                missing.append(Create(path))
        return missing

    async def _load_type(self, entity_type: str) -> None:
        try:
            names = await self._coordinator.children(f"{znodes.CONFIG}/{entity_type}")
        except NoNodeError:
            return
        paths = [(name, znodes.config_path(entity_type, name)) for name in names]
        for name, (data, _) in (await read_all(self._coordinator, paths)).items():
            self._take(entity_type, name, znodes.decode_config(data))
        if entity_type == USERS:
            types = [f"{USERS}/{name}/{CLIENTS}" for name in names]
            nodes = [(each, f"{znodes.CONFIG}/{each}") for each in types]
            for nested in await read_all(self._coordinator, nodes):
                await self._load_type(nested)

    def _take(self, entity_type: str, name: str, values: dict[str, str]) -> None:
        if entity_type == "topics":
            self._topics.pop(name, None)
        elif entity_type == GROUPS:
            self._groups.pop(name, None)
        if values:
            self._overrides[entity_type, name] = values
        else:
            self._overrides.pop((entity_type, name), None)

    def _changed(self, entity_type: str, name: str, values: dict[str, str]) -> None:
        if values == self.overrides(entity_type, name):
            return
        self._take(entity_type, name, values)
        if entity_type == "brokers":
            self._apply_broker_overrides()
        for listener in self._listeners:
            try:
                listener(entity_type, name)
            except Exception:  # one listener's bug must not keep the others from hearing
                log.exception("a listener of configuration failed for %s %s", entity_type, name)

    async def _on_changes(self, entities: list[str]) -> None:
        paths = [(entity, f"{znodes.CONFIG}/{entity}") for entity in entities]
        async with self._lock:
            found = await read_all(self._coordinator, paths)
            for entity in entities:
                entity_type, _, name = entity.rpartition("/")
                values = znodes.decode_config(found[entity][0]) if entity in found else {}
                self._changed(entity_type, name, values)

    def _parse_topic(self, topic: str) -> TopicConfig:
        overrides = {}
        for key, text in self.overrides("topics", topic).items():
            try:
                parse_topic_value(key, text)
                overrides[key] = text
            except ConfigError as error:
                log.warning("topic %s: %s", topic, error)
        try:
            return TopicConfig.parse(overrides, self.broker_config)
        except ConfigError as error:
            log.warning("topic %s keeps the defaults: %s", topic, error)
            return TopicConfig.parse({}, self.broker_config)

    def _apply_broker_overrides(self) -> None:
        """The broker's settings with the dynamic ones; topics' defaults change with them."""
        try:
            self.broker_config = self.broker_config.with_dynamic(
                cluster_wide=self.broker_overrides(None),
                per_broker=self.broker_overrides(self._broker_id),
            )
        except ConfigError as error:
            log.warning("dynamic broker configuration is not applied: %s", error)
            return
        self._topics.clear()
        self._groups.clear()
