interface PlainSelectProps {
  label: string;
  options: { value: string; label: string }[];
  value: string | undefined;
  disabled?: boolean;
  onPick: (value: string) => void;
}

/** The browser's own choice of one, for the frame of every page: nothing to load, and at home on a phone. */
export function PlainSelect({ label, options, value, disabled = false, onPick }: PlainSelectProps) {
  return (
    <select
      className="ps-select"
      aria-label={label}
      value={value}
      disabled={disabled}
      onChange={(event) => onPick(event.currentTarget.value)}
    >
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ))}
    </select>
  );
}
