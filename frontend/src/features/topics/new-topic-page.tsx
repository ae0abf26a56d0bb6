export function NewTopicPage() {
  return null;
}
