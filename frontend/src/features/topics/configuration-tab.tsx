import { useState } from "react";
import type { UseQueryResult } from "@tanstack/react-query";
import { Card, PartView } from "@/components/card";
import { Notice } from "@/components/notice";
import { PlanFlow } from "@/components/plan-flow";
import { useDraft } from "@/lib/draft";
import type { PageModel } from "@/lib/page";
import type { FieldProblems } from "@/lib/problem";
import { words } from "@/words/topic-settings";
import { ConfigEditor } from "./config/config-editor";
import { ConfigHistory } from "./config/config-history";
import type { Changes, Edits } from "./config/edits";

const say = words.configurationTab;

interface ConfigurationTabProps {
  clusterId: string;
  topic: string;
  query: UseQueryResult<PageModel<"topic/{cluster_id}/{topic}">>;
  canEdit: boolean;
}

/** Every setting of a topic, what is typed for it, and who changed what before. */
export function ConfigurationTab({ clusterId, topic, query, canEdit }: ConfigurationTabProps) {
  const [typed, keep] = useDraft<[name: string, text: string | null][]>(`topic-config/${clusterId}/${topic}`, []);
  const [planned, setPlanned] = useState<{ changes: Changes; title: string; isTyped: boolean } | null>(null);
  const [refused, setRefused] = useState<FieldProblems>({});
  const edits: Edits = Object.fromEntries(typed);
  const configs = query.data?.parts.topic.data?.configs ?? null;
  const edit = (next: Edits) => {
    // What the last plan said is of what was typed then.
    const changed = ([path]: [string, string]) => edits[nameOf(path)] === next[nameOf(path)];
    setRefused(Object.fromEntries(Object.entries(refused).filter(changed)));
    keep(Object.entries(next));
  };
  return (
    <div className="ps-stack">
      <Card>
        <PartView query={query} name="topic" rows={10}>
          {(found) =>
            found.configs === null ? (
              <div className="ps-card-body">
                <Notice tone="warn" title={say.settingsNotKnown}>
                  {say.notGivenYet(found.stale_reason ?? say.itIsTriedAgain)}
                </Notice>
              </div>
            ) : (
              <ConfigEditor
                configs={found.configs}
                canEdit={canEdit}
                edits={canEdit ? edits : {}}
                onEdits={edit}
                refused={refused}
                onPlan={(changes) => {
                  setRefused({});
                  setPlanned({ changes, title: say.changeConfiguration, isTyped: true });
                }}
              />
            )
          }
        </PartView>
      </Card>
      <Card title={say.history}>
        <ConfigHistory
          clusterId={clusterId}
          topic={topic}
          configs={configs}
          onPutBack={
            canEdit
              ? (changes) => setPlanned({ changes, title: say.putTheConfigurationBack, isTyped: false })
              : undefined
          }
        />
      </Card>
      <PlanFlow
        request={
          planned && {
            kind: "topic.update",
            cluster_id: clusterId,
            inputs: { name: topic, configs: planned.changes },
          }
        }
        title={planned?.title ?? say.changeConfiguration}
        onClose={() => setPlanned(null)}
        onStarted={() => planned?.isTyped && keep([])}
        onFields={planned?.isTyped ? setRefused : undefined}
      />
    </div>
  );
}

const nameOf = (path: string): string => path.replace(/^configs\//, "");
