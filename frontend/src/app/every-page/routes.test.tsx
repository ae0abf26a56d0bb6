import { readFileSync } from "node:fs";
import { QueryClient } from "@tanstack/react-query";
import { createMemoryHistory } from "@tanstack/react-router";
import { expect, it } from "vitest";
import { createAppRouter } from "@/app/router";
import { EVERY_PAGE } from "@/testing/every-page";
import { WHOLE } from "@/testing/whole-console";

it("every page of the router is walked", () => {
  const router = createAppRouter(new QueryClient(), createMemoryHistory());
  const walked = Object.values(EVERY_PAGE).flatMap((part) => Object.keys(part));
  expect(walked.sort()).toEqual(Object.keys(router.routesByPath).sort());
});

interface Schema {
  properties: Record<string, { $ref: string }>;
}

/** The parts of each page in the document of the API, as "GET /console/api/pages/groups/{cluster_id}". */
function documented(): [page: string, parts: string[]][] {
  const { paths, components } = JSON.parse(readFileSync("openapi.json", "utf-8")) as {
    paths: Record<
      string,
      { get?: { responses: Record<string, { content: Record<string, { schema: { $ref: string } }> }> } }
    >;
    components: { schemas: Record<string, Schema> };
  };
  const schema = ($ref = "") => components.schemas[$ref.split("/").at(-1) ?? ""]?.properties ?? {};
  return Object.entries(paths)
    .filter(([path]) => path.startsWith("/console/api/pages/"))
    .map(([path, { get }]) => {
      const page = schema(get?.responses["200"]?.content["application/json"]?.schema.$ref);
      return [`GET ${path}`, Object.keys(schema(page.parts?.$ref))];
    });
}

it("every page that is walked has each of its parts", () => {
  const pages = documented();
  expect(pages.flatMap(([, parts]) => parts).length).toBeGreaterThan(50);
  const missing = pages.flatMap(([page, parts]) => {
    const address = new RegExp(`^${page.replace(/\{\w+\}/g, "[^/]+")}$`);
    const given = Object.entries(WHOLE).filter(([name]) => address.test(name));
    const has = given.flatMap(([, answer]) => Object.keys((answer as { parts: object }).parts));
    return parts.filter((part) => !has.includes(part)).map((part) => `${page}: ${part}`);
  });
  expect(missing).toEqual([]);
});
