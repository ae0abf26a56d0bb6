import { useParams, useRouter } from "@tanstack/react-router";
import { IconSearch } from "@tabler/icons-react";
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from "react";
import { useSession } from "@/lib/session";
import { useLastCluster } from "@/lib/use-last-cluster";
import { words } from "@/words";
import { placesFor } from "./places";
import { type Begun, isMac, step, takesText, typed } from "./shortcuts";

const Palette = lazy(() => import("./palette"));
const Help = lazy(() => import("./help"));

type Open = "palette" | "help" | null;

/** The keys of every page, what they open, and the button for those who do not know them. */
export function Habits() {
  const router = useRouter();
  const { clusterId } = useParams({ strict: false });
  const cluster = useLastCluster(clusterId);
  const { data: session } = useSession();
  const isStaff = session?.user?.is_staff ?? false;
  const places = useMemo(() => placesFor(cluster?.id, isStaff), [cluster?.id, isStaff]);
  const [open, setOpen] = useState<Open>(null);
  // What was opened once stays mounted, so that closing it gives the focus back.
  const [wanted, setWanted] = useState<ReadonlySet<Open>>(new Set());
  // Kept here, as somebody may type before the palette is loaded and has the focus.
  const [text, setText] = useState("");
  const show = (what: Open) => {
    setOpen(what);
    setText("");
    setWanted((before) => new Set([...before, what]));
  };
  const begun = useRef<Begun>(null);
  useEffect(() => {
    const goes = new Map(places.flatMap(({ key, href }) => (key ? [[key, href] as const] : [])));
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing) return;
      if (open === "palette" && !document.activeElement?.closest(".ps-palette-head")) {
        if (event.key === "Escape") return setOpen(null);
        if (typed("", event) === null) return;
        event.preventDefault();
        return setText((before) => typed(before, event) ?? before);
      }
      const isCovered = document.querySelector("[role=dialog]") !== null;
      const busy = takesText(document.activeElement) || isCovered;
      const next = step(begun.current, event, event.timeStamp, { goes, busy });
      begun.current = next.begun;
      if (!next.action) return;
      event.preventDefault();
      if (next.action.act === "go") router.history.push(next.action.href);
      // Over another dialog, which may hold what somebody has typed, nothing opens.
      else if (!isCovered) show(next.action.act);
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [places, router, open]);
  const close = () => setOpen(null);
  return (
    <>
      <button type="button" className="ps-search-button" onClick={() => show("palette")}>
        <IconSearch size={15} aria-hidden />
        <span className="ps-hide-sm">{words.palette.open}</span>
        <kbd className="ps-hide-sm" aria-hidden>
          {isMac() ? words.palette.keys.mac : words.palette.keys.other}
        </kbd>
        <span className="ps-sr ps-only-sm">{words.palette.open}</span>
      </button>
      <Suspense>
        {wanted.has("palette") && (
          <Palette
            opened={open === "palette"}
            onClose={close}
            text={text}
            onText={setText}
            places={places}
            clusterName={cluster?.name}
          />
        )}
        {wanted.has("help") && <Help opened={open === "help"} onClose={close} places={places} />}
      </Suspense>
    </>
  );
}
