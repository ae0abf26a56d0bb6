import { Modal } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { api } from "@/lib/api-client";
import { ReturnFocus } from "@/components/dialog";
import { useFavourites } from "@/lib/favourites";
import { addRecent, readRecent } from "@/lib/recent";
import { useOverview } from "@/lib/use-clusters";
import { useRecentKey } from "@/lib/use-recent";
import { words } from "@/words";
import { atRest, type Entry, placeEntries, type Section, sections } from "./palette-model";
import type { Place } from "./places";
import { TEXT_MAX } from "./shortcuts";

const PAUSE_MS = 150;
const say = words.palette;

interface PaletteProps {
  opened: boolean;
  onClose: () => void;
  /** What is searched for, which may have been typed before this was there. */
  text: string;
  onText: (text: string) => void;
  places: (Place & { href: string })[];
  clusterName: string | undefined;
}

/** Search over everything that has a name, and the way to it. */
export default function Palette({ opened, onClose, ...rest }: PaletteProps) {
  return (
    <Modal.Root opened={opened} onClose={onClose} size={620} padding={0} transitionProps={{ duration: 0 }}>
      <Modal.Overlay />
      <Modal.Content aria-label={say.title}>
        <ReturnFocus />
        <Chooser onClose={onClose} {...rest} />
      </Modal.Content>
    </Modal.Root>
  );
}

function useFound(text: string) {
  return useQuery({
    queryKey: ["search", text],
    queryFn: ({ signal }) => api.get("/console/api/search", { query: { q: text }, signal }),
    enabled: text !== "",
    placeholderData: keepPreviousData,
    staleTime: 10_000,
    gcTime: 60_000,
    retry: false,
  });
}

function Chooser({ onClose, text, onText, places, clusterName }: Omit<PaletteProps, "opened">) {
  const id = useId();
  const router = useRouter();
  const wanted = text.trim();
  const [asked] = useDebouncedValue(wanted, PAUSE_MS);
  const found = useFound(wanted === "" ? "" : asked);
  const [at, setAt] = useState(0);
  const rest = useAtRest(places);
  const recentKey = useRecentKey();
  const groups =
    wanted === ""
      ? rest
      : sections(placeEntries(places, wanted, clusterName), found.data?.results ?? [], found.data?.more ?? []);
  const entries = groups.flatMap((group) => group.entries);
  const current = Math.min(at, entries.length - 1);
  const isSearching = wanted !== "" && (found.isFetching || asked !== wanted);
  const open = (entry: Entry | undefined) => {
    if (!entry) return;
    if (recentKey !== null) addRecent(recentKey, entry);
    onClose();
    router.history.push(entry.href);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const last = entries.length - 1;
    const to = { ArrowDown: current >= last ? 0 : current + 1, ArrowUp: current <= 0 ? last : current - 1 }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      setAt(to);
    } else if (event.key === "Enter") {
      event.preventDefault();
      open(entries[current]);
    }
  };
  const status = isSearching ? say.searching : found.isError ? say.failed : say.results(entries.length);
  return (
    <>
      <div className="ps-palette-head">
        <IconSearch size={17} aria-hidden />
        <input
          data-autofocus
          role="combobox"
          aria-expanded={entries.length > 0}
          aria-controls={`${id}-list`}
          aria-activedescendant={current >= 0 ? `${id}-${current}` : undefined}
          aria-autocomplete="list"
          aria-label={say.title}
          placeholder={say.placeholder}
          maxLength={TEXT_MAX}
          spellCheck={false}
          autoComplete="off"
          value={text}
          onChange={(event) => {
            onText(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <div className="ps-palette-list" id={`${id}-list`} role="listbox" aria-label={say.title}>
        {groups.map((group) => (
          <Group
            key={group.kind}
            id={id}
            group={group}
            entries={entries}
            current={current}
            onPick={open}
            onPoint={setAt}
          />
        ))}
      </div>
      {entries.length === 0 && !isSearching && !found.isError && wanted !== "" && (
        <p className="ps-palette-none">{say.nothing(wanted)}</p>
      )}
      <div className="ps-palette-foot">
        <span role="status" className={found.isError ? "ps-warn" : undefined}>
          {status}
        </span>
        <span aria-hidden className="ps-hide-sm">
          {say.hint}
        </span>
      </div>
    </>
  );
}

/** What is offered before anything is typed. */
function useAtRest(places: PaletteProps["places"]): Section[] {
  const { pathname } = useRouter().history.location;
  const key = useRecentKey();
  const favourites = useFavourites();
  const { data } = useOverview();
  const clusters = data?.parts.clusters.data;
  return atRest({
    here: pathname,
    recent: key === null ? [] : readRecent(key),
    favourites: favourites ?? [],
    clusterName: (id) => clusters?.find((cluster) => cluster.id === id)?.name,
    places,
  });
}

interface GroupProps {
  id: string;
  group: Section;
  entries: Entry[];
  current: number;
  onPick: (entry: Entry) => void;
  onPoint: (at: number) => void;
}

function Group({ id, group, entries, current, onPick, onPoint }: GroupProps) {
  const title = say.kinds[group.kind];
  return (
    <div role="group" aria-label={title}>
      <div className="ps-palette-kind" aria-hidden>
        {title}
      </div>
      {group.entries.map((entry) => {
        const at = entries.indexOf(entry);
        return (
          <Option
            key={entry.href}
            id={`${id}-${at}`}
            entry={entry}
            isCurrent={at === current}
            onPick={() => onPick(entry)}
            onPoint={() => onPoint(at)}
          />
        );
      })}
      {group.more && <div className="ps-palette-more">{say.more}</div>}
    </div>
  );
}

interface OptionProps {
  id: string;
  entry: Entry;
  isCurrent: boolean;
  onPick: () => void;
  onPoint: () => void;
}

function Option({ id, entry, isCurrent, onPick, onPoint }: OptionProps) {
  const row = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isCurrent) row.current?.scrollIntoView?.({ block: "nearest" });
  }, [isCurrent]);
  return (
    // The field keeps the focus and hears the keys: this is what it says it is about.
    // eslint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus -- see above
    <div
      ref={row}
      id={id}
      role="option"
      aria-selected={isCurrent}
      className="ps-palette-row"
      onClick={onPick}
      onPointerMove={onPoint}
    >
      <span className="ps-palette-title">{entry.title}</span>
      <span className="ps-muted">{entry.note}</span>
    </div>
  );
}
