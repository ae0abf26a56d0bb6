import { Autocomplete, type AutocompleteProps } from "@mantine/core";
import { useUserNames } from "@/lib/user-search";

interface UserBoxProps extends Omit<AutocompleteProps, "data" | "filter" | "value"> {
  clusterId: string;
  value: string;
  /** What stands before each name that is offered. */
  prefix?: string;
}

/** What the server has found, in its order. */
const asFound: AutocompleteProps["filter"] = ({ options }) => options;

/** A user's name, typed or chosen of those that the server finds as one types; any other may be typed too. */
export function UserBox({ clusterId, value, prefix = "", ...more }: UserBoxProps) {
  const names = useUserNames(clusterId, value);
  return <Autocomplete {...more} value={value} data={names.map((name) => prefix + name)} filter={asFound} />;
}
