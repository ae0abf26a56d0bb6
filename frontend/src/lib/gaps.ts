/** Lines that are not drawn over times of which nothing is known. */

export type Point = [ms: number, value: number | null];

/** How many times the usual distance two neighbours may be apart and still be joined. */
const JOINED_UP_TO = 2.5;

/** Points in time order, with a null where the next one is much later than usual, which breaks a line. */
export function withGaps(points: Point[]): Point[] {
  const steps = points.slice(1).map(([at], index) => at - (points[index]?.[0] ?? at));
  const usual = median(steps);
  if (usual === null) return points;
  return points.flatMap((point, index) => {
    const step = steps[index];
    const isFar = step !== undefined && step > JOINED_UP_TO * usual;
    return isFar ? [point, [point[0] + step / 2, null] as Point] : [point];
  });
}

function median(values: number[]): number | null {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? null;
}
