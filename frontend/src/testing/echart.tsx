/** Stands in for the chart: its name, and each line with its values. */
interface Drawn {
  option: { series: { name: string; data: [number, number | null][] }[] };
  label: string;
}

export default function EChart({ option, label }: Drawn) {
  return (
    <div role="img" aria-label={label}>
      {option.series.map((line) => (
        <p key={line.name}>{`${line.name}: ${line.data.map(([, value]) => value ?? "gap").join(" ")}`}</p>
      ))}
    </div>
  );
}
