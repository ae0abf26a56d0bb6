import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { openPage, press, rowsOf } from "@/testing/app";
import { describeListStates } from "@/testing/list-states";
import { listed, session } from "@/testing/samples";
import { delivery, destination } from "@/testing/samples-alerts";
import type { Answers } from "@/testing/server";

const API = "/api/v1/operator";
const PATH = "/platform?tab=notifications";
const COMMON: Answers = {
  // Operators write theirs whatever they may in the tenant that is shown.
  "GET /console/api/session": session({
    user: { username: "root", email: "", is_staff: true },
    can_write_tenant: false,
  }),
  [`GET ${API}/destinations`]: listed([destination({ name: "hosts on call" })]),
  [`GET ${API}/deliveries`]: listed([
    delivery({ rule: "host-silent", summary: "host-1: its agent is not heard.", alert_id: "al_h1" }),
  ]),
};
const open = (more: Answers = {}) => openPage(PATH, { ...COMMON, ...more });
const written = (asked: { method: string; url: string; body: unknown }[]) =>
  asked.filter((one) => one.method !== "GET").map((one) => [one.method, one.url, one.body]);
const dialog = async () => within(await screen.findByRole("dialog"));
const choose = async (item: string) => {
  press("Actions for hosts on call");
  fireEvent.click(await screen.findByRole("menuitem", { name: item }));
};

describeListStates({
  path: PATH,
  url: `GET ${API}/destinations`,
  answer: COMMON[`GET ${API}/destinations`],
  shows: "hosts on call",
  more: COMMON,
});

describe("operators' notifications", () => {
  it("are the operators' own: no tenant's destination is asked for", async () => {
    const { asked } = await open();
    expect((await rowsOf("Destinations")).length).toBe(1);
    expect((await rowsOf("Deliveries")).length).toBe(1);
    expect(asked.filter((one) => /\/api\/v1\/(destinations|deliveries|alert-rules)/.test(one.url))).toEqual([]);
    expect(screen.queryByRole("link", { name: "host-1: its agent is not heard." })).toBeNull();
  });

  it("are made with rules about hosts and without clusters", async () => {
    const { asked } = await open({ [`POST ${API}/destinations`]: destination({ name: "night" }) });
    await rowsOf("Destinations");
    press("New destination");
    const form = await dialog();
    expect(form.queryByLabelText("Clusters")).toBeNull();
    fireEvent.change(form.getByLabelText("Name"), { target: { value: "night" } });
    fireEvent.change(form.getByLabelText("Address"), { target: { value: "https://hooks.example.com/h" } });
    fireEvent.change(form.getByLabelText("Signing secret"), { target: { value: "s".repeat(24) } });
    fireEvent.click(form.getByRole("combobox", { name: "Rules" }));
    expect(screen.queryByRole("option", { name: "Broker is not in the cluster" })).toBeNull();
    fireEvent.click(await screen.findByRole("option", { name: "Host is silent" }));
    press("Make it");
    await waitFor(() => expect(written(asked).length).toBe(1));
    expect(written(asked)[0]).toEqual([
      "POST",
      `${API}/destinations`,
      expect.objectContaining({ name: "night", kind: "webhook", rules: ["host-silent"], clusters: [] }),
    ]);
  });

  it("are tested at their own address", async () => {
    const { asked } = await open({
      [`POST ${API}/destinations/de_1/test`]: {
        delivered: true,
        code: "delivered",
        text: "",
        status: 204,
        took_ms: 12,
      },
    });
    await rowsOf("Destinations");
    await choose("Test");
    expect(await screen.findByText("The test event was delivered")).toBeTruthy();
    expect(written(asked).map(([method, url]) => [method, url])).toEqual([["POST", `${API}/destinations/de_1/test`]]);
  });

  it("are deleted at their own address", async () => {
    const { asked } = await open({ [`DELETE ${API}/destinations/de_1`]: null });
    await rowsOf("Destinations");
    await choose("Delete");
    fireEvent.click((await dialog()).getByRole("button", { name: "Delete" }));
    await waitFor(() =>
      expect(written(asked).map(([method, url]) => [method, url])).toEqual([["DELETE", `${API}/destinations/de_1`]]),
    );
  });

  it("shows what was sent to one of them", async () => {
    const { asked } = await open();
    await rowsOf("Destinations");
    await choose("Deliveries");
    await waitFor(() => expect(asked.some((one) => one.url.includes("destination_id=de_1"))).toBe(true));
    press("Of all destinations");
    await waitFor(() => expect(screen.queryByText("Of all destinations")).toBeNull());
  });

  it("sends a dead letter again", async () => {
    const { asked } = await open({
      [`GET ${API}/deliveries`]: listed([delivery({ state: "dead" })]),
      [`POST ${API}/deliveries/dl_1/resend`]: delivery({ state: "pending" }),
    });
    await rowsOf("Deliveries");
    press("Send dl_1 again");
    expect(await screen.findByText("It is sent again.")).toBeTruthy();
    expect(written(asked).map(([, url]) => url)).toEqual([`${API}/deliveries/dl_1/resend`]);
  });
});
