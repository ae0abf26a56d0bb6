/** The whole console at an address, over a test's server: what a person would see. */
import { MantineProvider } from "@mantine/core";
import { Notifications, notifications } from "@mantine/notifications";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createMemoryHistory, RouterProvider } from "@tanstack/react-router";
import { fireEvent, render, screen, within } from "@testing-library/react";
import { createAppRouter } from "@/app/router";
import { theme } from "@/app/theme";
import { type Answers, ok, serve } from "./server";
import { cluster, listed, session } from "./samples";
import { readiness } from "./samples-readiness";
import { consumption, offsets, sparklines, throughput } from "./samples-throughput";

/** What every test's server answers. */
export const STANDING: Answers = {
  "GET /console/api/session": session(),
  "GET /console/api/pages/overview": {
    parts: { clusters: ok([cluster()]), attention: ok([]), operations: ok([]), hosts: ok([]) },
  },
  // Pages of the cluster c1 show them; a test that is about them gives its own.
  "GET /api/v1/clusters/c1/analytics/throughput": throughput(),
  "GET /api/v1/clusters/c1/analytics/offsets": offsets(),
  "GET /api/v1/clusters/c1/analytics/sparklines": sparklines(),
  "GET /api/v1/clusters/c1/analytics/consumption": consumption(),
  "GET /api/v1/clusters/c1/analytics/readiness": readiness(),
  "GET /api/v1/analytics/readiness": { complete: true, data: [readiness()] },
  // Every chart marks what happened.
  "GET /api/v1/timeline": { ...listed([]), kept_from: "2026-10-17T10:00:00Z" },
  "GET /console/api/favourites": { data: [] },
  // The navigation counts them on every page.
  "GET /api/v1/alerts": listed([]),
};

/** Opens `path` and waits for the page's heading. `crashes`: what broke where a boundary shows an error in its place. */
export async function openPage(path: string, answers: Answers = {}) {
  notifications.clean();
  const asked = serve({ ...STANDING, ...answers });
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const router = createAppRouter(client, createMemoryHistory({ initialEntries: [path] }));
  const crashes: unknown[] = [];
  render(
    <MantineProvider env="test" theme={theme}>
      <QueryClientProvider client={client}>
        <Notifications />
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>,
    {
      onCaughtError: (error, { componentStack }) => {
        crashes.push(error);
        console.error(error, componentStack);
      },
    },
  );
  await screen.findByRole("heading", { level: 1 }, { timeout: 15_000 });
  return { asked, router, client, crashes };
}

export const heading = () => screen.getByRole("heading", { level: 1 }).textContent;
export const press = (name: string | RegExp) => fireEvent.click(screen.getByRole("button", { name }));
/** What a sentence is shown about while the pointer is on it. */
export const hintedBy = (text: string) => {
  const [found] = screen.getAllByText(text).flatMap((element) => element.closest<HTMLElement>(".ps-status") ?? []);
  if (!found) throw new Error(`${text} is no state`);
  return found;
};
export const fill = (label: string | RegExp, value: string) =>
  fireEvent.change(screen.getByLabelText(label), { target: { value } });

/** Finds the innermost element with a text that is drawn by several; `findByText(whole("in 2h"))`. */
export const whole = (text: string | RegExp) => (_: string, element: Element | null) => {
  const says = (one: Element) =>
    typeof text === "string" ? one.textContent.trim() === text : text.test(one.textContent);
  return element !== null && says(element) && ![...element.children].some(says);
};

/** The texts of a table's body, row by row. */
export async function rowsOf(table: string): Promise<string[][]> {
  const body = within(await screen.findByRole("table", { name: table }))
    .getAllByRole("row")
    .slice(1);
  return body.map((row) =>
    within(row)
      .getAllByRole("cell")
      .map((cell) => cell.textContent),
  );
}

/** The key figures of a page by their label. */
export function figure(label: string): string {
  const term = screen.getAllByRole("term").find((found) => found.textContent === label);
  return term?.nextElementSibling?.textContent ?? `there is no figure ${label}`;
}
