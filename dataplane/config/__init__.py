"""Every configuration key of brokers and topics: Kafka's names, types, defaults and bounds."""

from __future__ import annotations

from dataplane.config.broker_config import (
    BROKER_CONFIGS,
    BROKER_SYNONYMS,
    BrokerConfig,
    check_dynamic,
    listener_scoped,
)
from dataplane.config.group_config import GROUP_CONFIGS, GroupConfig
from dataplane.config.inter_broker import changes_between, protocol_rank
from dataplane.config.key import ConfigError, ConfigKey, ConfigType, Dynamic, Scope
from dataplane.config.listeners import Listener, SecurityProtocol
from dataplane.config.properties import (
    PropertiesError,
    format_properties,
    parse_properties,
)
from dataplane.config.thread_counts import check_thread_counts
from dataplane.config.topic_config import (
    TOPIC_CONFIGS,
    TOPIC_SYNONYMS,
    TopicConfig,
    parse_topic_value,
)

__all__ = [
    "BROKER_CONFIGS",
    "BROKER_SYNONYMS",
    "GROUP_CONFIGS",
    "TOPIC_CONFIGS",
    "TOPIC_SYNONYMS",
    "BrokerConfig",
    "ConfigError",
    "ConfigKey",
    "ConfigType",
    "Dynamic",
    "GroupConfig",
    "Listener",
    "PropertiesError",
    "Scope",
    "SecurityProtocol",
    "TopicConfig",
    "changes_between",
    "check_dynamic",
    "check_thread_counts",
    "format_properties",
    "listener_scoped",
    "parse_properties",
    "parse_topic_value",
    "protocol_rank",
]
