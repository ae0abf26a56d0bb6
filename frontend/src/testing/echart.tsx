interface Line {
  name: string;
  data: [number, number | null][];
  markLine?: { data: { label: { formatter: string } }[] };
}

/** Stands in for the chart: its name, each line with its values, and what is marked. */
interface Drawn {
  option: { series: Line[] };
  label: string;
}

export default function EChart({ option, label }: Drawn) {
  return (
    <div role="img" aria-label={label}>
      {option.series.map((line) => (
        <p key={line.name}>{`${line.name}: ${line.data.map(([, value]) => value ?? "gap").join(" ")}`}</p>
      ))}
      {option.series
        .filter((line) => line.markLine)
        .map((line) => (
          <p key={line.name}>{`marks: ${line.markLine?.data.map(({ label }) => label.formatter).join(" ")}`}</p>
        ))}
    </div>
  );
}
