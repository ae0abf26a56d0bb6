import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { lazy, type ReactNode, Suspense, useEffect, useState } from "react";
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

/** They are loaded when the page has what it shows. */
const NOTIFICATIONS_AFTER_MS = 3_000;

function QuietNotifications() {
  const [isQuiet, setQuiet] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setQuiet(true), NOTIFICATIONS_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  return <Suspense>{isQuiet && <Notifications />}</Suspense>;
}

export function Providers({ children }: { children: ReactNode }) {
  return (
    <MantineProvider theme={theme} defaultColorScheme="auto">
      <QueryClientProvider client={queryClient}>
        <QuietNotifications />
        {children}
      </QueryClientProvider>
    </MantineProvider>
  );
}
