import { Button, Switch } from "@mantine/core";
import { useState } from "react";
import { Empty } from "@/components/empty";
import { Notice } from "@/components/notice";
import { SearchBox } from "@/components/search-box";
import { plural } from "@/lib/format";
import type { FieldProblems } from "@/lib/problem";
import type { ConfigEntry } from "@/lib/types";
import { type Changes, type Edits, elsewhere, judged } from "./edits";
import { grouped } from "./groups";
import { SettingRow } from "./setting-row";

interface ConfigEditorProps {
  configs: ConfigEntry[];
  canEdit: boolean;
  edits: Edits;
  onEdits: (edits: Edits) => void;
  /** What the last plan refused, by field. */
  refused: FieldProblems;
  onPlan: (changes: Changes) => void;
}

/** All configuration of a topic by what it is about; changes are collected, then planned together. */
export function ConfigEditor({ configs, canEdit, edits, onEdits, refused, onPlan }: ConfigEditorProps) {
  const [text, setText] = useState("");
  const [onlySet, setOnlySet] = useState(false);
  const { changes, problems } = judged(edits, configs, refused);
  const wanted = text.trim().toLowerCase();
  const shown = configs.filter(
    (entry) =>
      entry.name in edits ||
      ((entry.name.includes(wanted) || entry.doc.toLowerCase().includes(wanted)) && (!onlySet || !entry.is_default)),
  );
  const drop = (name: string) => onEdits(Object.fromEntries(Object.entries(edits).filter(([key]) => key !== name)));
  return (
    <>
      <div className="ps-toolbar">
        <SearchBox value={text} label="Search configuration" onChange={setText} />
        <Switch
          size="xs"
          label="Only what this topic sets"
          checked={onlySet}
          onChange={(event) => setOnlySet(event.currentTarget.checked)}
        />
      </div>
      {shown.length === 0 ? (
        <Empty title="Nothing matches" />
      ) : (
        <div className="ps-table-wrap">
          <table className="ps-table" aria-label="Configuration">
            <thead>
              <tr>
                <th scope="col">Setting</th>
                <th scope="col">Value</th>
                <th scope="col" className="ps-hide-sm">
                  Comes from
                </th>
                {canEdit && (
                  <th scope="col">
                    <span className="ps-sr">Edit</span>
                  </th>
                )}
              </tr>
            </thead>
            {grouped(shown).map((group) => (
              <tbody key={group.title}>
                <tr>
                  <th scope="rowgroup" colSpan={canEdit ? 4 : 3}>
                    <strong>{group.title}</strong> <span className="ps-hide-sm">{group.about}</span>
                  </th>
                </tr>
                {group.entries.map((entry) => (
                  <SettingRow
                    key={entry.name}
                    entry={entry}
                    edit={edits[entry.name]}
                    problem={problems[entry.name]}
                    canEdit={canEdit}
                    onEdit={(name, typed) => onEdits({ ...edits, [name]: typed })}
                    onDrop={drop}
                  />
                ))}
              </tbody>
            ))}
          </table>
        </div>
      )}
      {elsewhere(refused, edits).map((detail) => (
        <div key={detail} className="ps-card-body">
          <Notice tone="bad">{detail}</Notice>
        </div>
      ))}
      {canEdit && Object.keys(edits).length > 0 && (
        <SaveBar
          count={Object.keys(changes).length}
          wrong={Object.keys(problems).length}
          onDiscard={() => onEdits({})}
          onReview={() => onPlan(changes)}
        />
      )}
    </>
  );
}

interface SaveBarProps {
  count: number;
  wrong: number;
  onDiscard: () => void;
  onReview: () => void;
}

/** Stays at the bottom of the window while something is typed. */
function SaveBar({ count, wrong, onDiscard, onReview }: SaveBarProps) {
  return (
    <div className="ps-save-bar" role="region" aria-label="Changes not saved yet">
      <span role="status">
        {wrong > 0 ? (
          <span className="ps-bad">{plural(wrong, "value is", "values are")} not valid</span>
        ) : count > 0 ? (
          `${plural(count, "change")}, nothing saved yet`
        ) : (
          "Nothing differs from what is set"
        )}
      </span>
      <Button variant="default" onClick={onDiscard}>
        Discard
      </Button>
      <Button disabled={wrong > 0 || count === 0} onClick={onReview}>
        Review {plural(count, "change")}
      </Button>
    </div>
  );
}
