/** Where alerts are sent, and what was and will be sent there. */
import { useQuery } from "@tanstack/react-query";
import type { QueryOf } from "./addresses";
import { words } from "@/words/destinations";
import { api } from "./api-client";
import { REFRESH_MS } from "./page";
import { isRefusal } from "./problem";
import type { Destination, DestinationKind } from "./types";

export const useDestinations = () =>
  useQuery({
    queryKey: ["page", "destinations"],
    queryFn: ({ signal }) => api.get("/api/v1/destinations", { query: { page_size: 500 }, signal }),
    refetchInterval: ({ state }) => (isRefusal(state) ? false : REFRESH_MS),
  });

export const useDeliveries = (asked: QueryOf<"/api/v1/deliveries">) =>
  useQuery({
    queryKey: ["page", "deliveries", asked],
    queryFn: ({ signal }) => api.get("/api/v1/deliveries", { query: { page_size: 200, ...asked }, signal }),
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
