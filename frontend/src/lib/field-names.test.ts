import { readFileSync } from "node:fs";
import { afterEach, expect, it } from "vitest";
import { pseudo } from "@/testing/pseudo";
import * as en from "@/words/en";
import { speakIn } from "@/words/shown";
import { fieldLabel, fieldName } from "./field-names";

afterEach(() => speakIn(null));

interface Schema {
  $ref?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: Schema | boolean;
  oneOf?: Schema[];
  anyOf?: Schema[];
  allOf?: Schema[];
}
interface Operation {
  parameters?: { name: string }[];
  requestBody?: { content: Record<string, { schema?: Schema }> };
}

/** Every field that a request of the document may have, so that a problem may be about it. */
function asked(): string[] {
  const document = JSON.parse(readFileSync("openapi.json", "utf-8")) as {
    paths: Record<string, Record<string, Operation>>;
    components: { schemas: Record<string, Schema> };
  };
  const names = new Set<string>();
  const seen = new Set<string>();
  const walk = (schema: Schema | boolean | undefined): void => {
    if (typeof schema !== "object") return;
    if (schema.$ref !== undefined && !seen.has(schema.$ref)) {
      seen.add(schema.$ref);
      walk(document.components.schemas[schema.$ref.split("/").at(-1) ?? ""]);
    }
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      names.add(name);
      walk(property);
    }
    walk(schema.items);
    walk(schema.additionalProperties);
    for (const one of [...(schema.oneOf ?? []), ...(schema.anyOf ?? []), ...(schema.allOf ?? [])]) walk(one);
  };
  for (const operation of Object.values(document.paths).flatMap((path) => Object.values(path))) {
    for (const { name } of operation.parameters ?? []) names.add(name);
    for (const { schema } of Object.values(operation.requestBody?.content ?? {})) walk(schema);
  }
  return [...names].sort();
}

it("names fields as people do, Kafka's keys as Kafka does", () => {
  expect(
    ["/inputs/replication_factor", "/inputs/configs/retention.ms", "/inputs/topics/0", "/name", "", "/inputs"].map(
      fieldLabel,
    ),
  ).toEqual(["Replication factor", "retention.ms", "Topics 1", "Name", "", ""]);
  expect(["/ca_pem", "/q", "/of_tomorrow"].map(fieldLabel)).toEqual(["CA certificate", "Search", "Of tomorrow"]);
});

it("has a name in the catalogue for every field of the document", () => {
  const names = asked();
  expect(names.length).toBeGreaterThan(100);
  // It holds a plan's fields, and is left out of their names.
  expect(names.filter((name) => name !== "inputs" && !Object.hasOwn(en.fields.names, name))).toEqual([]);
});

it("names them in the language that is shown", () => {
  speakIn(pseudo(en));
  expect([fieldName("topic"), fieldLabel("/inputs/topics/0"), fieldLabel("/configs/retention.ms")]).toEqual([
    "⟦Ŧóƥíç~~⟧",
    "⟦⟦Ŧóƥíçš~~⟧ 1~~~~⟧",
    "retention.ms",
  ]);
});
