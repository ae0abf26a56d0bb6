import { Modal, type ModalProps } from "@mantine/core";
import { useEffect } from "react";
import { restoreFocus } from "@/lib/focus";

/** A dialog with its title; when it is gone the focus is where it was before, also when a menu's item opened it. */
export function Dialog({ title, children, ...props }: ModalProps) {
  return (
    <Modal title={<strong>{title}</strong>} {...props}>
      <ReturnFocus />
      {children}
    </Modal>
  );
}

/** Leaves with the dialog's content, at the end of its transition or with the page's part that held it. */
function ReturnFocus() {
  useEffect(
    () => () => {
      // React takes the element with the focus out of the page only after this.
      window.setTimeout(restoreFocus);
    },
    [],
  );
  return null;
}
