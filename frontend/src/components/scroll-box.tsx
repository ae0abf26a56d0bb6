import { type ReactNode, useEffect, useRef, useState } from "react";
import { words } from "@/words/late-parts";

const say = words.scrollBox;

/** A wide table that scrolls by itself; reached by Tab while there is something to scroll to. */
export function ScrollBox({ label, children }: { label: string; children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  const [scrolls, setScrolls] = useState(false);
  useEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const look = () => setScrolls(element.scrollWidth > element.clientWidth);
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return (
    <div
      ref={box}
      className="ps-table-wrap"
      {...(scrolls ? { tabIndex: 0, role: "region", "aria-label": say.scrollsSideways(label) } : {})}
    >
      {children}
    </div>
  );
}
