/** Answers about throughput, as the server gives them; without anything: nothing is measured yet. */
import type { Consumption } from "@/lib/consumption";
import type { Offsets } from "@/lib/offsets";
import type { Sparklines, Throughput, ThroughputSeries } from "@/lib/throughput";

export const throughput = (more: Partial<Throughput> = {}): Throughput => ({
  of: "cluster",
  range: "1h",
  source: "samples",
  as_of: null,
  stale_after: null,
  from: null,
  to: null,
  step_s: 30,
  complete: true,
  reason: null,
  ts_ms: [],
  series: [],
  ...more,
});

const nothing = (values: (number | null)[]) => values.map(() => null);

export const offsets = (more: Partial<Offsets> = {}): Offsets => ({
  of: "topic",
  range: "24h",
  source: "hours",
  as_of: null,
  stale_after: null,
  from: null,
  to: null,
  step_s: 3600,
  reason: null,
  ts_ms: [],
  start_offset: [],
  end_offset: [],
  bytes: [],
  ...more,
});

/** One of its series; what is read is not known unless it is said. */
export const lineOf = (written: (number | null)[], more: Partial<ThroughputSeries> = {}): ThroughputSeries => ({
  broker: null,
  topic: null,
  group: null,
  partition: null,
  records_in_per_s: written,
  bytes_in_per_s: written.map((value) => (value === null ? null : value * 1024)),
  records_out_per_s: nothing(written),
  bytes_out_per_s: nothing(written),
  known: written.map((value) => (value === null ? 0 : 1)),
  ...more,
});

export const sparklines = (more: Partial<Sparklines> = {}): Sparklines => ({
  of: "topic",
  as_of: null,
  stale_after: null,
  step_s: 120,
  ts_ms: [],
  rows: [],
  ...more,
});

/** What groups read of partitions. */
export const consumption = (more: Partial<Consumption> = {}): Consumption => ({
  as_of: null,
  stale_after: null,
  step_s: 120,
  complete: true,
  reason: null,
  ts_ms: [],
  rows: [],
  ...more,
});
