/** The pages that have no name of somebody's own: where they are, what leads to them. */
import { words } from "@/words";

export interface Place {
  title: string;
  /** `{cluster}` is filled with the open cluster, or the one that was open last. */
  path: string;
  /** After `g`. */
  key?: string;
  staffOnly?: boolean;
}

const { navigation } = words;

export const PLACES: readonly Place[] = [
  { title: navigation.overview, path: "/", key: "h" },
  { title: navigation.alerts, path: "/alerts", key: "a" },
  { title: navigation.operations, path: "/operations", key: "o" },
  { title: navigation.runbooks, path: "/runbooks", key: "r" },
  { title: navigation.settings, path: "/settings", key: "s" },
  { title: navigation.destinations, path: "/destinations" },
  { title: navigation.objectives, path: "/objectives" },
  { title: navigation.tenantUsage, path: "/usage" },
  { title: navigation.audit, path: "/audit" },
  { title: navigation.profile, path: "/profile" },
  { title: navigation.newCluster, path: "/clusters/new" },
  { title: navigation.platform, path: "/platform", staffOnly: true },
  { title: navigation.brokers, path: "/clusters/{cluster}", key: "b" },
  { title: navigation.topics, path: "/clusters/{cluster}/topics", key: "t" },
  { title: navigation.groups, path: "/clusters/{cluster}/groups", key: "c" },
  { title: navigation.analytics, path: "/clusters/{cluster}/analytics", key: "l" },
  { title: navigation.access, path: "/clusters/{cluster}/access", key: "x" },
  { title: navigation.reassign, path: "/clusters/{cluster}/reassign", key: "m" },
  { title: navigation.drift, path: "/clusters/{cluster}/drift" },
  { title: navigation.clusterUsage, path: "/clusters/{cluster}/usage", key: "u" },
];

export const isInCluster = ({ path }: Place): boolean => path.includes("{cluster}");

/** The places that somebody can go to now, with their addresses. */
export function placesFor(cluster: string | undefined, isStaff: boolean): (Place & { href: string })[] {
  return PLACES.filter((place) => (!place.staffOnly || isStaff) && (cluster !== undefined || !isInCluster(place))).map(
    (place) => ({ ...place, href: place.path.replace("{cluster}", encodeURIComponent(cluster ?? "")) }),
  );
}
