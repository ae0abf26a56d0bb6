import { expect, it } from "vitest";
import { groupOffset } from "@/testing/samples-groups";
import { csvOf } from "./offset-csv";

it("writes what is committed as kafka-consumer-groups.sh does", () => {
  expect(csvOf([groupOffset(), groupOffset({ partition: 1, committed: null }), groupOffset({ partition: 2 })])).toBe(
    "sales,0,60\nsales,2,60\n",
  );
});
