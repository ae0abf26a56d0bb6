import { act, screen, waitFor } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { setSignedOut } from "@/lib/signed-out";
import { setSignedOutHandler } from "@/lib/api-client";
import { fill, heading, openPage, press } from "@/testing/app";
import { cluster, SIGNED_OUT, session } from "@/testing/samples";
import { type Answers, ok, Refusal } from "@/testing/server";

const PAGE = "GET /console/api/pages/overview";
const page = (name: string) => ({
  parts: { clusters: ok([cluster({ name })]), attention: ok([]), operations: ok([]), hosts: ok([]) },
});

/** A page on which the session ends: what is asked for from then on is answered by `after`. */
async function ended(after: Answers) {
  let answers: Answers = { "GET /console/api/session": session(), [PAGE]: page("before") };
  const late = (name: string) => (asked: unknown) => {
    const found = answers[name];
    return typeof found === "function" ? (found as (asked: unknown) => unknown)(asked) : found;
  };
  const names = ["GET /console/api/session", PAGE, "POST /console/api/login", "POST /console/api/tenant"];
  setSignedOutHandler(() => setSignedOut(true));
  const opened = await openPage("/", Object.fromEntries(names.map((name) => [name, late(name)])));
  expect(await screen.findByRole("link", { name: "before" })).toBeTruthy();
  const gone = new Refusal(401, "You are not signed in");
  answers = { "GET /console/api/session": SIGNED_OUT, [PAGE]: gone, ...after };
  await act(() => opened.client.refetchQueries({ queryKey: ["page"] }));
  expect(await screen.findByRole("dialog", { name: "Sign in again" })).toBeTruthy();
  return { ...opened, answer: (name: string, found: unknown) => (answers = { ...answers, [name]: found }) };
}

afterEach(() => {
  act(() => setSignedOut(false));
  setSignedOutHandler(() => undefined);
  vi.unstubAllGlobals();
});

async function signIn() {
  fill("Password of ada", "secret");
  await waitFor(() =>
    expect((screen.getByRole("button", { name: "Sign in" }) as HTMLButtonElement).disabled).toBe(false),
  );
  press("Sign in");
}

describe("a session that has ended", () => {
  it("is opened again in place, and the page goes on", async () => {
    const { asked, router, answer } = await ended({});
    expect(heading()).toBe("Overview");
    answer("POST /console/api/login", session());
    answer(PAGE, page("after"));
    await signIn();
    expect(await screen.findByRole("link", { name: "after" })).toBeTruthy();
    await waitFor(() => expect(screen.queryByRole("dialog", { name: "Sign in again" })).toBeNull());
    expect(router.state.location.pathname).toBe("/");
    expect(asked.find((one) => one.url === "/console/api/login")?.body).toEqual({
      username: "ada",
      password: "secret",
    });
  });

  it("keeps the login open when it is refused", async () => {
    await ended({ "POST /console/api/login": new Refusal(401, "User name or password is wrong") });
    await signIn();
    expect((await screen.findByRole("alert")).textContent).toContain("User name or password is wrong");
    expect(screen.getByRole("dialog", { name: "Sign in again" })).toBeTruthy();
  });

  it("goes on with the tenant that was chosen", async () => {
    const other = session({ tenant: { id: "tn_2", slug: "rival", name: "Rival", role: "viewer", state: "active" } });
    const { asked, answer } = await ended({ "POST /console/api/login": other });
    answer("POST /console/api/tenant", session());
    answer(PAGE, page("after"));
    await signIn();
    expect(await screen.findByRole("link", { name: "after" })).toBeTruthy();
    expect(asked.find((one) => one.url === "/console/api/tenant")?.body).toEqual({ slug: "acme" });
  });
});
