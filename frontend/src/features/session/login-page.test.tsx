import { screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { fill, heading, openPage, press } from "@/testing/app";
import { SIGNED_OUT, session } from "@/testing/samples";
import { type Answers, Refusal } from "@/testing/server";

const open = (path: string, more: Answers = {}) => openPage(path, { "GET /console/api/session": SIGNED_OUT, ...more });

function signIn() {
  fill("User name", "ada");
  fill("Password", "secret");
  press("Sign in");
}

describe("signing in", () => {
  it("is asked for by every page, and leads back to it", async () => {
    let session_ = SIGNED_OUT;
    const { asked, router } = await open("/operations?q=sales", {
      "GET /console/api/session": () => session_,
      "POST /console/api/login": () => (session_ = session()),
      "GET /console/api/pages/operations": {
        parts: {
          operations: { status: "ok", as_of: null, reason: null, data: [] },
          page: { status: "ok", as_of: null, reason: null, data: { next: null, has_more: false } },
        },
      },
    });
    expect(heading()).toBe("Sign in to Penstock");
    expect(router.state.location.search).toEqual({ next: "/operations?q=sales" });
    await waitFor(() =>
      expect((screen.getByRole("button", { name: "Sign in" }) as HTMLButtonElement).disabled).toBe(false),
    );
    signIn();
    await waitFor(() => expect(heading()).toBe("Operations"));
    expect(router.state.location.href).toBe("/operations?q=sales");
    expect(asked.find((one) => one.method === "POST")?.body).toEqual({ username: "ada", password: "secret" });
  });

  it("says why it is refused, and keeps what was typed", async () => {
    await open("/login", {
      "POST /console/api/login": new Refusal(401, "User name or password is wrong", "Check both and try again."),
    });
    await waitFor(() =>
      expect((screen.getByRole("button", { name: "Sign in" }) as HTMLButtonElement).disabled).toBe(false),
    );
    signIn();
    expect((await screen.findByRole("alert")).textContent).toContain("User name or password is wrong");
    expect((screen.getByLabelText("User name") as HTMLInputElement).value).toBe("ada");
  });

  const withProvider = (passwords: boolean) => ({
    "GET /console/api/session": { ...SIGNED_OUT, sign_in: { passwords, provider: "Example" } },
  });

  it("offers no provider when there is none", async () => {
    await open("/login");
    expect(screen.queryByRole("link", { name: /Sign in with/ })).toBeNull();
  });

  it("leads to the provider and back to the page", async () => {
    await open("/login?next=%2Foperations%3Fq%3Dx", withProvider(true));
    const link = await screen.findByRole("link", { name: "Sign in with Example" });
    expect(link.getAttribute("href")).toBe("/console/oidc/login?next=%2Foperations%3Fq%3Dx");
    expect(screen.getByLabelText("Password")).toBeTruthy();
  });

  it("asks for no password where they are switched off", async () => {
    await open("/login", withProvider(false));
    await screen.findByRole("link", { name: "Sign in with Example" });
    expect(screen.queryByLabelText("Password")).toBeNull();
    expect(screen.queryByRole("button", { name: "Sign in" })).toBeNull();
  });

  it.each([
    ["away", "The provider cannot be reached"],
    ["not-valid", "The sign-in could not be checked"],
    ["not-allowed", "You have no access here"],
  ])("says why the provider opened no session: %s", async (word, title) => {
    await open(`/login?failed=${word}`, withProvider(true));
    expect((await screen.findByRole("alert")).textContent).toContain(title);
  });

  it("shows no words that a link brings along", async () => {
    await open("/login?failed=%3Cb%3Eyour%20account%20is%20locked", withProvider(true));
    await screen.findByRole("link", { name: "Sign in with Example" });
    expect(screen.queryByRole("alert")).toBeNull();
  });

  it("says so when the server cannot be asked who is there", async () => {
    await open("/login", {
      "GET /console/api/session": new Refusal(503, "Temporarily unavailable", "The database is busy."),
    });
    expect((await screen.findByRole("alert")).textContent).toContain("The database is busy.");
    expect(screen.getByRole("button", { name: "Try again" })).toBeTruthy();
  });
});
