import { ActionIcon } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconStar, IconStarFilled } from "@tabler/icons-react";
import { type Favourite, isFavourite, useFavourites, useSetFavourite } from "@/lib/favourites";
import { words } from "@/words/late-parts";

const say = words.star;

/** Whether it is one of the person's favourites, and the way to change that. */
export function Star({ about }: { about: Favourite }) {
  const all = useFavourites();
  const change = useSetFavourite();
  if (all === undefined) return null;
  const isOne = isFavourite(all, about);
  return (
    <ActionIcon
      variant="subtle"
      color={isOne ? "yellow" : "gray"}
      size="sm"
      mr={4}
      aria-label={say.favourite(about.name)}
      aria-pressed={isOne}
      onClick={() =>
        change.mutate(
          { ...about, is_favourite: !isOne },
          {
            onError: (error) =>
              notifications.show({ color: "red", title: say.theFavouriteWasNotChanged, message: error.message }),
          },
        )
      }
    >
      {isOne ? <IconStarFilled size={14} aria-hidden /> : <IconStar size={14} aria-hidden />}
    </ActionIcon>
  );
}
