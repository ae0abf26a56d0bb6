export function NewClusterPage() {
  return null;
}
