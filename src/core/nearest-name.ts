/** Maximum number of characters to compare. The rest of a longer name is ignored. */
const COMPARED = 64;

/**
 * Returns the name that differs least from `given`, for "did you mean …?". Returns undefined if every name differs in
 * more than a third of its characters. Ignores case.
 */
export function nearestName(given: string, names: Iterable<string>): string | undefined {
  let nearest: string | undefined;
  let fewest = Math.max(2, Math.ceil(Math.min(given.length, COMPARED) / 3)) + 1;
  for (const name of names) {
    const edits = countEdits(given.toLowerCase(), name.toLowerCase());
    if (edits < fewest) [nearest, fewest] = [name, edits];
  }
  return nearest;
}

/** The Levenshtein distance, computed one row at a time. */
function countEdits(given: string, name: string): number {
  const left = given.slice(0, COMPARED);
  const right = name.slice(0, COMPARED);
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
