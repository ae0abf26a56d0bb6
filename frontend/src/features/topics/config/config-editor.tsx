import { Button, Switch } from "@mantine/core";
import { useState } from "react";
import { Empty } from "@/components/empty";
import { Notice } from "@/components/notice";
import { SearchBox } from "@/components/search-box";
import type { FieldProblems } from "@/lib/problem";
import type { ConfigEntry } from "@/lib/types";
import { words } from "@/words/topic-settings";
import { type Changes, type Edits, elsewhere, judged } from "./edits";
import { grouped } from "./groups";
import { SettingRow } from "./setting-row";

const say = words.configEditor;

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
        <SearchBox value={text} label={say.searchConfiguration} onChange={setText} />
        <Switch
          size="xs"
          label={say.onlyWhatThisTopicSets}
          checked={onlySet}
          onChange={(event) => setOnlySet(event.currentTarget.checked)}
        />
      </div>
      {shown.length === 0 ? (
        <Empty title={say.nothingMatches} />
      ) : (
        <div className="ps-table-wrap">
          <table className="ps-table" aria-label={say.configuration}>
            <thead>
              <tr>
                <th scope="col">{say.setting}</th>
                <th scope="col">{say.value}</th>
                <th scope="col" className="ps-hide-sm">
                  {say.comesFrom}
                </th>
                {canEdit && (
                  <th scope="col">
                    <span className="ps-sr">{say.edit}</span>
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
    <div className="ps-save-bar" role="region" aria-label={say.changesNotSavedYet}>
      <span role="status">
        {wrong > 0 ? (
          <span className="ps-bad">{say.notValid(wrong)}</span>
        ) : count > 0 ? (
          say.nothingSavedYet(count)
        ) : (
          say.nothingDiffers
        )}
      </span>
      <Button variant="default" onClick={onDiscard}>
        {say.discard}
      </Button>
      <Button disabled={wrong > 0 || count === 0} onClick={onReview}>
        {say.review(count)}
      </Button>
    </div>
  );
}
