import { Burger, Group } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQueryClient } from "@tanstack/react-query";
import { Outlet, useLocation } from "@tanstack/react-router";
import { useEffect } from "react";
import { watchFocus } from "@/lib/focus";
import { useStaleSince } from "@/lib/freshness";
import { type Handlers, useEvents } from "@/lib/live";
import type { ChangeEvents } from "@/lib/types";
import { words } from "@/words";
import { Habits } from "../habits/habits";
import { Brand } from "./brand";
import { Crumbs } from "./crumbs";
import { ExactOnTap } from "./exact-on-tap";
import { RunningOperations } from "./running-operations";
import { SideNav } from "./side-nav";
import { SignInAgain } from "./sign-in-again";
import { UserMenu } from "./user-menu";

/** The frame of every page: navigation, where we are, what runs, who we are. */
export function Shell() {
  const [opened, { toggle, close }] = useDisclosure(false);
  const { pathname } = useLocation();
  const client = useQueryClient();
  useEffect(close, [pathname, close]);
  useEffect(watchFocus, []);
  const refresh = () => void client.invalidateQueries({ queryKey: ["page"] });
  const onChange: Handlers<ChangeEvents> = { operations: refresh, clusters: refresh };
  const live = useEvents(`/console/events?topics=${Object.keys(onChange).join(",")}`, onChange);
  const since = useStaleSince();
  return (
    <div className="ps-shell" data-menu={opened}>
      <a href="#main" className="ps-skip">
        {words.navigation.skip}
      </a>
      <aside className="ps-shell-side" aria-label={words.navigation.sidebar}>
        <Group h={46} px={18} justify="space-between" wrap="nowrap" style={{ flex: "none" }}>
          <Brand />
          <Burger opened={opened} onClick={toggle} hiddenFrom="sm" size="sm" aria-label={words.navigation.closeMenu} />
        </Group>
        <div className="ps-shell-scroll">
          <SideNav />
        </div>
      </aside>
      <header className="ps-shell-head">
        <Burger opened={opened} onClick={toggle} hiddenFrom="sm" size="sm" aria-label={words.navigation.menu} />
        <Crumbs />
        <Group gap={6} ml="auto" wrap="nowrap">
          <Habits />
          <RunningOperations live={live} since={since} />
          <UserMenu />
        </Group>
      </header>
      <main
        id="main"
        tabIndex={-1}
        style={{ outline: "none" }}
        className={since === null ? "ps-shell-main" : "ps-shell-main ps-stale"}
      >
        <div style={{ maxWidth: 1320, margin: "0 auto" }}>
          <Outlet />
        </div>
      </main>
      <SignInAgain />
      <ExactOnTap />
    </div>
  );
}
