import { Button, Menu } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { type Asked, fileAddress, type Told } from "@/lib/insights";
import { isRefusal } from "@/lib/problem";
import { words } from "@/words/charts";
import { Card, Lines } from "./card";
import { Empty } from "./empty";
import { Notice } from "./notice";
import { ProblemPanel } from "./problem-panel";
import { Quantity } from "./quantity";
import { RelTime } from "./rel-time";

const say = words.insightCard;

export interface FileSource {
  address: string;
  blanks: Record<string, string>;
  /** What was asked, so that the file holds what is shown. */
  asked?: Asked;
}

interface InsightCardProps<Row> {
  title: string;
  query: UseQueryResult<Told<Row>>;
  /** Controls beside the title. */
  aside?: ReactNode;
  /** Why there may be no rows, in one sentence. */
  empty: string;
  /** Where the answer comes from, as a file too. */
  file?: FileSource;
  /** What it means that the answer is not complete; by default: too many rows. */
  partial?: string;
  children: (rows: Row[], told: Told<Row>) => ReactNode;
}

/** One analysis: awaited, failed, refused, without rows, or its rows with their age and how much of the range was seen. */
export function InsightCard<Row>({
  title,
  query,
  aside,
  empty,
  file,
  partial = say.notAllRowsAreShown,
  children,
}: InsightCardProps<Row>) {
  const told = query.data;
  let body: ReactNode;
  if (query.isPending) body = <Lines rows={4} />;
  else if (!told) {
    body = (
      <div className="ps-card-body">
        <ProblemPanel error={query.error} onRetry={isRefusal(query) ? undefined : () => void query.refetch()} />
      </div>
    );
  } else if (told.data.length === 0) {
    body = <Empty title={told.as_of === null ? say.notKnownYet : say.nothingInThisRange}>{empty}</Empty>;
  } else body = children(told.data, told);
  return (
    <Card
      title={title}
      aside={
        <>
          {aside}
          {file && told && told.data.length > 0 && <Files {...file} />}
        </>
      }
    >
      {told && query.isError && (
        <div className="ps-card-body">
          <Notice tone="warn">{say.shownAsItWasIt}</Notice>
        </div>
      )}
      {told && !told.complete && (
        <div className="ps-card-body">
          <Notice tone="warn">{partial}</Notice>
        </div>
      )}
      {body}
      {told && told.as_of !== null && <Provenance told={told} />}
    </Card>
  );
}

/** How old it is, how much of the range had samples, and by which formula. */
function Provenance<Row>({ told }: { told: Told<Row> }) {
  const seen = told.seen_share;
  return (
    <div className="ps-legend ps-facts">
      <span>{say.asOf(<RelTime at={told.as_of} />)}</span>
      {seen !== undefined && (
        <span className={seen !== null && seen < 0.9 ? "ps-warn" : undefined}>
          {seen === null ? say.howMuchWasSeenIs : say.ofTheRangeWasSeen(<Quantity of="share" value={seen} />)}
        </span>
      )}
      <span>{say.formula(told.formula_version)}</span>
    </div>
  );
}

function Files({ address, blanks, asked }: FileSource) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" size="xs" leftSection={<IconDownload size={14} />}>
          {say.exportWord}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item component="a" href={fileAddress(address, blanks, "csv", asked)} download>
          {say.csv}
        </Menu.Item>
        <Menu.Item component="a" href={fileAddress(address, blanks, "parquet", asked)} download>
          {say.parquet}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
