import { Button, Menu } from "@mantine/core";
import { IconChevronDown, IconTrash } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { words } from "@/words/late-parts";

const say = words.moreMenu;

/** What else can be done with the subject of a page. */
export function MoreMenu({ children }: { children: ReactNode }) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" rightSection={<IconChevronDown size={14} />}>
          {say.more}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>{children}</Menu.Dropdown>
    </Menu>
  );
}

/** Deletes, after its plan was confirmed. */
export function DeleteItem({ onClick, children }: { onClick: () => void; children: ReactNode }) {
  return (
    <Menu.Item color="red" leftSection={<IconTrash size={15} />} onClick={onClick}>
      {children}
    </Menu.Item>
  );
}
