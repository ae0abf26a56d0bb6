import { Button, Menu } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconDownload } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { api } from "@/lib/api-client";
import { toProblem } from "@/lib/problem";
import type { MessageSearch } from "@/lib/search";
import { words } from "@/words/messages";

const say = words.exportMenu;

/** As many as one file may hold. */
const RECORDS_MAX = 10_000;
const COMPLETE = "X-Penstock-Export-Complete";

/** Hands a file to the browser. */
function save(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

interface ExportMenuProps {
  clusterId: string;
  topic: string;
  search: MessageSearch;
}

/** What the search finds as a file, by the same filters and masks. */
export function ExportMenu({ clusterId, topic, search }: ExportMenuProps) {
  const download = useMutation({
    mutationFn: async (format: "csv" | "ndjson") => {
      const query = { ...search };
      // A tail has no end: its file is of what is there.
      delete query.tail;
      const { blob, headers } = await api.download("/api/v1/clusters/{cluster_id}/topics/{name}/messages/export", {
        blanks: { cluster_id: clusterId, name: topic },
        query: { ...query, format, records: RECORDS_MAX },
      });
      save(blob, `${topic}.${format}`);
      return headers.get(COMPLETE) === "true";
    },
    onSuccess: (isComplete) =>
      notifications.show({
        message: isComplete ? say.holdsAll : say.holdsAPart,
      }),
    onError: (error) => {
      const problem = toProblem(error);
      notifications.show({ color: "red", title: problem.title, message: problem.detail ?? "" });
    },
  });
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" leftSection={<IconDownload size={15} />} loading={download.isPending}>
          {say.exportWord}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => download.mutate("csv")}>{say.csv}</Menu.Item>
        <Menu.Item onClick={() => download.mutate("ndjson")}>{say.jsonLines}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
