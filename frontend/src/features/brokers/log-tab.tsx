import { ActionIcon, Button, Switch } from "@mantine/core";
import { IconFileText, IconLock, IconRefresh, IconServerOff } from "@tabler/icons-react";
import { useLayoutEffect, useRef, useState } from "react";
import { Card, Lines } from "@/components/card";
import { Copy } from "@/components/copy";
import { Empty } from "@/components/empty";
import { Hint } from "@/components/hint";
import { Notice } from "@/components/notice";
import { PlainSelect } from "@/components/plain-select";
import { ProblemPanel } from "@/components/problem-panel";
import { RelTime } from "@/components/rel-time";
import { linesOf, type LogLevel, type LogLine, type LogPage, LOOKS_MAX, useBrokerLog } from "@/lib/broker-log";
import { formatBytes } from "@/lib/format";
import { onOneLine } from "@/lib/hostile";
import { LOG_LEVELS } from "@/lib/search";
import type { BrokerDetail } from "@/lib/types";
import { words } from "@/words/brokers";

const say = words.logTab;

interface LogTabProps {
  clusterId: string;
  broker: BrokerDetail;
  level: LogLevel | undefined;
  onLevel: (level: LogLevel | undefined) => void;
}

/** The end of the broker's log, for those who may see it, where an agent of ours runs the broker. */
export function LogTab(props: LogTabProps) {
  const { broker } = props;
  if (!broker.managed)
    return (
      <Card>
        <Empty icon={<IconServerOff size={20} />} title={say.runByOthers}>
          {say.whoeverRunsTheHostHasIt}
        </Empty>
      </Card>
    );
  if (!broker.may_change)
    return (
      <Card>
        <Empty icon={<IconLock size={20} />} title={say.notShownToYou}>
          {say.whoMaySeeIt}
        </Empty>
      </Card>
    );
  return <LogTail {...props} />;
}

const LEVEL_OPTIONS = [
  { value: "", label: say.allLines },
  ...LOG_LEVELS.map((level) => ({ value: level, label: level === "CRITICAL" ? level : say.andAbove(level) })),
];

function LogTail({ clusterId, broker, level, onLevel }: LogTabProps) {
  const { query, again } = useBrokerLog(clusterId, broker.id, level);
  const [wraps, setWraps] = useState(false);
  const pages = query.data?.pages ?? [];
  const lines = linesOf(pages);
  return (
    <Card
      title={say.endOfTheLog}
      aside={
        <>
          <PlainSelect
            label={say.level}
            options={LEVEL_OPTIONS}
            value={level ?? ""}
            onPick={(value) => onLevel(LOG_LEVELS.find((known) => known === value))}
          />
          <Switch
            size="xs"
            label={say.wrap}
            checked={wraps}
            onChange={(event) => setWraps(event.currentTarget.checked)}
          />
          {lines.length > 0 && <Copy value={lines.map((line) => line.text).join("\n")} label={say.copyTheLinesShown} />}
          <Hint label={say.lookAgain}>
            <ActionIcon
              onClick={again}
              aria-label={say.lookAgain}
              loading={query.isFetching && !query.isFetchingNextPage}
            >
              <IconRefresh size={15} />
            </ActionIcon>
          </Hint>
        </>
      }
    >
      {query.isPending && <Lines rows={10} />}
      {query.isError && (
        <div className="ps-card-body">
          <ProblemPanel
            error={query.error}
            onRetry={query.isFetchNextPageError ? () => void query.fetchNextPage() : again}
          />
        </div>
      )}
      {query.isError && lines.length > 0 && (
        <div className="ps-card-body">
          <Notice tone="warn">{say.belowAsItWas(<RelTime at={query.dataUpdatedAt} />)}</Notice>
        </div>
      )}
      {query.data && (
        <>
          <Earlier
            pages={pages}
            level={level}
            hasMore={query.hasNextPage}
            isAsking={query.isFetchingNextPage}
            onMore={() => void query.fetchNextPage()}
          />
          {lines.length > 0 && <LogText lines={lines} wraps={wraps} asOf={pages[0]?.answered_at_ms ?? null} />}
          <LogFacts page={pages[0]} shown={lines.length} at={query.dataUpdatedAt} />
        </>
      )}
    </Card>
  );
}

interface EarlierProps {
  pages: LogPage[];
  level: LogLevel | undefined;
  hasMore: boolean;
  isAsking: boolean;
  onMore: () => void;
}

/** What is before the lines shown: more of the log, its beginning, or a part without any such line. */
function Earlier({ pages, level, hasMore, isAsking, onMore }: EarlierProps) {
  const isEmpty = pages.every((page) => page.data.length === 0);
  if (isEmpty && !hasMore)
    return (
      <Empty icon={<IconFileText size={20} />} title={level ? say.noLineOfLevel(level) : say.theLogIsEmpty}>
        {level ? say.allOfTheLogWasLookedAt : say.nothingWrittenYet}
      </Empty>
    );
  return (
    <div className="ps-legend" style={{ flexWrap: "wrap", alignItems: "center" }}>
      {isEmpty && <span>{say.noSuchLineSoFar}</span>}
      {hasMore && (
        <Button size="compact-xs" variant="default" loading={isAsking} onClick={onMore}>
          {isEmpty ? say.lookFurtherBack : say.showEarlierLines}
        </Button>
      )}
      {!hasMore && <span>{pages.length >= LOOKS_MAX ? say.restIsReadOnTheHost : say.beginningOfWhatTheHostKeeps}</span>}
    </div>
  );
}

const TONES: Partial<Record<NonNullable<LogLine["level"]>, string>> = {
  WARNING: "ps-warn",
  ERROR: "ps-bad",
  CRITICAL: "ps-bad",
};

/** Lines as text, whatever they hold; the newest is seen first, at the end. */
function LogText({ lines, wraps, asOf }: { lines: LogLine[]; wraps: boolean; asOf: number | null }) {
  const box = useRef<HTMLPreElement>(null);
  useLayoutEffect(() => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [asOf]);
  return (
    // Long lines are scrolled to, so the keyboard must be able to reach them.
    <pre
      ref={box}
      className="ps-code"
      // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- WCAG 2.1.1: scrollable region
      tabIndex={0}
      aria-label={say.linesOfTheLog}
      style={{
        margin: 12,
        maxHeight: "60vh",
        overflow: "auto",
        whiteSpace: wraps ? "pre-wrap" : "pre",
        overflowWrap: wraps ? "anywhere" : undefined,
      }}
    >
      {lines.map((line, place) => (
        // Lines may be alike, and their places from the end stay what they are.
        <span key={lines.length - place} className={line.level ? TONES[line.level] : undefined}>
          {onOneLine(line.text)}
          {line.cut && <span className="ps-muted"> … {say.cut}</span>}
          {"\n"}
        </span>
      ))}
    </pre>
  );
}

function LogFacts({ page, shown, at }: { page: LogPage | undefined; shown: number; at: number }) {
  if (!page) return null;
  return (
    <div className="ps-legend" style={{ flexWrap: "wrap" }}>
      <span>{say.readOn(<RelTime at={at} />, shown)}</span>
      <span>{say.lastWritten(<RelTime at={page.written_at_ms} fallback={say.atAnUnknownTime} />)}</span>
      <span title={page.size_bytes === null ? undefined : say.exactBytes(page.size_bytes)}>
        {page.size_bytes === null ? say.hostKeepsUnknownSize : say.hostKeeps(formatBytes(page.size_bytes))}
      </span>
    </div>
  );
}
