/** Transactions that are not ended, and how Kafka's own tool aborts those that nobody will end. */
import type { Producer } from "@/lib/types";

const COMMANDS_MAX = 20;

/** Those with a transaction that is past its timeout, or that nobody has. */
export const advised = (producers: Producer[]): Producer[] =>
  producers.filter((row) => row.transaction?.standing === "late" || row.transaction?.standing === "hanging");

/** A name as one word of a shell; Kafka's names need nothing, and what another one may hold is quoted. */
const word = (name: string) => (/^[\w.-]+$/.test(name) ? name : `'${name.replaceAll("'", `'\\''`)}'`);

/** A command a partition in which a transaction hangs, `COMMANDS_MAX` at most; `left` are not among them. */
export function abortCommands(topic: string, hanging: Producer[]): { text: string; left: number } {
  const all = hanging.flatMap((producer) =>
    producer.partitions
      .filter((row) => row.standing === "hanging" && row.open_since_offset !== null)
      .map(
        (row) =>
          "kafka-transactions.sh --bootstrap-server BOOTSTRAP --command-config client.properties abort" +
          ` --topic ${word(topic)} --partition ${row.partition} --start-offset ${row.open_since_offset}`,
      ),
  );
  return { text: all.slice(0, COMMANDS_MAX).join("\n"), left: Math.max(0, all.length - COMMANDS_MAX) };
}
