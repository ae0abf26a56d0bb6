import { CloseButton, TextInput } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { useRef } from "react";
import { useTypedText } from "@/lib/use-typed-text";
import { words } from "@/words/parts";

const say = words.searchBox;

interface SearchBoxProps {
  value: string;
  label: string;
  onChange: (text: string) => void;
}

/** A filter field whose value lives elsewhere (the URL). "/" focuses it. */
export function SearchBox({ value, label, onChange }: SearchBoxProps) {
  const input = useRef<HTMLInputElement>(null);
  const [text, change] = useTypedText(value, onChange);
  useHotkeys([["/", () => input.current?.focus()]]);
  return (
    <TextInput
      ref={input}
      type="search"
      size="xs"
      w={260}
      maw="100%"
      placeholder={`${label}  ( / )`}
      aria-label={label}
      leftSection={<IconSearch size={14} aria-hidden />}
      rightSection={text && <CloseButton size="xs" aria-label={say.clearSearch} onClick={() => change("")} />}
      value={text}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}
