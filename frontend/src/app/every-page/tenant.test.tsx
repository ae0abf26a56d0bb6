import { vi } from "vitest";
import { walkPages } from "@/testing/walk-pages";

vi.mock("react/jsx-dev-runtime", async (original) => {
  const { placing } = await import("@/testing/overlay-places");
  return placing(await original<{ jsxDEV: unknown }>());
});

walkPages("tenant");
