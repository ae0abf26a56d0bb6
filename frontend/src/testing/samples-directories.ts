/** The log directories of a broker, and the disks of a host. */
import type { BrokerDirectories, PlatformHost } from "@/lib/types";

type Row = BrokerDirectories["rows"][number];

export const directory = (more: Partial<Row> = {}): Row => ({
  ...{ name: "main", path: "/srv/c1-2/data", state: "working", error: null, problem: null },
  ...{ total_bytes: 1024 ** 4, usable_bytes: 1024 ** 4 / 4, replicas: 12, arriving: 0, size_bytes: 4096 },
  ...{ can_be_emptied: true, can_be_removed: false },
  ...more,
});

export const failedDirectory = (more: Partial<Row> = {}): Row =>
  directory({
    ...{ name: "fast", path: "/mnt/fast/c1-2/data", state: "failed", error: "KAFKA_STORAGE_ERROR" },
    ...{ problem: "<b>It cannot be read.</b>", total_bytes: null, usable_bytes: null },
    ...{ replicas: null, size_bytes: null, can_be_removed: true },
    ...more,
  });

export const brokerDirectories = (more: Partial<BrokerDirectories> = {}): BrokerDirectories => ({
  rows: [directory()],
  ...{ further: [], further_unknown: null, lost_replicas: 0, only_here: 0, managed: true },
  ...more,
});

export const hostDirectory = (
  more: Partial<PlatformHost["capacity"]["directories"][number]> = {},
): PlatformHost["capacity"]["directories"][number] => ({
  ...{ name: "main", path: "/srv/penstock", volume: "8:1", problem: null },
  ...{ total_bytes: 1024 ** 4, free_bytes: 1024 ** 4 / 4 },
  ...more,
});
