import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { lazy, type ReactNode, Suspense } from "react";
import { ApiError } from "@/lib/problem";
import { theme } from "./theme";

// Nothing is notified before somebody has done something; what is shown earlier waits in the store for it.
const Notifications = lazy(() => import("./notifications"));

/** A client error repeats itself; only a lost or failing server is asked again, twice. */
const retry = (count: number, error: unknown) =>
  count < 2 && !(error instanceof ApiError && error.status >= 400 && error.status < 500);

export const queryClient = new QueryClient({
  defaultOptions: { queries: { retry, staleTime: 2_000, refetchOnWindowFocus: true } },
});

export function Providers({ children }: { children: ReactNode }) {
  return (
    <MantineProvider theme={theme} defaultColorScheme="auto">
      <QueryClientProvider client={queryClient}>
        <Suspense>
          <Notifications />
        </Suspense>
        {children}
      </QueryClientProvider>
    </MantineProvider>
  );
}
