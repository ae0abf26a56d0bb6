import { Modal, type ModalProps } from "@mantine/core";
import { useEffect, useRef } from "react";
import { holdFocus, restoreFocus } from "@/lib/focus";

/** A dialog with its title; when it is gone the focus is where it was before, also when a menu's item opened it. */
export function Dialog({ title, children, ...props }: ModalProps) {
  return (
    <Modal title={<strong>{title}</strong>} {...props}>
      <ReturnFocus />
      {props.opened && <HoldFocus />}
      {children}
    </Modal>
  );
}

/** While a dialog is open the focus stays in it: a menu whose item opened it would take it back a moment later. */
function HoldFocus() {
  const here = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    const dialog = here.current?.closest<HTMLElement>("[role=dialog]");
    return dialog ? holdFocus(dialog) : undefined;
  }, []);
  return <span ref={here} hidden />;
}

/** Leaves with the dialog's content, at the end of its transition or with the page's part that held it. */
export function ReturnFocus() {
  useEffect(
    () => () => {
      // React takes the element with the focus out of the page only after this.
      window.setTimeout(restoreFocus);
    },
    [],
  );
  return null;
}
