/** Text that is typed here and kept elsewhere (the URL), which hears of it after a pause. */
import { useDebouncedCallback } from "@mantine/hooks";
import { useEffect, useRef, useState } from "react";

/** Pause after the last key before the URL changes, ms. */
const PAUSE_MS = 150;

/** The text as it is shown, and what changes it. */
export function useTypedText(
  value: string,
  onChange: (text: string) => void,
  pauseMs = PAUSE_MS,
): [string, (next: string) => void] {
  const [text, setText] = useState(value);
  const sent = useRef(value);
  const send = useDebouncedCallback((next: string, page: string) => {
    // Somebody has followed a link meanwhile: the page that was typed on, still shown while the next one loads,
    // would call them back.
    if (window.location.pathname !== page) return;
    sent.current = next;
    onChange(next);
  }, pauseMs);
  useEffect(() => {
    // The URL changed by itself (back button, link): follow it.
    if (value !== sent.current) {
      sent.current = value;
      setText(value);
    }
  }, [value]);
  const change = (next: string) => {
    setText(next);
    send(next, window.location.pathname);
  };
  return [text, change];
}
