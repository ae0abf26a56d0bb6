/** What the person who is signed in has looked at last, in the tenant that they act for. */
import { useEffect, useMemo } from "react";
import { addRecent, type Recent, readRecent } from "./recent";
import { useSession } from "./session";

/** Whose rows these are; null while nobody is known to be signed in. */
function useKey(): string | null {
  const { data: session } = useSession();
  const [user, tenant] = [session?.user?.username, session?.tenant?.slug];
  return user && tenant ? `${encodeURIComponent(user)}.${encodeURIComponent(tenant)}` : null;
}

/** Notes that the person looks at it, once it is known to be there. */
export function useVisited(kind: Recent["kind"], clusterId: string, name: string, isThere: boolean): void {
  const key = useKey();
  useEffect(() => {
    if (key !== null && isThere) addRecent(key, { kind, clusterId, name });
  }, [key, kind, clusterId, name, isThere]);
}

/** What was looked at last, newest first, as it was when the asking component was mounted. */
export function useRecent(): Recent[] {
  const key = useKey();
  return useMemo(() => (key === null ? [] : readRecent(key)), [key]);
}
