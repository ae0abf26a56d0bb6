/** A broker's log as its host's agent reads it: asked for by somebody who looks, never by itself. */
import type { components } from "@/generated/api";
import { api } from "./api-client";
import { useLooks } from "./looks";
import type { LOG_LEVELS } from "./search";

export type LogPage = components["schemas"]["BrokerLogPage"];
export type LogLine = LogPage["data"][number];
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Lines that one look brings at most, and how many looks back a page keeps. */
export const LINES_A_LOOK = 200;
export const LOOKS_MAX = 20;

/** The newest look first. `again` looks at the end anew and forgets what was before. */
export const useBrokerLog = (clusterId: string, broker: number, level: LogLevel | undefined) =>
  useLooks<LogPage>({
    queryKey: ["broker-log", clusterId, broker, level],
    read: (cursor, signal) =>
      api.get("/api/v1/clusters/{cluster_id}/brokers/{broker_id}/log", {
        blanks: { cluster_id: clusterId, broker_id: String(broker) },
        query: { level, cursor, page_size: LINES_A_LOOK },
        signal,
      }),
    most: LOOKS_MAX,
  });

/** All lines that were looked at, in their order in the log. */
export const linesOf = (pages: LogPage[]): LogLine[] => [...pages].reverse().flatMap((page) => page.data);
