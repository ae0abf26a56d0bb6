/** Sentences that hold more than text: a link, a time that ages. */
import { createElement, Fragment, type ReactElement, type ReactNode } from "react";

/** What a sentence is given to stand at its place. */
export type Slot = ReactNode;

/** rich`since ${time}`: text and what it is given, in the order of the language. */
export function rich(text: TemplateStringsArray, ...slots: Slot[]): ReactElement {
  return createElement(Fragment, null, ...text.flatMap((part, index) => [part, slots[index]]));
}
