/** Renders a count with its noun: `1 user`, `2 users`, `1 entry`, `2 entries`. @param plural Default: the noun with an s */
export function renderCount(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}
