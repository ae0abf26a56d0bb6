import { Button } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { useId, useState } from "react";
import { EventList } from "@/components/event-list";
import { type ChartRange, type ChartSubject, useChartEvents } from "@/lib/chart-events";
import type { TimelineEvent } from "@/lib/types";
import { words } from "@/words/charts";

const say = words.chartEvents;

const NONE: TimelineEvent[] = [];

/** Events of a chart while somebody wants to see them: one choice for every chart, kept by the browser. */
export function useShownEvents(about: ChartSubject | undefined, range: ChartRange | null) {
  const [shown, setShown] = useLocalStorage({
    key: "penstock-chart-events",
    defaultValue: true,
    getInitialValueInEffect: false,
  });
  const query = useChartEvents(about, range, shown);
  return {
    shown,
    setShown,
    events: (shown ? query.data?.data : undefined) ?? NONE,
    hasMore: query.data?.page.has_more === true,
    isKnown: query.data !== undefined,
    hasFailed: query.isError,
  };
}

interface ChartEventsProps {
  happened: ReturnType<typeof useShownEvents>;
  /** The chart's own name. */
  label: string;
}

/** The marks of a chart as a list, for eyes and screen readers, and the switch that hides them on all charts. */
export function ChartEvents({ happened, label }: ChartEventsProps) {
  const [open, setOpen] = useState(false);
  const list = useId();
  const { shown, setShown, events, hasMore, isKnown, hasFailed } = happened;
  return (
    <div className="ps-chart-events">
      {shown && events.length > 0 && (
        <Button
          variant="subtle"
          size="compact-xs"
          aria-expanded={open}
          aria-controls={list}
          onClick={() => setOpen(!open)}
        >
          {say.inThisTime(hasMore ? say.theNewestEvents(events.length) : say.events(events.length))}
        </Button>
      )}
      {shown && isKnown && !hasFailed && events.length === 0 && (
        <span className="ps-muted">{say.noEventsInThisTime}</span>
      )}
      {shown && hasFailed && <span className="ps-warn">{say.eventsCouldNotBeRead}</span>}
      <Button
        variant="subtle"
        size="compact-xs"
        ml="auto"
        aria-pressed={shown}
        title={say.onEveryChart}
        onClick={() => setShown(!shown)}
      >
        {shown ? say.hideEvents : say.showEvents}
      </Button>
      <div id={list} hidden={!open || !shown}>
        {open && shown && <EventList events={events} label={say.eventsIn(label)} numbered />}
      </div>
    </div>
  );
}
