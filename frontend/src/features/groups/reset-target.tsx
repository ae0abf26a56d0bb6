import { FileButton, Button, Group, NumberInput, Select, Stack, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import { words } from "@/words/groups";
import { GroupPicker } from "./group-picker";
import { type Chosen, type Unit, UNITS_MS } from "./reset-strategies";

const say = words.resetTarget;

/** As many characters as a plan takes. */
const FILE_CHARS_MAX = 900_000;

const UNITS = (Object.keys(UNITS_MS) as Unit[]).map((value) => ({ value, label: say.units[value] }));

interface TargetProps {
  clusterId: string;
  group: string;
  chosen: Chosen;
  onChange: (next: Partial<Chosen>) => void;
  /** What the server said of the field, by its name in the inputs. */
  problems: Record<string, string>;
}

/** The field that the chosen strategy needs; nothing where it needs none. */
export function ResetTarget({ clusterId, group, chosen, onChange, problems }: TargetProps) {
  switch (chosen.strategy) {
    case "timestamp":
      return <PointInTime time={chosen.time} onChange={(time) => onChange({ time })} />;
    case "duration":
      return (
        <Group gap="xs" align="flex-end">
          <NumberInput
            label={say.howLongAgo}
            description={say.countedBack}
            size="sm"
            w={180}
            min={0}
            value={chosen.ago}
            onChange={(ago) => onChange({ ago })}
            error={problems.value}
          />
          <Select
            aria-label={say.unitOfHowLongAgo}
            size="sm"
            w={120}
            data={UNITS}
            value={chosen.unit}
            onChange={(unit) => onChange({ unit: unit as Unit })}
            allowDeselect={false}
          />
        </Group>
      );
    case "shift":
    case "offset":
      return (
        <NumberInput
          label={chosen.strategy === "shift" ? say.records : say.offset}
          description={chosen.strategy === "shift" ? say.negativeGoesBack : undefined}
          min={chosen.strategy === "shift" ? undefined : 0}
          size="sm"
          w={220}
          allowDecimal={false}
          value={chosen.number}
          onChange={(number) => onChange({ number })}
          error={problems.value}
        />
      );
    case "file":
      return <OffsetFile text={chosen.file} onChange={(file) => onChange({ file })} problem={problems.file} />;
    case "copy":
      return (
        <GroupPicker
          clusterId={clusterId}
          except={group}
          value={chosen.fromGroup}
          onChange={(fromGroup) => onChange({ fromGroup })}
          error={problems.from_group}
        />
      );
    default:
      return null;
  }
}

function PointInTime({ time, onChange }: { time: string; onChange: (time: string) => void }) {
  const timestamp = new Date(time).getTime();
  const isNone = Number.isNaN(timestamp);
  const utc = isNone ? undefined : `${new Date(timestamp).toISOString().slice(0, 16)}Z`;
  return (
    <TextInput
      type="datetime-local"
      label={say.timeOfThisZone}
      description={utc}
      size="sm"
      w={260}
      maw="100%"
      value={time}
      onChange={(event) => onChange(event.currentTarget.value)}
      error={isNone ? say.aDateAndATime : undefined}
    />
  );
}

interface OffsetFileProps {
  text: string;
  onChange: (text: string) => void;
  problem: string | undefined;
}

/** Pasted, or read from a file of this computer. */
function OffsetFile({ text, onChange, problem }: OffsetFileProps) {
  const [unread, setUnread] = useState("");
  const read = async (file: File | null) => {
    if (!file) return;
    setUnread("");
    if (file.size > FILE_CHARS_MAX) {
      setUnread(say.fileTooLarge(file.name, FILE_CHARS_MAX / 1000));
      return;
    }
    try {
      onChange(await file.text());
    } catch {
      setUnread(say.fileNotRead(file.name));
    }
  };
  return (
    <Stack gap="xs" maw={520}>
      <Textarea
        label={say.offsets}
        description={say.howAFileIsWritten}
        placeholder={say.fileExample}
        classNames={{ input: "ps-mono" }}
        autosize
        minRows={4}
        maxRows={12}
        maxLength={FILE_CHARS_MAX}
        spellCheck={false}
        value={text}
        onChange={(event) => onChange(event.currentTarget.value)}
        error={problem ?? (unread || undefined)}
      />
      <FileButton onChange={(file) => void read(file)} accept=".csv,text/csv,text/plain">
        {(props) => (
          <Button {...props} variant="default" size="xs" style={{ alignSelf: "flex-start" }}>
            {say.readAFile}
          </Button>
        )}
      </FileButton>
    </Stack>
  );
}
