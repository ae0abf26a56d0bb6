import { fireEvent, screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import type { Mask } from "@/lib/types";
import { fill, openPage, press, rowsOf } from "@/testing/app";
import { listed, session } from "@/testing/samples";
import type { Answers } from "@/testing/server";

const PATH = "/settings?tab=masks";
const mask: Mask = {
  id: "mk_1",
  topics: { match: "prefix", name: "pay-" },
  part: "value",
  path: "customer.email",
  act: "hash",
  see_through: ["owner"],
  note: "personal data",
  created_at: "2026-11-26T00:00:00Z",
  etag: '"1"',
};
const as = (role: string) => {
  const found = session();
  return { "GET /console/api/session": { ...found, tenant: found.tenant && { ...found.tenant, role } } };
};
const open = (answers: Answers) => openPage(PATH, { "GET /api/v1/message-masks": listed([mask]), ...answers });

describe("message masks", () => {
  it("says what is hidden, where and from whom", async () => {
    await open(as("owner"));
    const [row] = await rowsOf("Message masks");
    expect(row?.slice(0, 4)).toEqual([
      "pay-…",
      "customer.email of the value",
      "a hash: equal values stay equal",
      "owners",
    ]);
  });

  it("makes one", async () => {
    const { asked } = await open({ ...as("owner"), "POST /api/v1/message-masks": mask });
    await rowsOf("Message masks");
    press("New mask");
    fill("Name", "orders");
    expect(await screen.findByText(/End it with one of/)).toBeTruthy();
    fill("Name", "orders-");
    fill("Field", "card.number");
    press("Make mask");
    await waitFor(() =>
      expect(asked.find((one) => one.method === "POST")?.body).toEqual({
        topics: { match: "prefix", name: "orders-" },
        part: "value",
        path: "card.number",
        act: "replace",
        see_through: ["owner"],
        note: "",
      }),
    );
  });

  it("deletes the one that was read", async () => {
    const { asked } = await open({ ...as("owner"), "DELETE /api/v1/message-masks/mk_1": {} });
    fireEvent.click(await screen.findByRole("button", { name: /Actions for the mask/ }));
    fireEvent.click(await screen.findByRole("menuitem", { name: "Delete mask" }));
    fireEvent.click(await screen.findByRole("button", { name: "Delete mask" }));
    await waitFor(() => expect(asked.find((one) => one.method === "DELETE")?.ifMatch).toBe('"1"'));
  });

  it("offers nothing to whoever is no owner", async () => {
    await open(as("operator"));
    await rowsOf("Message masks");
    expect(screen.queryByRole("button", { name: "New mask" })).toBeNull();
    expect(screen.queryByRole("button", { name: /Actions for the mask/ })).toBeNull();
  });

  it("says so where nothing is hidden", async () => {
    await open({ ...as("owner"), "GET /api/v1/message-masks": listed([]) });
    expect(await screen.findByText("Nothing is hidden")).toBeTruthy();
  });
});
