/** Chooses topics of a cluster by typing a part of the name; the server searches. */
import { MultiSelect, type MultiSelectProps, Select, type SelectProps } from "@mantine/core";
import { useState } from "react";
import { useTopicSearch } from "@/lib/topic-search";
import { words } from "@/words/late-parts";

const say = words.topicSelect;

interface Searched {
  clusterId: string;
}
type Own = "data" | "searchable" | "searchValue" | "onSearchChange" | "filter" | "nothingFoundMessage";

function useOffered(clusterId: string, text: string) {
  const query = useTopicSearch(clusterId, text);
  const names = query.data?.data.map((topic) => topic.name) ?? [];
  const more = query.data?.page.has_more ?? false;
  const nothing = query.isPending
    ? say.searching
    : query.isError
      ? say.topicsCouldNotBeSearched(query.error.message)
      : say.noTopicMatches;
  return { names, more, nothing };
}

/** What is found, in the server's order: it has been searched for already. */
const asFound: SelectProps["filter"] = ({ options }) => options;

export function TopicSelect({ clusterId, value, ...more }: Searched & Omit<SelectProps, Own>) {
  const [text, setText] = useState("");
  // The name that is chosen stands in the field: it is no search.
  const offered = useOffered(clusterId, text === value ? "" : text);
  return (
    <Select
      {...more}
      value={value}
      data={[...new Set([...(value ? [value] : []), ...offered.names])]}
      searchable
      searchValue={text}
      onSearchChange={setText}
      filter={asFound}
      nothingFoundMessage={offered.nothing}
      description={offered.more ? say.thereAreMoreTypeA : more.description}
    />
  );
}

export function TopicMultiSelect({ clusterId, value = [], ...more }: Searched & Omit<MultiSelectProps, Own>) {
  const [text, setText] = useState("");
  const offered = useOffered(clusterId, text);
  return (
    <MultiSelect
      {...more}
      value={value}
      data={[...new Set([...value, ...offered.names])]}
      searchable
      searchValue={text}
      onSearchChange={setText}
      filter={asFound}
      nothingFoundMessage={offered.nothing}
      description={offered.more ? say.thereAreMoreTypeA : more.description}
    />
  );
}
