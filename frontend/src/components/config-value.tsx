import { exactValue, isUnbounded as isLargest, valueWords } from "@/lib/config-values";
import { words } from "@/words/plans";

const say = words.configValue;

interface ConfigValueProps {
  name: string;
  /** As the brokers have it; null: they do not say. */
  value: string | null | undefined;
  /** Nobody set it: it is what the cluster gives every topic. */
  isDefault?: boolean;
}

/** A setting's value with its unit, what it means, and whether it is the default: "604800000 ms (7 days, default)". */
export function ConfigValue({ name, value, isDefault = false }: ConfigValueProps) {
  if (value === null || value === undefined)
    return <span className="ps-muted">{isDefault ? say.theDefaultWhichTheBrokers : say.notKnown}</span>;
  // Kafka's largest number stands for "no limit": its nineteen digits mean nothing to a reader.
  const words = valueWords(name, value);
  const isUnbounded = words !== null && isLargest(Number(value));
  const notes = [isUnbounded ? null : words, isDefault ? say.defaultWord : null].filter((note) => note !== null);
  return (
    <>
      {value === "" ? (
        <span className="ps-muted">{say.empty}</span>
      ) : (
        <span title={isUnbounded ? exactValue(name, value) : undefined}>
          {isUnbounded ? words : exactValue(name, value)}
        </span>
      )}
      {notes.length > 0 && (
        <span className="ps-muted" title={exactValue(name, value)}>
          {" "}
          ({notes.join(", ")})
        </span>
      )}
    </>
  );
}
