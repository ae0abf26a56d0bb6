import { Fragment } from "react";

/** A long name that may wrap after its dots, dashes and underscores, never inside a word. */
export function Breakable({ text }: { text: string }) {
  return text.split(/(?<=[._-])/).map((part, index) => (
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}
