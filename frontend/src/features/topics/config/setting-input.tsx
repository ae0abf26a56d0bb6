import { Checkbox, Group, NativeSelect, TextInput } from "@mantine/core";
import type { TopicSetting } from "@/generated/settings";
import { ConfigValue } from "@/components/config-value";
import { typedValue } from "@/lib/config-input";
import { unitOf } from "@/lib/config-values";
import { words } from "@/words/topic-settings";

const say = words.settingInput;

interface SettingInputProps {
  name: string;
  setting: TopicSetting;
  text: string;
  problem: string | undefined;
  onType: (text: string) => void;
}

/** The input that fits a setting's type: a choice, several of them, or text with its unit and what it comes to. */
export function SettingInput({ name, setting, text, problem, onType }: SettingInputProps) {
  const label = say.newValueOf(name);
  const choices = setting.type === "BOOLEAN" ? ["true", "false"] : setting.choices;
  if (setting.type === "LIST" && choices.length > 0) {
    const chosen = text.split(",").map((item) => item.trim());
    const toggle = (choice: string, on: boolean) =>
      onType(choices.filter((one) => (one === choice ? on : chosen.includes(one))).join(","));
    return (
      <Group gap="md" role="group" aria-label={label}>
        {choices.map((choice) => (
          <Checkbox
            key={choice}
            size="xs"
            label={choice}
            checked={chosen.includes(choice)}
            error={problem !== undefined}
            onChange={(event) => toggle(choice, event.currentTarget.checked)}
          />
        ))}
        {problem && <span className="ps-bad">{problem}</span>}
      </Group>
    );
  }
  if (choices.length > 0) {
    return (
      <NativeSelect
        size="xs"
        aria-label={label}
        data={[...choices]}
        value={text}
        error={problem}
        onChange={(event) => onType(event.currentTarget.value)}
      />
    );
  }
  const { value } = typedValue(name, text, setting);
  return (
    <TextInput
      size="xs"
      aria-label={label}
      placeholder={PLACEHOLDERS[unitOf(name) ?? "none"]}
      value={text}
      autoComplete="off"
      spellCheck={false}
      error={problem}
      inputWrapperOrder={["input", "description", "error"]}
      description={value !== undefined && unitOf(name) ? <ConfigValue name={name} value={value} /> : undefined}
      onChange={(event) => onType(event.currentTarget.value)}
      styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
    />
  );
}

/** Examples of what `typedValue` reads, in every language. */
const PLACEHOLDERS: { ms: string; bytes: string; none?: undefined } = words.configInput.placeholders;
