import { Textarea, type TextareaProps } from "@mantine/core";
import { keysIn } from "@/lib/properties";
import { words } from "@/words/plans";

const say = words.configField;

interface ConfigFieldProps extends Omit<TextareaProps, "value"> {
  /** What may be set: key and allowed values, in words. */
  allowed: Readonly<Record<string, string>>;
  value?: string;
}

/** Lines of key=value; what each key may be is said while it is typed. The plan has the last word. */
export function ConfigField({ allowed, value = "", ...input }: ConfigFieldProps) {
  const keys = keysIn(value);
  return (
    <div>
      <Textarea
        description={say.optionalOneKeyValuePer}
        autosize
        maxRows={12}
        styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)", fontSize: "0.8rem" } }}
        value={value}
        {...input}
      />
      {keys.length > 0 && (
        <ul className="ps-muted" aria-label={say.allowedValues} style={{ fontSize: "0.75rem", margin: "6px 0 0" }}>
          {keys.map((key) => (
            <li key={key}>
              <code>{key}</code>: {Object.hasOwn(allowed, key) ? allowed[key] : say.notASettingThatYou}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
