/** Where alerts are sent, and what was and will be sent there. */
import { useQuery } from "@tanstack/react-query";
import type { AnswerOf, BodyOf, QueryOf } from "./addresses";
import { words } from "@/words/destinations";
import { api } from "./api-client";
import { REFRESH_MS } from "./page";
import { isRefusal } from "./problem";
import type { Destination, DestinationKind, DestinationTest } from "./types";

type Asked = QueryOf<"/api/v1/deliveries">;
type Made = BodyOf<"/api/v1/destinations">;
type Changed = BodyOf<"/api/v1/destinations/{destination_id}", "put">;

/** Where an owner's destinations are: a tenant's, or the operators', which are told of hosts. */
export interface Doors {
  /** What the owner's lists are kept under, and what their rules are about. */
  owner: "tenant" | "operators";
  list: (signal: AbortSignal) => Promise<AnswerOf<"get", "/api/v1/destinations">>;
  deliveries: (asked: Asked, signal: AbortSignal) => Promise<AnswerOf<"get", "/api/v1/deliveries">>;
  make: (body: Made) => Promise<Destination>;
  change: (row: Destination, body: Changed) => Promise<Destination>;
  remove: (row: Destination) => Promise<unknown>;
  test: (id: string) => Promise<DestinationTest>;
  resend: (deliveryId: string) => Promise<unknown>;
}

export const TENANT: Doors = {
  owner: "tenant",
  list: (signal) => api.get("/api/v1/destinations", { query: { page_size: 500 }, signal }),
  deliveries: (asked, signal) => api.get("/api/v1/deliveries", { query: { page_size: 200, ...asked }, signal }),
  make: (body) => api.post("/api/v1/destinations", { body }),
  change: (row, body) =>
    api.put("/api/v1/destinations/{destination_id}", { blanks: { destination_id: row.id }, body, ifMatch: row.etag }),
  remove: (row) =>
    api.delete("/api/v1/destinations/{destination_id}", { blanks: { destination_id: row.id }, ifMatch: row.etag }),
  test: (id) => api.post("/api/v1/destinations/{destination_id}/test", { blanks: { destination_id: id } }),
  resend: (id) => api.post("/api/v1/deliveries/{delivery_id}/resend", { blanks: { delivery_id: id } }),
};

export const OPERATORS: Doors = {
  owner: "operators",
  list: (signal) => api.get("/api/v1/operator/destinations", { query: { page_size: 500 }, signal }),
  deliveries: (asked, signal) =>
    api.get("/api/v1/operator/deliveries", { query: { page_size: 200, ...asked }, signal }),
  make: (body) => api.post("/api/v1/operator/destinations", { body }),
  change: (row, body) =>
    api.put("/api/v1/operator/destinations/{platform_destination_id}", {
      blanks: { platform_destination_id: row.id },
      body,
      ifMatch: row.etag,
    }),
  remove: (row) =>
    api.delete("/api/v1/operator/destinations/{platform_destination_id}", {
      blanks: { platform_destination_id: row.id },
      ifMatch: row.etag,
    }),
  test: (id) =>
    api.post("/api/v1/operator/destinations/{platform_destination_id}/test", {
      blanks: { platform_destination_id: id },
    }),
  resend: (id) =>
    api.post("/api/v1/operator/deliveries/{platform_delivery_id}/resend", { blanks: { platform_delivery_id: id } }),
};

export const useDestinations = (doors: Doors = TENANT) =>
  useQuery({
    queryKey: ["page", "destinations", doors.owner],
    queryFn: ({ signal }) => doors.list(signal),
    refetchInterval: ({ state }) => (isRefusal(state) ? false : REFRESH_MS),
  });

export const useDeliveries = (asked: Asked, doors: Doors = TENANT) =>
  useQuery({
    queryKey: ["page", "deliveries", doors.owner, asked],
    queryFn: ({ signal }) => doors.deliveries(asked, signal),
    refetchInterval: ({ state }) => (isRefusal(state) ? false : REFRESH_MS),
  });

/** What a kind takes. Its words are `destinationWords`. Of a secret only its name and whether it is needed are known here. */
interface Kind {
  /** The address that is shown; `optional` where there is one that it goes to else. */
  url?: { optional?: boolean };
  /** Whether authorities may be named that are trusted besides. */
  ca: boolean;
  to: boolean;
  secret?: { name: "signing_secret" | "url" | "routing_key" | "authorization"; optional?: boolean };
}

export const KINDS: Record<DestinationKind, Kind> = {
  webhook: { url: {}, ca: true, to: false, secret: { name: "signing_secret" } },
  email: { ca: false, to: true },
  slack: { ca: true, to: false, secret: { name: "url" } },
  pagerduty: { url: { optional: true }, ca: true, to: false, secret: { name: "routing_key" } },
  alertmanager: { url: {}, ca: true, to: false, secret: { name: "authorization", optional: true } },
};

interface KindWords {
  label: string;
  url?: { label: string; placeholder: string };
  secret?: { label: string; hint: string };
}
/** A kind without words does not pass the type check. */
export const destinationWords: Record<DestinationKind, KindWords> = words.kinds;

/** Where it goes, as far as that is shown. */
export function addressOf({ kind, config }: Pick<Destination, "kind" | "config">): string {
  if (config.to.length > 0) return config.to.join(", ");
  if (config.url) return config.url;
  return kind === "slack" ? words.addressIsSecret : (destinationWords[kind].url?.placeholder ?? "–");
}
