/** Where alerts are sent, and what was and will be sent there. */
import { useQuery } from "@tanstack/react-query";
import type { QueryOf } from "./addresses";
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

/** Of a secret only its name and whether it is needed are known here. */
interface KindWords {
  label: string;
  /** The address that is shown; `optional` where there is one that it goes to else. */
  url?: { label: string; placeholder: string; optional?: boolean };
  /** Whether authorities may be named that are trusted besides. */
  ca: boolean;
  to: boolean;
  secret?: {
    name: "signing_secret" | "url" | "routing_key" | "authorization";
    label: string;
    hint: string;
    optional?: boolean;
  };
}

export const KINDS: Record<DestinationKind, KindWords> = {
  webhook: {
    label: "Webhook",
    url: { label: "Address", placeholder: "https://example.com/penstock" },
    ca: true,
    to: false,
    secret: {
      name: "signing_secret",
      label: "Signing secret",
      hint: "Each request is signed with it (HMAC-SHA-256). 24 to 200 characters.",
    },
  },
  email: { label: "E-mail", ca: false, to: true },
  slack: {
    label: "Slack",
    ca: true,
    to: false,
    secret: {
      name: "url",
      label: "Address of the incoming webhook",
      hint: "Also of Mattermost and Rocket.Chat. It lets whoever knows it post, so it is kept as a secret.",
    },
  },
  pagerduty: {
    label: "PagerDuty",
    url: { label: "Address", placeholder: "PagerDuty's own", optional: true },
    ca: true,
    to: false,
    secret: { name: "routing_key", label: "Routing key", hint: "Of an integration of the Events API, version 2." },
  },
  alertmanager: {
    label: "Alertmanager",
    url: { label: "Address", placeholder: "https://alertmanager.example.com" },
    ca: true,
    to: false,
    secret: {
      name: "authorization",
      label: "Authorization header",
      hint: "Its whole value, for example: Bearer …",
      optional: true,
    },
  },
};

/** Where it goes, as far as that is shown. */
export function addressOf({ kind, config }: Pick<Destination, "kind" | "config">): string {
  if (config.to.length > 0) return config.to.join(", ");
  if (config.url) return config.url;
  return kind === "slack" ? "its address is a secret" : (KINDS[kind].url?.placeholder ?? "–");
}
