"""What steps say that restart brokers one after the other."""

from collections.abc import Mapping
from typing import Final

_PARTITIONS = "{partitions:one=# partition|other=# partitions}"
_BROKERS = "{brokers:one=# broker|other=# brokers}"
_REPLICAS = "{replicas:one=# replica|other=# replicas}"
_NAMED = "({names}{more:none=|other= and # more})"
_BEFORE = "{before} before"

ROLLS: Final[Mapping[str, str]] = {
    "lead/waiting": "waiting:",
    "lead/looking": "looking whether anything gets worse:",
    "tail/as-broker-says": "as broker {broker} says",
    # -- what is in the way of a broker
    "obstacle/broker-starting": (
        "the process of broker {broker} runs and has not registered: it may be recovering its logs"
    ),
    "obstacle/broker-away": "broker {brokers}{more:none=|other= and # more} is not up",
    "obstacle/no-controller": "there is no active controller",
    "obstacle/partitions-offline": f"{_PARTITIONS} without a leader {_NAMED}",
    "obstacle/replicas-behind": f"{_PARTITIONS} with replicas out of sync {_NAMED}",
    "obstacle/reassigning": f"{_PARTITIONS} are being reassigned {_NAMED}",
    "obstacle/would-be-offline": f"{_PARTITIONS} would have no replica in sync {_NAMED}",
    "obstacle/below-min-isr": f"{_PARTITIONS} would fall below min.insync.replicas {_NAMED}",
    "obstacle/min-isr-unknown": (
        f"min.insync.replicas of {{topics:one=# topic|other=# topics}} is unknown {_NAMED}"
    ),
    "obstacle/broker-silent": "broker {broker} does not answer",
    "obstacle/became-controller": (
        "broker {broker} has become the controller, which is taken last"
    ),
    # -- one broker
    "roll/no-more-hangs": "no more hangs on the brokers than the plan says",
    "roll/no-more-hangs/one": "no more hangs on it than the plan says",
    "roll/next": "broker {broker} is next",
    "roll/paused": "paused by {by}",
    "roll/paused-before": "paused before anything was done",
    "roll/probe-waits": "the probe is not acknowledged by all brokers yet",
    "roll/restarts": "broker {broker} stops and starts",
    "roll/to-restart": "broker {broker} is to start again",
    "roll/registered": "broker {broker} has registered",
    "roll/in-sync": "broker {broker} is in sync",
    "roll/leaders": "broker {broker} gets its leaders back: {left} to go",
    "roll/back": "broker {broker} is back",
    "roll/led-by-others": f"{_PARTITIONS} that prefer it are led by others",
    "roll/not-restarted-yet": "broker {broker} was not restarted yet",
    # -- the canary
    "canary/not-worse": "nothing got worse in {seconds} s",
    "canary/to-go": "{seconds} s to go",
    "canary/under-replicated": f"{{now}} partitions under-replicated, {_BEFORE}",
    "canary/offline": f"{{now}} partitions without a leader, {_BEFORE}",
    "canary/away": f"{{now}} brokers not up, {_BEFORE}",
    "canary/probe-failed": ("{records:one=# record|other=# records} of the probe not acknowledged"),
    # -- all of them
    "roll/done": f"{_BROKERS} restarted",
    "roll/restarted": "Restarted: {count:one=broker|other=brokers} {brokers}",
    "roll/failed": "Failed: {count:one=broker|other=brokers} {brokers}",
    "roll/left": "Not restarted: {count:one=broker|other=brokers} {brokers}",
    "roll/none": "no broker was restarted",
    "roll/none-meant": "no broker was to be restarted",
    "roll/none-behind": "no broker is left behind",
    "replicas/so-far": f"{{in_sync}} of {_REPLICAS} in sync",
    "replicas/in-sync": f"{_REPLICAS} in sync",
    "replicas/in-sync-of": f"{_REPLICAS} of {_BROKERS} in sync",
    # -- addresses
    "addresses/serving": "the agents serve at the addresses of the plan",
    "addresses/done": f"{_BROKERS} advertise their host's address",
    "addresses/other": "broker {broker} advertises {host:unknown=nothing}",
    "addresses/put-back": f"{_BROKERS} put back to the address of before",
    # -- connect strings
    "connect/proven": "the new connect string leads to the ensemble of the plan",
    "connect/done": f"{_BROKERS} started with the new connect string",
    "connect/unknown": "which connect string broker {broker} uses is not known",
    "connect/other": "broker {broker} was started with another connect string",
    "connect/put-back": f"{_BROKERS} put back to the connect string of before",
    # -- versions
    "version/pinned": "{protocol}, whatever a broker would speak by itself",
    "version/noted": "the cluster's version is {release}",
    "version/runs": "every broker runs {release}",
    "version/unnamed": f"{_BROKERS} of a release that does not name itself",
    "version/not-reported": "broker {broker} is not reported",
    "version/other": "broker {broker} runs {release:unknown=an unknown version}",
    "version/other-software": "broker {broker} says that it is {software}",
    "version/other-protocol": "broker {broker} speaks {protocol}",
    "protocol/raised": "{protocol} from each broker's next start on",
    "protocol/spoken": "every broker speaks {protocol}",
    "protocol/not-said": "broker {broker} does not say that it speaks {protocol}",
    # -- settings
    "settings/none-while-running": "no key is taken while brokers run",
    "settings/set": "{keys:one=# key|other=# keys} set for all brokers",
    "settings/own-gone": "{settings:one=# own setting|other=# own settings} taken away",
    "settings/no-restart": "no key needs a restart",
    "settings/written": "{keys:one=# key|other=# keys} written",
    "settings/as-planned": (
        "every broker goes by {settings:one=# setting|other=# settings} as planned"
    ),
    "settings/another": "{key} is another",
}
