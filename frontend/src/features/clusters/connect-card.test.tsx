import { cleanup, fireEvent, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { openPage } from "@/testing/app";
import { cluster } from "@/testing/samples";
import { ok, unavailable } from "@/testing/server";

const PYTHON = 'producer = Producer({"sasl.password": os.environ["KAFKA_PASSWORD"]})';
const KCAT = "echo hello | kcat -b '<script>alert(1)</script>'";
const snippet = (language: string, title: string, text: string, more: object = {}) => ({
  language,
  title,
  file: `produce.${language}`,
  install: `install ${language}`,
  run: `run ${language}`,
  text,
  ...more,
});

const open = (mechanisms = ["SCRAM-SHA-512", "SCRAM-SHA-256"]) =>
  openPage("/clusters/c1", {
    "GET /console/api/pages/cluster/c1": {
      parts: {
        cluster: ok(cluster()),
        summary: unavailable("later"),
        loads: unavailable("later"),
        reassignments: unavailable("later"),
        attention: ok([]),
        events: ok([]),
        operations: ok([]),
        client_config: ok({
          values: {},
          mechanisms,
          properties: "",
          java: "security.protocol=SASL_SSL",
          python: PYTHON,
          ca_pem: null,
          snippets: [
            snippet("python", "Python", PYTHON),
            snippet("librdkafka", "librdkafka", "sasl.password=<password>", { install: "", run: "" }),
            snippet("kcat", "kcat", KCAT),
          ],
        }),
      },
    },
  });

describe("how to connect", () => {
  it("shows a program with what installs and runs it, and where its password comes from", async () => {
    await open();
    expect((await screen.findByLabelText("Python program")).textContent).toBe(PYTHON);
    expect(screen.getByText("install python")).toBeTruthy();
    expect(screen.getByRole("button", { name: "Copy python program" })).toBeTruthy();
    expect(screen.getByRole("button", { name: "Copy command for python" })).toBeTruthy();
    expect(screen.getByText("It takes the password from the environment variable KAFKA_PASSWORD.")).toBeTruthy();
  });

  it("says where a file has a blank for the password", async () => {
    await open();
    fireEvent.click(await screen.findByRole("tab", { name: "librdkafka" }));
    expect((await screen.findByLabelText("Client properties")).textContent).toBe("sasl.password=<password>");
    expect(screen.getByText("Put the password where it says <password>.")).toBeTruthy();
    expect(screen.queryByText("Run it")).toBeNull();
  });

  it("says by which mechanisms clients may log in, and nothing where there is no login", async () => {
    await open();
    const words = "Clients log in by SCRAM-SHA-512, as new users do, or by SCRAM-SHA-256";
    expect(await screen.findByText(words, { exact: false })).toBeTruthy();
    cleanup();
    await open(["PLAIN"]);
    expect(await screen.findByText("Clients log in by PLAIN.", { exact: false })).toBeTruthy();
    cleanup();
    await open([]);
    await screen.findByLabelText("Python program");
    expect(screen.queryByText("Clients log in by", { exact: false })).toBeNull();
  });

  it("shows hostile addresses as text", async () => {
    await open();
    fireEvent.click(await screen.findByRole("tab", { name: "kcat" }));
    const shown = await screen.findByLabelText("kcat program");
    expect(shown.textContent).toBe(KCAT);
    expect(shown.querySelector("script")).toBeNull();
  });
});
