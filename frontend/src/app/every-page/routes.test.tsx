import { QueryClient } from "@tanstack/react-query";
import { createMemoryHistory } from "@tanstack/react-router";
import { expect, it } from "vitest";
import { createAppRouter } from "@/app/router";
import { EVERY_PAGE } from "@/testing/every-page";

it("every page of the router is walked", () => {
  const router = createAppRouter(new QueryClient(), createMemoryHistory());
  const walked = Object.values(EVERY_PAGE).flatMap((part) => Object.keys(part));
  expect(walked.sort()).toEqual(Object.keys(router.routesByPath).sort());
});
