import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { openPage, press, rowsOf } from "@/testing/app";
import { describeListStates } from "@/testing/list-states";
import { listed, session } from "@/testing/samples";
import { alertRule, delivery, destination } from "@/testing/samples-alerts";
import { type Answers, Refusal } from "@/testing/server";

const ROWS = [
  destination(),
  destination({
    id: "de_2",
    name: "chat",
    kind: "slack",
    config: { url: null, ca_pem: null, to: [] },
    failures: 3,
    last_failed_at: "2026-11-21T10:05:00Z",
  }),
  destination({
    id: "de_3",
    name: "new",
    kind: "email",
    config: { url: null, ca_pem: null, to: ["ops@example.com"] },
    last_sent_at: null,
  }),
];
const open = (search = "", more: Answers = {}) =>
  openPage(`/destinations${search}`, {
    "GET /api/v1/destinations": listed(ROWS),
    "GET /api/v1/deliveries": listed([
      delivery(),
      delivery({ id: "dl_2", state: "sent", error_code: "", error_text: "", status: 200, attempts: 1 }),
    ]),
    "GET /api/v1/alert-rules": { data: [alertRule()] },
    ...more,
  });
const written = (asked: { method: string; url: string; body: unknown }[]) =>
  asked.filter((one) => one.method !== "GET").map((one) => [one.method, one.url, one.body]);
const dialog = async () => within(await screen.findByRole("dialog"));
const choose = async (of: string, item: string) => {
  press(`Actions for ${of}`);
  fireEvent.click(await screen.findByRole("menuitem", { name: item }));
};

describeListStates({
  path: "/destinations",
  url: "GET /api/v1/destinations",
  answer: listed([destination({ name: "the only one" })]),
  shows: "the only one",
});
describeListStates({
  path: "/destinations?tab=deliveries",
  url: "GET /api/v1/deliveries",
  answer: listed([delivery()]),
  shows: "orders: group readers loses unread records of sales.",
  more: { "GET /api/v1/destinations": listed([]) },
});

describe("destinations", () => {
  it("say where they go, whether they work, and that some were never used", async () => {
    await open();
    const rows = await rowsOf("Destinations");
    expect(rows.map((row) => [row[0], row[2]])).toEqual([
      ["chatSlack", "its address is a secret"],
      ["newE-mail", "ops@example.com"],
      ["on callWebhook", "https://hooks.example.com/penstock"],
    ]);
    expect(rows[0]?.[4]).toContain("Failing3 failed attempts");
    expect(rows[1]?.[4]).toBe("Not used yet");
    expect(rows[2]?.[4]).toContain("Works");
  });

  it("are made with their secret, which is typed as one", async () => {
    const { asked } = await open("", { "POST /api/v1/destinations": destination({ name: "pager" }) });
    await rowsOf("Destinations");
    press("New destination");
    const form = await dialog();
    fireEvent.click(form.getByRole("combobox", { name: "Kind" }));
    fireEvent.click(await screen.findByRole("option", { name: "PagerDuty" }));
    fireEvent.change(form.getByLabelText("Name"), { target: { value: "pager" } });
    const save = form.getByRole("button", { name: "Make it" });
    expect(save.hasAttribute("disabled")).toBe(true);
    const key = form.getByLabelText("Routing key");
    expect(key.getAttribute("type")).toBe("password");
    fireEvent.change(key, { target: { value: "R0123" } });
    fireEvent.click(save);
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    expect(written(asked)).toEqual([
      [
        "POST",
        "/api/v1/destinations",
        {
          name: "pager",
          kind: "pagerduty",
          enabled: true,
          min_severity: "warning",
          rules: [],
          clusters: [],
          send_resolved: true,
          config: {},
          secrets: { routing_key: "R0123" },
        },
      ],
    ]);
  });

  it("keep address and secret when something else is changed", async () => {
    const { asked } = await open("", { "PUT /api/v1/destinations/de_1": destination() });
    await rowsOf("Destinations");
    await choose("on call", "Change");
    const form = await dialog();
    expect((form.getByLabelText("Signing secret") as HTMLInputElement).value).toBe("");
    expect(form.getByText(/One is kept and shown nowhere; left empty, it stays\./)).toBeTruthy();
    fireEvent.click(form.getByRole("switch", { name: "On" }));
    fireEvent.click(form.getByRole("button", { name: "Save" }));
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    const [sent] = written(asked);
    expect(sent?.[2]).toMatchObject({ enabled: false });
    expect(asked.find((one) => one.method === "PUT")?.ifMatch).toBe('"1"');
    expect(sent?.[2]).not.toHaveProperty("config");
    expect(sent?.[2]).not.toHaveProperty("secrets");
  });

  it("name the field that is refused, and keep what was typed", async () => {
    await open("", {
      "PUT /api/v1/destinations/de_1": new Refusal(422, "It cannot be so", "A field is wrong.", {
        errors: [
          { pointer: "/config/url", detail: "10.0.0.1 is a private address: this service does not send there." },
        ],
      }),
    });
    await rowsOf("Destinations");
    await choose("on call", "Change");
    const form = await dialog();
    fireEvent.change(form.getByLabelText("Address"), { target: { value: "https://10.0.0.1/" } });
    fireEvent.click(form.getByRole("button", { name: "Save" }));
    expect(await form.findByText(/10\.0\.0\.1 is a private address/)).toBeTruthy();
    expect((form.getByLabelText("Address") as HTMLInputElement).value).toBe("https://10.0.0.1/");
  });

  it.each([
    [
      { delivered: true, code: "delivered", text: "", status: 204, took_ms: 35 },
      ["The test event was delivered", "delivered, HTTP 204, after 35ms"],
    ],
    [
      { delivered: false, code: "no-answer", text: "Nobody listens there.", status: null, took_ms: 10_000 },
      ["The test event was not delivered", "no-answer, no HTTP answer, after 10s"],
    ],
  ])("are tested: %j", async (answer, [title, text]) => {
    const { asked } = await open("", { "POST /api/v1/destinations/de_1/test": answer });
    await rowsOf("Destinations");
    await choose("on call", "Test");
    const form = await dialog();
    expect(await form.findByText(title ?? "")).toBeTruthy();
    expect(form.getByText(title ?? "").parentElement?.textContent).toContain(text);
    expect(written(asked)).toHaveLength(1);
  });

  it("are only looked at by viewers", async () => {
    await open("", { "GET /console/api/session": session({ can_write_tenant: false }) });
    await rowsOf("Destinations");
    expect(screen.queryByRole("button", { name: "New destination" })).toBeNull();
    press("Actions for on call");
    await screen.findByRole("menuitem", { name: "Deliveries" });
    expect(screen.queryByRole("menuitem", { name: "Test" })).toBeNull();
  });
});

describe("deliveries", () => {
  it("show attempts and what came of them; dead letters are sent again", async () => {
    const { asked } = await open("?tab=deliveries&state=dead&destination=de_1", {
      "POST /api/v1/deliveries/dl_1/resend": delivery({ state: "pending" }),
    });
    const rows = await rowsOf("Deliveries");
    expect(rows.map((row) => [row[0], row[4], row[5]])).toEqual([
      ["Dead letter", "16", "It answered 404. (HTTP 404)"],
      ["Sent", "1", expect.stringContaining("taken")],
    ]);
    expect(asked.map((one) => one.url)).toContain("/api/v1/deliveries?page_size=200&state=dead&destination_id=de_1");
    press("Send dl_1 again");
    expect(await screen.findByText("It is sent again.")).toBeTruthy();
    expect(screen.queryByRole("button", { name: "Send dl_2 again" })).toBeNull();
  });

  it("say why one is not sent again", async () => {
    await open("?tab=deliveries", {
      "POST /api/v1/deliveries/dl_1/resend": new Refusal(
        409,
        "It cannot be done now",
        "The receiver knows what came after it.",
      ),
    });
    await rowsOf("Deliveries");
    press("Send dl_1 again");
    expect(await screen.findByText("The receiver knows what came after it.")).toBeTruthy();
  });
});
