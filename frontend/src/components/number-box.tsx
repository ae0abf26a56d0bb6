import { NumberInput, type NumberInputProps } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { useEffect, useRef, useState } from "react";

/** Pause after the last key before what is typed counts, ms. */
const PAUSE_MS = 500;

interface NumberBoxProps extends Pick<NumberInputProps, "w" | "placeholder"> {
  label: string;
  /** Bounds of what may be typed; what lies outside is marked and not sent. */
  min: number;
  max?: number;
  /** What is kept elsewhere (the URL): `scale` times what is typed, in whole units. Without a scale, as typed. */
  value: number | undefined;
  scale?: number;
  onChange: (value: number | undefined) => void;
}

/** A number that is typed here and kept elsewhere: text until it is one, so that "1." can become "1.5". */
export function NumberBox({ label, min, max = Infinity, value, scale, onChange, ...look }: NumberBoxProps) {
  const shown = (kept: number | undefined) => (kept === undefined ? "" : kept / (scale ?? 1));
  const [text, setText] = useState<number | string>(shown(value));
  const sent = useRef(value);
  const isInside = (typed: number | string) => typed === "" || (Number(typed) >= min && Number(typed) <= max);
  const send = useDebouncedCallback((typed: number | string) => {
    if (!isInside(typed)) return;
    const next = typed === "" ? undefined : scale === undefined ? Number(typed) : Math.round(Number(typed) * scale);
    if (next === sent.current) return;
    sent.current = next;
    onChange(next);
  }, PAUSE_MS);
  useEffect(() => {
    // It changed by itself (back button, link): follow it.
    if (value !== sent.current) {
      sent.current = value;
      setText(value === undefined ? "" : value / (scale ?? 1));
    }
  }, [value, scale]);
  return (
    <NumberInput
      {...look}
      size="xs"
      aria-label={label}
      min={min}
      max={max}
      clampBehavior="none"
      error={!isInside(text)}
      value={text}
      onChange={(typed) => {
        setText(typed);
        send(typed);
      }}
      onBlur={() => send.flush()}
      onKeyDown={(event) => {
        if (event.key === "Enter") send.flush();
      }}
    />
  );
}
