import { Button, Menu } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { Notice } from "@/components/notice";
import { ProblemPanel } from "@/components/problem-panel";
import { EXPORT_ROWS_MAX, type ExportFormat, exported } from "@/lib/audit";
import { save } from "@/lib/save";
import type { AuditSearch } from "@/lib/search";
import { words } from "@/words/audit";

const say = words.auditExport;

const FORMATS: { format: ExportFormat; label: string }[] = [
  { format: "csv", label: say.csvForSpreadsheets },
  { format: "ndjson", label: say.jsonLinesForPrograms },
];

/** What the filters find as a file: the button, and what came of it. */
export function useExport(search: AuditSearch) {
  const send = useMutation({
    mutationFn: async (format: ExportFormat) => {
      const { blob, isWhole } = await exported(search, format);
      save(blob, `audit-${new Date().toISOString().slice(0, 10)}.${format}`);
      return isWhole;
    },
  });
  const button = (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" size="xs" leftSection={<IconDownload size={15} />} loading={send.isPending}>
          {say.exportWord}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {FORMATS.map(({ format, label }) => (
          <Menu.Item key={format} onClick={() => send.mutate(format)}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
  let outcome = null;
  if (send.isError) outcome = <ProblemPanel error={send.error} />;
  else if (send.isSuccess) {
    outcome = send.data ? (
      <Notice tone="ok">{say.theFileHoldsEveryRow}</Notice>
    ) : (
      <Notice tone="warn" title={say.theFileHoldsTheNewest(EXPORT_ROWS_MAX)}>
        {say.askForAShorterTime}
      </Notice>
    );
  }
  return { button, outcome, forget: send.reset };
}
