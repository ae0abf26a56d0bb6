import { ActionIcon, Menu, useComputedColorScheme, useMantineColorScheme } from "@mantine/core";
import {
  IconBook2,
  IconDeviceDesktop,
  IconLock,
  IconLogout,
  IconMoon,
  IconSun,
  IconUserCircle,
} from "@tabler/icons-react";
import { useRouter } from "@tanstack/react-router";
import { useLogout, useSession } from "@/lib/session";

export function UserMenu() {
  const { data: session } = useSession();
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme("light");
  const logout = useLogout();
  const router = useRouter();
  return (
    <>
      <ActionIcon
        size="md"
        aria-label={scheme === "dark" ? "Use light colours" : "Use dark colours"}
        onClick={() => setColorScheme(scheme === "dark" ? "light" : "dark")}
      >
        {scheme === "dark" ? <IconSun size={17} stroke={1.7} /> : <IconMoon size={17} stroke={1.7} />}
      </ActionIcon>
      <Menu position="bottom-end" width={210}>
        <Menu.Target>
          <ActionIcon size="md" aria-label="Account">
            <IconUserCircle size={19} stroke={1.7} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>
            {session?.user?.username}
            {session?.tenant && ` · ${session.tenant.name}`}
          </Menu.Label>
          <Menu.Item leftSection={<IconLock size={15} />} onClick={() => void router.navigate({ to: "/profile" })}>
            Profile and password
          </Menu.Item>
          <Menu.Item leftSection={<IconDeviceDesktop size={15} />} onClick={() => setColorScheme("auto")}>
            Colours of the system
          </Menu.Item>
          <Menu.Item leftSection={<IconBook2 size={15} />} component="a" href="/api/v1/openapi.json" target="_blank">
            REST API description
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
            Sign out
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </>
  );
}
