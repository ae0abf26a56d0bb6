"""How often hosts fail, by others' published figures; each with where it stands.

Dean 2008: "In each cluster's first year, it's typical that 1,000 individual machine failures will
  occur; […] 20 racks will fail, each time causing 40 to 80 machines to vanish" — of clusters of
  1,800 servers, 40 in a rack; racks are back after 1 to 6 hours. J. Dean, Google I/O 2008, as
  reported by R. Miller, "Failure Rates in Google Data Centers", Data Center Knowledge, 30 May 2008;
  the hours are from his slides "Handling Large Datasets at Google", slide 8.
Backblaze 2023: of 269,756 data drives 4,189 failed, 1.70 % a year. "Backblaze Drive Stats for
  2023", 13 February 2024.
Hennessy and Patterson, "Computer Architecture", section 6.1: "assume that the time to reboot
  software is 5 minutes and the time to repair hardware is 1 hour".
"""

from typing import Final

YEAR_S: Final = 365 * 86_400.0

MACHINE_FAILURES_PER_YEAR: Final = 1_000 / 1_800
"""Of one machine (Dean 2008); most of them are over with a restart."""
RACK_FAILURES_PER_YEAR: Final = 20 / (1_800 / 40)
"""Of one rack (Dean 2008)."""
RACK_AWAY_S: Final = (3_600.0, 6 * 3_600.0)
"""From, to (Dean 2008)."""
DISK_FAILURES_PER_YEAR: Final = 0.017
"""Of one drive (Backblaze 2023)."""
MACHINE_AWAY_S: Final = 300.0
"""A restart of a machine (Hennessy and Patterson)."""
