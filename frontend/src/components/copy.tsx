import { ActionIcon, CopyButton } from "@mantine/core";
import { IconCheck, IconCopy } from "@tabler/icons-react";
import { words } from "@/words/parts";
import { Hint } from "./hint";

const say = words.copy;

export function Copy({ value, label = say.copy }: { value: string; label?: string }) {
  return (
    <CopyButton value={value} timeout={1500}>
      {({ copied, copy }) => (
        <Hint label={copied ? say.copied : label}>
          <ActionIcon onClick={copy} size="sm" aria-label={label} color={copied ? "green" : "gray"}>
            {copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
          </ActionIcon>
        </Hint>
      )}
    </CopyButton>
  );
}

export function CodeBlock({ text, label }: { text: string; label: string }) {
  return (
    <div style={{ position: "relative" }}>
      {/* The block scrolls, so the keyboard must be able to reach it. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- WCAG 2.1.1: scrollable region */}
      <pre className="ps-code" tabIndex={0} aria-label={label}>
        {text}
      </pre>
      <div style={{ position: "absolute", top: 6, right: 6 }}>
        <Copy value={text} label={say.copy2(label.toLowerCase())} />
      </div>
    </div>
  );
}
