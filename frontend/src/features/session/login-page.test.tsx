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
        parts: { operations: { status: "ok", as_of: null, reason: null, data: [] } },
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

  it("says so when the server cannot be asked who is there", async () => {
    await open("/login", {
      "GET /console/api/session": new Refusal(503, "A part that is needed is away", "The database is busy."),
    });
    expect((await screen.findByRole("alert")).textContent).toContain("The database is busy.");
    expect(screen.getByRole("button", { name: "Try again" })).toBeTruthy();
  });
});
