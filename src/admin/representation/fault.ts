/** A value that is not the representation it should be, with where and why. */
export class RepresentationFault extends Error {
  override readonly name = 'RepresentationFault';
  /** JSON path, for example `$.clients[3].redirectUri`. */
  readonly path: string;
  /** Set where the fault is a field that the representation does not have. */
  readonly unknown: { field: string; representation: string } | undefined;
  /** What is wrong, without the path. */
  readonly what: string;

  constructor(path: string, what: string, unknown?: { field: string; representation: string }) {
    super(`${path}: ${what}`);
    this.path = path;
    this.what = what;
    this.unknown = unknown;
  }
}

/** The name most like `given`, or undefined where none is near. */
export function nearestName(given: string, names: Iterable<string>): string | undefined {
  if (given.length > 64) return undefined;
  let best: string | undefined;
  let least = Math.max(2, Math.floor(given.length / 3)) + 1;
  for (const name of names) {
    const steps = distance(given.toLowerCase(), name.toLowerCase());
    if (steps < least) [best, least] = [name, steps];
  }
  return best;
}

/** Single-letter edits between two words (Levenshtein). */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++)
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1)));
    row = next;
  }
  return row[to.length]!;
}
