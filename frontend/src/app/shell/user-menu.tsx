import { ActionIcon, useComputedColorScheme, useMantineColorScheme } from "@mantine/core";
import { IconMoon, IconSun, IconUserCircle } from "@tabler/icons-react";
import { lazy, Suspense, useState } from "react";
import { words } from "@/words/frame";

const say = words.userMenu;

// Menus bring what places them: more than a tenth of what the first view may load.
const AccountMenu = lazy(() => import("./account-menu").then((module) => ({ default: module.AccountMenu })));

export function UserMenu() {
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme("light");
  const [wanted, setWanted] = useState(false);
  const button = (
    <ActionIcon size="md" aria-label={say.account} aria-haspopup="menu" onClick={() => setWanted(true)}>
      <IconUserCircle size={19} stroke={1.7} />
    </ActionIcon>
  );
  return (
    <>
      <ActionIcon
        size="md"
        aria-label={scheme === "dark" ? say.useLightColours : say.useDarkColours}
        onClick={() => setColorScheme(scheme === "dark" ? "light" : "dark")}
      >
        {scheme === "dark" ? <IconSun size={17} stroke={1.7} /> : <IconMoon size={17} stroke={1.7} />}
      </ActionIcon>
      {wanted ? (
        <Suspense fallback={button}>
          <AccountMenu />
        </Suspense>
      ) : (
        button
      )}
    </>
  );
}
