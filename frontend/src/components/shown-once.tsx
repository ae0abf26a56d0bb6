import { Button, Group } from "@mantine/core";
import type { ReactNode } from "react";
import { words } from "@/words/plans";
import { CodeBlock } from "./copy";
import { Dialog } from "./dialog";
import { Notice } from "./notice";

const say = words.shownOnce;

export interface Once {
  title: string;
  label: string;
  text: string;
  hint: ReactNode;
}

/** A key or link that the service gives once and keeps no copy of. It closes by its button only. */
export function ShownOnce({ once, onClose }: { once: Once | null; onClose: () => void }) {
  return (
    <Dialog
      opened={once !== null}
      onClose={onClose}
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
      title={once?.title}
    >
      {once && (
        <>
          <Notice tone="warn" title={say.copyItNowItIs}>
            {once.hint}
          </Notice>
          <div style={{ margin: "12px 0" }}>
            <CodeBlock label={once.label} text={once.text} />
          </div>
          <Group justify="flex-end">
            <Button onClick={onClose}>{say.iHaveCopiedIt}</Button>
          </Group>
        </>
      )}
    </Dialog>
  );
}
