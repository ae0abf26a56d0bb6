import { ActionIcon, Button, Menu, MultiSelect, Select, Stack, TextInput } from "@mantine/core";
import { IconDots, IconEdit, IconEyeOff, IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { createColumnHelper } from "@tanstack/react-table";
import { useState } from "react";
import { Card } from "@/components/card";
import { DataTable } from "@/components/data-table";
import { Empty } from "@/components/empty";
import { FormModal } from "@/components/form-modal";
import { ListView } from "@/components/list-view";
import { DeleteItem } from "@/components/more-menu";
import { useChange } from "@/lib/administration";
import { api } from "@/lib/api-client";
import { patternFault } from "@/lib/grant-words";
import type { Mask, MaskInput } from "@/lib/types";
import { words } from "@/words/settings";

const say = words.masksTab;

const useMasks = () =>
  useQuery({
    queryKey: ["page", "message-masks"],
    queryFn: ({ signal }) => api.get("/api/v1/message-masks", { query: { page_size: 500 }, signal }),
  });

const MATCHES = [
  { value: "any", label: say.allTopics },
  { value: "literal", label: say.theTopic },
  { value: "prefix", label: say.topicsThatBeginWith },
] as const;
const PARTS = [
  { value: "value", label: say.theValue },
  { value: "key", label: say.theKey },
  { value: "header", label: say.headers },
] as const;
const ACTS = [
  { value: "replace", label: say.replacedBy },
  { value: "remove", label: say.removed },
  { value: "hash", label: say.aHashEqualValuesStay },
] as const;
const ROLES = [
  { value: "owner", label: say.owners },
  { value: "operator", label: say.operators },
  { value: "message-reader", label: say.messageReaders },
] as const;

const labelOf = (choices: ReadonlyArray<{ value: string; label: string }>, value: string) =>
  choices.find((item) => item.value === value)?.label ?? value;

/** "customer.email of the value" */
function whatOf({ part, path }: Mask): string {
  if (path === "") return part === "header" ? say.allHeaders : say.allOf(labelOf(PARTS, part));
  return part === "header" ? say.header(path) : say.ofWord(path, labelOf(PARTS, part));
}
const topicsOf = ({ topics: { match, name } }: Mask): string =>
  match === "any" ? say.allTopics : match === "prefix" ? `${name}…` : name;
const seenBy = ({ see_through: roles }: Mask): string =>
  roles.length === 0 ? say.nobody : roles.map((role) => labelOf(ROLES, role)).join(", ");

const NEW: MaskInput = {
  topics: { match: "prefix", name: "" },
  part: "value",
  path: "",
  act: "replace",
  see_through: ["owner"],
  note: "",
};
const column = createColumnHelper<Mask>();
type Form = { kind: "edit"; mask?: Mask } | { kind: "delete"; mask: Mask } | null;

/** What of messages is hidden, where, and from whom. */
export function MasksTab({ isOwner }: { isOwner: boolean }) {
  const [form, setForm] = useState<Form>(null);
  const masks = useMasks();
  const close = () => setForm(null);
  const columns = [
    column.accessor(topicsOf, {
      id: "topics",
      header: say.topics,
      cell: ({ getValue }) => <span className="ps-mono">{getValue()}</span>,
    }),
    column.accessor(whatOf, { id: "what", header: say.hidden }),
    column.accessor((row) => labelOf(ACTS, row.act), { id: "act", header: say.shownAs, meta: { hideBelow: "sm" } }),
    column.accessor(seenBy, { id: "seen", header: say.seenBy, meta: { hideBelow: "sm" } }),
    column.accessor("note", { header: say.note, meta: { hideBelow: "md" } }),
    column.display({
      id: "actions",
      header: () => <span className="ps-sr">{say.actions}</span>,
      meta: { align: "right" },
      cell: ({ row }) =>
        isOwner && (
          <Menu position="bottom-end">
            <Menu.Target>
              <ActionIcon size="sm" aria-label={say.actionsForTheMaskOf(whatOf(row.original))}>
                <IconDots size={16} />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item
                leftSection={<IconEdit size={15} />}
                onClick={() => setForm({ kind: "edit", mask: row.original })}
              >
                {say.change}
              </Menu.Item>
              <DeleteItem onClick={() => setForm({ kind: "delete", mask: row.original })}>{say.deleteMask}</DeleteItem>
            </Menu.Dropdown>
          </Menu>
        ),
    }),
  ];
  return (
    <>
      <Card
        title={say.messageMasks}
        aside={
          isOwner && (
            <Button size="xs" leftSection={<IconPlus size={15} />} onClick={() => setForm({ kind: "edit" })}>
              {say.newMask}
            </Button>
          )
        }
      >
        <ListView query={masks}>
          {(rows) => (
            <DataTable
              label={say.messageMasks}
              rows={rows}
              columns={columns}
              rowId={(row) => row.id}
              empty={
                <Empty icon={<IconEyeOff size={20} />} title={say.nothingIsHidden}>
                  {say.whoeverMayReadATopics}
                </Empty>
              }
            />
          )}
        </ListView>
      </Card>
      {form?.kind === "edit" && <MaskForm mask={form.mask} onClose={close} />}
      {form?.kind === "delete" && <DeleteForm mask={form.mask} onClose={close} />}
    </>
  );
}

function MaskForm({ mask, onClose }: { mask?: Mask; onClose: () => void }) {
  const [given, setGiven] = useState<MaskInput>(
    mask
      ? {
          topics: mask.topics,
          part: mask.part,
          path: mask.path,
          act: mask.act,
          see_through: mask.see_through,
          note: mask.note,
        }
      : NEW,
  );
  const change = (part: Partial<MaskInput>) => setGiven((old) => ({ ...old, ...part }));
  const save = useChange(
    (body: MaskInput) =>
      mask
        ? api.put("/api/v1/message-masks/{mask_id}", { blanks: { mask_id: mask.id }, body, ifMatch: mask.etag })
        : api.post("/api/v1/message-masks", { body }),
    () => say.theMaskHoldsFromThe,
  );
  const fault = patternFault(given.topics);
  return (
    <FormModal
      opened
      title={mask ? say.changeMask : say.newMask}
      submit={mask ? say.save : say.makeMask}
      onClose={onClose}
      onSubmit={() => save.mutate(given, { onSuccess: onClose })}
      ready={fault === ""}
      pending={save.isPending}
      error={save.error}
    >
      <Stack gap="sm">
        <Select
          label={say.of2}
          data={[...MATCHES]}
          value={given.topics.match}
          allowDeselect={false}
          onChange={(match) => {
            const found = MATCHES.find((item) => item.value === match)?.value;
            if (found) change({ topics: { match: found, name: found === "any" ? "" : given.topics.name } });
          }}
        />
        {given.topics.match !== "any" && (
          <TextInput
            label={say.name}
            value={given.topics.name}
            error={given.topics.name === "" ? undefined : fault}
            onChange={(event) => change({ topics: { ...given.topics, name: event.currentTarget.value } })}
          />
        )}
        <Select
          label={say.hideIn}
          data={[...PARTS]}
          value={given.part}
          allowDeselect={false}
          onChange={(part) => {
            const found = PARTS.find((item) => item.value === part)?.value;
            if (found) change({ part: found });
          }}
        />
        <TextInput
          label={given.part === "header" ? say.header2 : say.field}
          description={given.part === "header" ? say.itsNameEmptyAllHeaders : say.asCustomerEmailForEach}
          value={given.path ?? ""}
          onChange={(event) => change({ path: event.currentTarget.value })}
        />
        <Select
          label={say.shownAs}
          data={[...ACTS]}
          value={given.act}
          allowDeselect={false}
          onChange={(act) => {
            const found = ACTS.find((item) => item.value === act)?.value;
            if (found) change({ act: found });
          }}
        />
        <MultiSelect
          label={say.seenAllTheSameBy}
          data={[...ROLES]}
          value={given.see_through ?? []}
          onChange={(chosen) =>
            change({ see_through: ROLES.map((role) => role.value).filter((role) => chosen.includes(role)) })
          }
        />
        <TextInput
          label={say.note}
          value={given.note ?? ""}
          maxLength={200}
          onChange={(event) => change({ note: event.currentTarget.value })}
        />
      </Stack>
    </FormModal>
  );
}

function DeleteForm({ mask, onClose }: { mask: Mask; onClose: () => void }) {
  const remove = useChange(() =>
    api.delete("/api/v1/message-masks/{mask_id}", { blanks: { mask_id: mask.id }, ifMatch: mask.etag }),
  );
  return (
    <FormModal
      opened
      danger
      title={say.deleteMask}
      submit={say.deleteMask}
      onClose={onClose}
      onSubmit={() => remove.mutate(undefined, { onSuccess: onClose })}
      pending={remove.isPending}
      error={remove.error}
    >
      <p style={{ margin: 0 }}>{say.whoeverMayReadTheMessages(topicsOf(mask), whatOf(mask))}</p>
    </FormModal>
  );
}
