/** What hosts are asked for by somebody who looks, never by itself: pages of it, the newest look first. */
import { type InfiniteData, type QueryKey, useInfiniteQuery, useQueryClient } from "@tanstack/react-query";

interface Paged {
  page: { next: string | null };
}

interface Look<Page extends Paged> {
  queryKey: QueryKey;
  /** Asks for the page at `cursor`; undefined: for the newest. */
  read: (cursor: string | undefined, signal: AbortSignal) => Promise<Page>;
  /** How many looks back are kept; without it, as many as there are. */
  most?: number;
}

/** `again` looks at the newest anew and forgets what was before. */
export function useLooks<Page extends Paged>({ queryKey, read, most = Infinity }: Look<Page>) {
  const client = useQueryClient();
  const query = useInfiniteQuery({
    queryKey,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ signal, pageParam }) => read(pageParam, signal),
    getNextPageParam: (last, pages) => (pages.length >= most ? undefined : (last.page.next ?? undefined)),
    // Each look takes the hosts' time: they are asked when somebody says so.
    retry: false,
    staleTime: Infinity,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  const again = () => {
    client.setQueryData<InfiniteData<Page, string | undefined>>(
      queryKey,
      (old) => old && { pages: old.pages.slice(0, 1), pageParams: old.pageParams.slice(0, 1) },
    );
    void query.refetch();
  };
  return { query, again };
}
