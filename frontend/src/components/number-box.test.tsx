import { MantineProvider } from "@mantine/core";
import { act, fireEvent, render, screen } from "@testing-library/react";
import { useState } from "react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { NumberBox } from "./number-box";

const field = () => screen.getByLabelText("Hours") as HTMLInputElement;
/** Key by key, as a person types: the text so far after each. */
const type = (...texts: string[]) => {
  for (const value of texts) fireEvent.change(field(), { target: { value } });
};
const pause = () => act(() => vi.advanceTimersByTime(600));

function show(start: number | undefined, onChange: (value: number | undefined) => void) {
  function Page() {
    const [value, setValue] = useState(start);
    return (
      <MantineProvider env="test">
        <NumberBox
          label="Hours"
          min={1}
          max={744}
          scale={3600}
          value={value}
          onChange={(next) => {
            onChange(next);
            setValue(next);
          }}
        />
        <button onClick={() => setValue(7200)}>back</button>
      </MantineProvider>
    );
  }
  render(<Page />);
}

describe("a number that is kept elsewhere", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("takes decimals, and is sent once after a pause", () => {
    const onChange = vi.fn();
    show(undefined, onChange);
    type("1", "1.", "1.5");
    expect(field().value).toBe("1.5");
    expect(onChange).not.toHaveBeenCalled();
    pause();
    expect(onChange.mock.calls).toEqual([[5400]]);
  });

  it("keeps what is typed over a pause within it", () => {
    const onChange = vi.fn();
    show(undefined, onChange);
    type("1", "1.");
    pause();
    expect(field().value).toBe("1.");
    type("1.3", "1.33", "1.333");
    pause();
    expect(field().value).toBe("1.333");
    expect(onChange.mock.calls).toEqual([[3600], [4799]]);
  });

  it("is sent at once by Enter, and when it is left", () => {
    const onChange = vi.fn();
    show(undefined, onChange);
    type("2.5");
    fireEvent.keyDown(field(), { key: "Enter" });
    expect(onChange.mock.calls).toEqual([[9000]]);
    type("");
    fireEvent.blur(field());
    expect(onChange.mock.calls).toEqual([[9000], [undefined]]);
    pause();
    expect(onChange).toHaveBeenCalledTimes(2);
  });

  it.each(["0", "0.5", "745"])("is marked and not sent where the service would refuse it: %s", (typed) => {
    const onChange = vi.fn();
    show(7200, onChange);
    type(typed);
    fireEvent.blur(field());
    pause();
    expect(field().value).toBe(typed);
    expect(field().getAttribute("aria-invalid")).toBe("true");
    expect(onChange).not.toHaveBeenCalled();
  });

  it("follows what it is kept in", () => {
    show(5400, vi.fn());
    expect(field().value).toBe("1.5");
    fireEvent.click(screen.getByText("back"));
    expect(field().value).toBe("2");
  });
});
