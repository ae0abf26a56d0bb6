import { CloseButton, TextInput } from "@mantine/core";
import { useDebouncedCallback, useHotkeys } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";

/** Pause after the last key before the URL changes, ms. */
const PAUSE_MS = 150;

interface SearchBoxProps {
  value: string;
  label: string;
  onChange: (text: string) => void;
}

/** A filter field whose value lives elsewhere (the URL). "/" focuses it. */
export function SearchBox({ value, label, onChange }: SearchBoxProps) {
  const [text, setText] = useState(value);
  const input = useRef<HTMLInputElement>(null);
  const sent = useRef(value);
  const send = useDebouncedCallback((next: string) => {
    sent.current = next;
    onChange(next);
  }, PAUSE_MS);
  useEffect(() => {
    // The URL changed by itself (back button, link): follow it.
    if (value !== sent.current) {
      sent.current = value;
      setText(value);
    }
  }, [value]);
  useHotkeys([["/", () => input.current?.focus()]]);
  const change = (next: string) => {
    setText(next);
    send(next);
  };
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
      rightSection={text && <CloseButton size="xs" aria-label="Clear search" onClick={() => change("")} />}
      value={text}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}
