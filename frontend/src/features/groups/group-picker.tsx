import { Autocomplete } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { api } from "@/lib/api-client";
import { words } from "@/words/groups";

const say = words.groupPicker;

const OFFERED_MAX = 20;
const TYPING_MS = 200;

interface GroupPickerProps {
  clusterId: string;
  except: string;
  value: string;
  onChange: (group: string) => void;
  error: string | undefined;
}

/** A group of the cluster: names that hold what is typed are offered, any other may be typed. */
export function GroupPicker({ clusterId, except, value, onChange, error }: GroupPickerProps) {
  const [typed] = useDebouncedValue(value, TYPING_MS);
  const query = useQuery({
    queryKey: ["groups", clusterId, "offered", typed],
    queryFn: ({ signal }) =>
      api.get("/api/v1/clusters/{cluster_id}/groups", {
        blanks: { cluster_id: clusterId },
        query: { q: typed || undefined, page_size: OFFERED_MAX },
        signal,
      }),
    placeholderData: keepPreviousData,
  });
  const names = (query.data?.data ?? []).map((row) => row.group).filter((name) => name !== except);
  return (
    <Autocomplete
      label={say.groupToCopyFrom}
      description={say.readWhenPlanned}
      size="sm"
      maw={520}
      data={names}
      limit={OFFERED_MAX}
      value={value}
      onChange={onChange}
      error={error}
    />
  );
}
