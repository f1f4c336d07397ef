export function TaskPage(_props: { id: number }) {
  return null;
}
