/** What analyses wait for, as the server says it. */
import type { Awaited, Readiness } from "@/lib/readiness";

export const awaited = (more: Partial<Awaited> = {}): Awaited => ({
  analysis: "usage",
  unit: "hours",
  needed: 1,
  have: 1,
  state: "ready",
  first_at: null,
  ...more,
});

/** A cluster that has been watched for long enough for everything. */
export const readiness = (more: Partial<Readiness> = {}): Readiness => ({
  cluster_id: "c1",
  cluster: "main",
  observed_since: "2026-11-01T10:00:00Z",
  interval_s: 10,
  hours: 168,
  days: 20,
  data: [awaited(), awaited({ analysis: "disk-forecast", unit: "days", needed: 3, have: 3 })],
  ...more,
});
