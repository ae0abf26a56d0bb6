import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconDownload } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { words } from "@/words/late-parts";

const say = words.exportButton;

interface ExportButtonProps {
  /** Keeps the file; whether it has all rows. */
  onExport: () => Promise<boolean>;
}

/** What is searched for as a CSV; says when that is not all, or did not work. */
export function ExportButton({ onExport }: ExportButtonProps) {
  const send = useMutation({
    mutationFn: onExport,
    onSuccess: (isWhole) => {
      if (!isWhole)
        notifications.show({
          color: "yellow",
          message: say.theFileHoldsTheFirst,
        });
    },
    onError: (error) => notifications.show({ color: "red", title: say.thereIsNoFile, message: error.message }),
  });
  return (
    <Button
      variant="default"
      size="xs"
      leftSection={<IconDownload size={15} />}
      loading={send.isPending}
      onClick={() => send.mutate()}
    >
      {say.csv}
    </Button>
  );
}
