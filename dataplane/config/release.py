"""Which release of the brokers this is, and which inter-broker protocols it speaks.

An agent reads these lines of every release that is installed on its host, without running it
(`dataplane.agent.versions`): plain texts, one a line. A release without this file sends what the
newest of 3.9 does, whatever its setting.
"""

from typing import Final

VERSION: Final = "0.1.0"
OLDEST_PROTOCOL: Final = "3.2-IV0"
NEWEST_PROTOCOL: Final = "3.9-IV0"
