/** The known name with the fewest edits from `name`, or undefined where none is near (a third of its length). */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  let best: { name: string; edits: number } | undefined;
  for (const candidate of known) {
    const edits = countEdits(name.toLowerCase(), candidate.toLowerCase());
    if (best === undefined || edits < best.edits) best = { name: candidate, edits };
  }
  const limit = Math.max(2, Math.ceil(name.length / 3));
  return best !== undefined && best.edits <= limit ? best.name : undefined;
}

/** Levenshtein distance, one row at a time. Long input counts by its first 64 characters. */
function countEdits(from: string, to: string): number {
  const left = from.slice(0, 64);
  const right = to.slice(0, 64);
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i++) {
    const next = [i];
    for (let j = 1; j <= right.length; j++) {
      const same = left[i - 1] === right[j - 1] ? 0 : 1;
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + same));
    }
    row = next;
  }
  return row[right.length]!;
}
