import { ActionIcon, Menu, useMantineColorScheme } from "@mantine/core";
import { IconBook2, IconDeviceDesktop, IconLock, IconLogout, IconUserCircle } from "@tabler/icons-react";
import { useRouter } from "@tanstack/react-router";
import { useState } from "react";
import { useLogout, useSession } from "@/lib/session";
import { words } from "@/words/frame";

const say = words.accountMenu;

/** Who is signed in, and what is theirs. It is loaded at the first click on its button, and opens with it. */
export function AccountMenu() {
  const [opened, setOpened] = useState(true);
  const { data: session } = useSession();
  const { setColorScheme } = useMantineColorScheme();
  const logout = useLogout();
  const router = useRouter();
  return (
    <Menu position="bottom-end" width={210} opened={opened} onChange={setOpened}>
      <Menu.Target>
        <ActionIcon size="md" aria-label={say.account}>
          <IconUserCircle size={19} stroke={1.7} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {session?.user?.username}
          {session?.tenant && ` · ${session.tenant.name}`}
        </Menu.Label>
        <Menu.Item leftSection={<IconLock size={15} />} onClick={() => void router.navigate({ to: "/profile" })}>
          {say.profileAndPassword}
        </Menu.Item>
        <Menu.Item leftSection={<IconDeviceDesktop size={15} />} onClick={() => setColorScheme("auto")}>
          {say.coloursOfTheSystem}
        </Menu.Item>
        <Menu.Item leftSection={<IconBook2 size={15} />} component="a" href="/api/v1/openapi.json" target="_blank">
          {say.restApiDescription}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item
          leftSection={<IconLogout size={15} />}
          onClick={() =>
            logout.mutate(undefined, {
              onSettled: (ended) => {
                if (ended?.logout_url) window.location.assign(ended.logout_url);
                else void router.navigate({ to: "/login" });
              },
            })
          }
        >
          {say.signOut}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
