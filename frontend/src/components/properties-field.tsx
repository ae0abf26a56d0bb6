import { Textarea, type TextareaProps } from "@mantine/core";

/** Settings as people keep them, one key=value per line; `parseProperties` reads what it holds. */
export function PropertiesField(props: TextareaProps) {
  return (
    <Textarea
      description="Optional, one key=value per line, in Kafka's names."
      autosize
      maxRows={12}
      styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)", fontSize: "0.8rem" } }}
      {...props}
    />
  );
}
