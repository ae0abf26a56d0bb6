import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { fill, openPage, press } from "@/testing/app";
import { cluster, plan } from "@/testing/samples";
import { ok, PENDING, Refusal } from "@/testing/server";
import type { Probe } from "@/lib/types";

const PLANS = "POST /api/v1/plans";
const probe = (fields: Partial<Probe>): Probe => ({
  address: "kafka-1.example.com:9094",
  step: "login",
  code: "",
  text: "",
  ...fields,
});
const planned = plan({ kind: "cluster.register", cluster_id: null, confirm_phrase: null } as never);

/** A Select's option, chosen as a person would. */
const choose = (label: string, option: string | RegExp) => {
  fireEvent.click(screen.getByRole("combobox", { name: label }));
  fireEvent.click(screen.getByRole("option", { name: option, hidden: true }));
};
const filledIn = () => {
  fill("Name", "outside");
  fill(/Bootstrap servers/, "kafka-1.example.com:9094, kafka-2.example.com:9094");
  fill("User", "penstock");
  fill("Password", "hunter2");
};
const submit = () => press("Try it and review the plan");

describe("registering a Kafka", () => {
  it("sends the fields of the chosen way in, and no others", async () => {
    const { asked } = await openPage("/clusters/register", { [PLANS]: planned });
    filledIn();
    fill(/Authorities/, "-----BEGIN CERTIFICATE-----\nx");
    submit();
    await waitFor(() =>
      expect(asked.find((one) => one.method === "POST")?.body).toEqual({
        kind: "cluster.register",
        cluster_id: null,
        inputs: {
          name: "outside",
          bootstrap_servers: "kafka-1.example.com:9094,kafka-2.example.com:9094",
          security_protocol: "SASL_SSL",
          sasl_mechanism: "SCRAM-SHA-512",
          username: "penstock",
          password: "hunter2",
          ca_pem: "-----BEGIN CERTIFICATE-----\nx",
        },
      }),
    );
  });

  it("asks for a token endpoint where the mechanism is OAUTHBEARER", async () => {
    const { asked } = await openPage("/clusters/register", { [PLANS]: planned });
    filledIn();
    choose("Mechanism", "OAUTHBEARER");
    expect(screen.queryByLabelText("User")).toBeNull();
    submit();
    expect(await screen.findAllByText("Needed for this login")).toHaveLength(3);
    expect(asked.some((one) => one.method === "POST")).toBe(false);
    fill(/Token endpoint/, "https://id.example.com/token");
    fill("Client id", "me");
    fill("Client secret", "s3cret");
    submit();
    await waitFor(() =>
      expect(asked.find((one) => one.method === "POST")?.body).toMatchObject({
        inputs: { sasl_mechanism: "OAUTHBEARER", oauth_client_secret: "s3cret" },
      }),
    );
    expect(JSON.stringify(asked)).not.toContain("hunter2");
  });

  it("warns of a login that can be overheard", async () => {
    await openPage("/clusters/register");
    choose("Security protocol", /^SASL_PLAINTEXT/);
    expect(screen.queryByText(/can read the credentials/)).toBeNull();
    choose("Mechanism", "PLAIN");
    expect(screen.getByText(/can read the credentials/)).toBeTruthy();
    expect(screen.queryByLabelText(/Authorities/)).toBeNull();
  });

  it("asks for the key of a certificate", async () => {
    await openPage("/clusters/register");
    filledIn();
    expect(screen.queryByLabelText(/Client key/)).toBeNull();
    fill(/Client certificate/, "-----BEGIN CERTIFICATE-----");
    submit();
    expect(await screen.findByText("The certificate's key is needed")).toBeTruthy();
  });

  it.each(["", "kafka", "kafka:port", "a:1,,b:2"])("is not tried at %j", async (address) => {
    const { asked } = await openPage("/clusters/register");
    filledIn();
    fill(/Bootstrap servers/, address);
    submit();
    expect(await screen.findByText("host:port, several divided by commas")).toBeTruthy();
    expect(asked.some((one) => one.method === "POST")).toBe(false);
  });

  it("says at which step each address failed, and keeps what was typed", async () => {
    const probes = [
      probe({ step: "tls", code: "tls-expired", text: "the broker's certificate has expired" }),
      probe({ address: "kafka-2.example.com:9094", step: "login", code: "SASL_AUTHENTICATION_FAILED", text: "no" }),
    ];
    await openPage("/clusters/register", {
      [PLANS]: new Refusal(422, "Some fields are not valid", "It has expired", { code: "probe-failed", probes }),
    });
    filledIn();
    submit();
    const alert = await screen.findByRole("alert");
    expect(alert.textContent).toContain("This way in does not work yet");
    const [, first, why, second] = within(alert).getAllByRole("row") as [
      HTMLElement,
      HTMLElement,
      HTMLElement,
      HTMLElement,
    ];
    const cells = (row: HTMLElement) =>
      within(row)
        .getAllByRole("cell")
        .map((cell) => cell.textContent);
    expect(cells(first)).toEqual([
      "kafka-1.example.com:9094",
      "passed",
      "passed",
      "failed",
      "not reached",
      "not reached",
    ]);
    expect(why.textContent).toContain("tls-expired");
    expect(cells(second)).toEqual(["kafka-2.example.com:9094", "passed", "passed", "passed", "passed", "failed"]);
    expect((screen.getByLabelText("Password") as HTMLInputElement).value).toBe("hunter2");
  });

  it("shows any other refusal as it is", async () => {
    await openPage("/clusters/register", {
      [PLANS]: new Refusal(409, "Conflict", "There is a cluster called outside."),
    });
    filledIn();
    submit();
    expect((await screen.findByRole("alert")).textContent).toContain("There is a cluster called outside.");
  });

  it("is being tried until the answer is there", async () => {
    await openPage("/clusters/register", { [PLANS]: PENDING });
    filledIn();
    submit();
    const button = await screen.findByRole("button", { name: /Try it/ });
    await waitFor(() => expect(button.getAttribute("data-loading")).toBe("true"));
  });

  it("shows in the plan what was tried", async () => {
    const probes = [probe({}), probe({ address: "b:1", step: "connect", code: "connect-refused", text: "refused" })];
    await openPage("/clusters/register", {
      [PLANS]: { ...planned, impact: { ...planned.impact, probes } },
    });
    filledIn();
    submit();
    const table = await screen.findByRole("table", { name: "Addresses tried" });
    expect(table.textContent).toContain("connect-refused");
  });

  it("keeps no secret over a reload", async () => {
    await openPage("/clusters/register");
    filledIn();
    expect(JSON.stringify({ ...sessionStorage })).not.toContain("hunter2");
    cleanup();
    await openPage("/clusters/register");
    expect((screen.getByLabelText("User") as HTMLInputElement).value).toBe("penstock");
    expect((screen.getByLabelText("Password") as HTMLInputElement).value).toBe("");
  });
});

describe("changing the way in", () => {
  const page = (fields: Partial<ReturnType<typeof cluster>>) => ({
    "GET /console/api/pages/cluster/c1": {
      parts: {
        cluster: ok(cluster({ kind: "registered", bootstrap_servers: "old:9092", ...fields })),
        summary: ok(null),
        loads: ok([]),
        reassignments: ok([]),
        client_config: ok({ values: {}, properties: "", python: "" }),
        operations: ok([]),
      },
    },
  });

  it("starts from the address that is kept and takes the whole login again", async () => {
    const { asked } = await openPage("/clusters/c1/credentials", { ...page({}), [PLANS]: planned });
    const address = await screen.findByLabelText<HTMLInputElement>(/Bootstrap servers/);
    expect(address.value).toBe("old:9092");
    submit();
    expect(await screen.findAllByText("Needed for this login")).toHaveLength(2);
    fill("User", "penstock");
    fill("Password", "hunter3");
    submit();
    await waitFor(() =>
      expect(asked.find((one) => one.method === "POST")?.body).toMatchObject({
        kind: "cluster.credentials",
        cluster_id: "c1",
        inputs: { bootstrap_servers: "old:9092", password: "hunter3" },
      }),
    );
  });

  it("is nothing for a cluster that Penstock runs", async () => {
    await openPage("/clusters/c1/credentials", page({ kind: "managed" }));
    expect(await screen.findByText("Penstock keeps this cluster's credentials itself")).toBeTruthy();
  });
});
