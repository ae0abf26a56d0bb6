/** What the person who is signed in has opened last, in the tenant that they act for. */
import { useEffect } from "react";
import { namedHref } from "./hrefs";
import { addRecent } from "./recent";
import { useSession } from "./session";
import { useCluster } from "./use-clusters";

/** Whose rows these are; null while nobody is known to be signed in. */
export function useRecentKey(): string | null {
  const { data: session } = useSession();
  const [user, tenant] = [session?.user?.username, session?.tenant?.slug];
  return user && tenant ? `${encodeURIComponent(user)}.${encodeURIComponent(tenant)}` : null;
}

/** Notes that the person looks at it, once it is known to be there. */
export function useVisited(kind: "topic" | "group", clusterId: string, name: string, isThere: boolean): void {
  const key = useRecentKey();
  const note = useCluster(clusterId)?.name ?? "";
  useEffect(() => {
    if (key !== null && isThere) addRecent(key, { href: namedHref(kind, clusterId, name), title: name, note });
  }, [key, kind, clusterId, name, note, isThere]);
}
