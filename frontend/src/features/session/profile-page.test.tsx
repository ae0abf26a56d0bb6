import { screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { fill, heading, openPage, press } from "@/testing/app";
import { session, SIGNED_OUT } from "@/testing/samples";
import { Refusal } from "@/testing/server";

const typed = (again = "a long new phrase") => {
  fill("Present password", "the old one");
  fill("New password", "a long new phrase");
  fill("New password again", again);
};
const button = () => screen.getByRole("button", { name: "Change password" }) as HTMLButtonElement;

describe("the profile", () => {
  it("changes the password and says what ended", async () => {
    const { asked } = await openPage("/profile", {
      "POST /console/api/password": session({ csrf_token: "token-2" }),
    });
    typed();
    press("Change password");
    expect(await screen.findByText(/Your other sessions have ended/)).toBeTruthy();
    expect(asked.find((one) => one.method === "POST")?.body).toEqual({
      old_password: "the old one",
      new_password: "a long new phrase",
    });
    expect((screen.getByLabelText("Present password") as HTMLInputElement).value).toBe("");
  });

  it("is not sent while the two differ", async () => {
    await openPage("/profile");
    expect(button().disabled).toBe(true);
    typed("something else");
    expect(screen.getByText("It differs from the one above.")).toBeTruthy();
    expect(button().disabled).toBe(true);
  });

  it("says why it is refused, and keeps what was typed", async () => {
    await openPage("/profile", {
      "POST /console/api/password": new Refusal(422, "Some fields are not valid", "This is not your password."),
    });
    typed();
    press("Change password");
    expect((await screen.findByRole("alert")).textContent).toContain("This is not your password.");
    expect((screen.getByLabelText("New password") as HTMLInputElement).value).toBe("a long new phrase");
  });
});

describe("a one-time link", () => {
  const into = {
    leads_to: "tenant",
    tenant: "Acme",
    role: "operator",
    username: null,
    expires_at: "2026-12-01T10:00:00Z",
  };
  const open = (found: unknown, who = SIGNED_OUT, path = "/invitation#psi_a_b", more = {}) =>
    openPage(path, {
      "GET /console/api/session": who,
      "POST /console/api/invitation": found,
      "POST /console/api/invitation/acceptance": session(),
      ...more,
    });
  const accepted = (asked: { url: string; body: unknown }[]) =>
    asked.find((one) => one.url.endsWith("/acceptance"))?.body;

  it("makes a login that joins a tenant", async () => {
    const { asked } = await open(into);
    await waitFor(() => expect(heading()).toBe("Join Acme"));
    fill("User name", "new");
    fill("Password", "a long new phrase");
    press("Join");
    await waitFor(() => expect(heading()).toBe("Overview"));
    expect(accepted(asked)).toEqual({ token: "psi_a_b", username: "new", password: "a long new phrase" });
  });

  it("lets who is signed in join as themselves", async () => {
    const { asked } = await open(into, session());
    expect(await screen.findByText(/You join as ada/)).toBeTruthy();
    expect(screen.queryByLabelText("Password")).toBeNull();
    press("Join");
    await waitFor(() => expect(accepted(asked)).toEqual({ token: "psi_a_b", username: "", password: "" }));
  });

  it("sets the password that it is for", async () => {
    const { asked } = await open({ ...into, leads_to: "password", tenant: null, role: null, username: "ada" });
    await waitFor(() => expect(heading()).toBe("Choose a password"));
    fill("Password", "a long new phrase");
    press("Set the password");
    await waitFor(() =>
      expect(accepted(asked)).toEqual({ token: "psi_a_b", username: "", password: "a long new phrase" }),
    );
  });

  it("says that it is over", async () => {
    await open(new Refusal(410, "No longer available", "Its time is over: ask for another one."));
    expect((await screen.findByRole("alert")).textContent).toContain("ask for another one");
  });

  it("says that it is not whole, and asks nobody", async () => {
    const { asked } = await open(into, SIGNED_OUT, "/invitation");
    expect(await screen.findByText("The link is not whole")).toBeTruthy();
    expect(asked.filter((one) => one.method === "POST")).toEqual([]);
  });

  it("says why it is refused, and keeps what was typed", async () => {
    await open(into, SIGNED_OUT, "/invitation#psi_a_b", {
      "POST /console/api/invitation/acceptance": new Refusal(422, "Not valid", "This user name is taken."),
    });
    await waitFor(() => expect(heading()).toBe("Join Acme"));
    fill("User name", "ada");
    fill("Password", "a long new phrase");
    press("Join");
    expect((await screen.findByRole("alert")).textContent).toContain("This user name is taken.");
    expect((screen.getByLabelText("User name") as HTMLInputElement).value).toBe("ada");
  });
});
