export function ReassignPage() {
  return null;
}
