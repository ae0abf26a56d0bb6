export function TopicPage() {
  return null;
}
