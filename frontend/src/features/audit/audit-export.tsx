import { Button, Menu } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { Notice } from "@/components/notice";
import { ProblemPanel } from "@/components/problem-panel";
import { EXPORT_ROWS_MAX, type ExportFormat, exported } from "@/lib/audit";
import { formatInteger } from "@/lib/format";
import { save } from "@/lib/save";
import type { AuditSearch } from "@/lib/search";

const FORMATS: { format: ExportFormat; label: string }[] = [
  { format: "csv", label: "CSV, for spreadsheets" },
  { format: "ndjson", label: "JSON lines, for programs" },
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
          Export
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
      <Notice tone="ok">The file holds every row that the filters find. The export stands in the audit itself.</Notice>
    ) : (
      <Notice tone="warn" title={`The file holds the newest ${formatInteger(EXPORT_ROWS_MAX)} rows, not all`}>
        Ask for a shorter time and export once for each.
      </Notice>
    );
  }
  return { button, outcome, forget: send.reset };
}
