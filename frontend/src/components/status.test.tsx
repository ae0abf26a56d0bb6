import { MantineProvider } from "@mantine/core";
import { render } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { GroupState, LagStatus, OperationStatus, PhaseStatus } from "./status";

const text = (element: React.ReactNode) =>
  render(<MantineProvider env="test">{element}</MantineProvider>).container.querySelector(".ps-status, .ps-muted")
    ?.textContent;

describe("states in words", () => {
  it.each([
    [<PhaseStatus key="a" phase="DEGRADED" />, "Degraded"],
    [<PhaseStatus key="b" phase="NEW_PHASE" />, "new_phase"],
    [<GroupState key="c" state="PreparingRebalance" />, "PreparingRebalance"],
    [<GroupState key="d" state="Odd" />, "Odd"],
    [<LagStatus key="e" status="DATA_LOST" />, "Data lost"],
    [<LagStatus key="f" status="SOME_NEW" />, "some new"],
    [<LagStatus key="g" status={null} />, "–"],
    [<LagStatus key="j" status="STOPPED" reasons={["REWOUND"]} />, "Stopped, rewound"],
    [<LagStatus key="k" status="REWOUND" reasons={["REWOUND", "ODD"]} />, "Rewound"],
    [<LagStatus key="l" status="CAUGHT_UP" reasons={["PARTIAL_COMMIT"]} />, "Caught up, some partitions not started"],
    [<OperationStatus key="h" state="succeeded" />, "Verified"],
    [<OperationStatus key="i" state="odd" />, "odd"],
  ])("%# is never colour alone", (element, label) => {
    expect(text(element)).toBe(label);
  });
});
