import { Pagination } from "@mantine/core";
import { words } from "@/words/late-parts";

const say = words.pager;

interface PagerProps {
  pages: number;
  /** From 1. */
  page: number;
  onPage: (page: number) => void;
}

export default function Pager({ pages, page, onPage }: PagerProps) {
  return (
    <Pagination
      size="xs"
      total={pages}
      value={page}
      onChange={onPage}
      getControlProps={(control) => ({ "aria-label": say.page(control) })}
    />
  );
}
