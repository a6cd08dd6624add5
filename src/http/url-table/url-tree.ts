/** The entry for a path, and the values of the path's `:name` and `*` segments in order. */
export interface FoundEntry<T> {
  entry: T;
  values: readonly string[];
}

interface Step<T> {
  /** The next steps for literal segments, by their text. */
  named: Map<string, Step<T>>;
  /** The next step for any other segment, which matches `:name`. */
  any: Step<T> | undefined;
  /** The entry of the URL that ends here. */
  here: T | undefined;
  /** The entry of the URL pattern that ends at this step with `*`, which matches one or more further segments. */
  rest: T | undefined;
}

/** Maximum length in characters of a segment that matches `:name`. A longer segment does not match. */
const MAX_SEGMENT = 2048;

/**
 * Finds the entry of a path, segment by segment. A literal segment has precedence over `:name`, and `:name` over `*`.
 * Each segment is decoded separately, so `%2F` does not divide a path (RFC 3986 §2.2). A slash at the end of the path
 * is ignored.
 *
 * It replaces Fastify's own router, which compiles code for each URL. That took a third of the startup time.
 */
export class UrlTree<T> {
  readonly #root: Step<T> = newStep();
  readonly #serves: (entry: T, method: string) => boolean;

  /** @param serves whether an entry handles a method; the search continues if it does not */
  constructor(serves: (entry: T, method: string) => boolean) {
    this.#serves = serves;
  }

  /**
   * Returns the entry of a URL. Calls `create` if the URL does not have one yet. `url` is a path of `text`, `:name`
   * and, at the end, `*`. URLs that differ only in their parameter names share one entry.
   */
  getOrAdd(url: string, create: () => T): T {
    let step = this.#root;
    for (const segment of url.split('/')) {
      if (segment === '*') {
        step.rest ??= create();
        return step.rest;
      }
      if (segment.startsWith(':')) {
        step.any ??= newStep();
        step = step.any;
      } else if (segment !== '') {
        let below = step.named.get(segment);
        if (below === undefined) {
          below = newStep();
          step.named.set(segment, below);
        }
        step = below;
      }
    }
    step.here ??= create();
    return step.here;
  }

  /** @throws URIError for a broken percent escape */
  find(method: string, rawUrl: string): FoundEntry<T> | undefined {
    const values: string[] = [];
    const entry = this.#walk(this.#root, method, segmentsOf(rawUrl), 0, values);
    return entry === undefined ? undefined : { entry, values };
  }

  #walk(
    step: Step<T>,
    method: string,
    segments: readonly string[],
    at: number,
    values: string[],
  ): T | undefined {
    const segment = segments[at];
    if (segment === undefined)
      return step.here !== undefined && this.#serves(step.here, method) ? step.here : undefined;
    const named = step.named.get(segment);
    if (named !== undefined) {
      const found = this.#walk(named, method, segments, at + 1, values);
      if (found !== undefined) return found;
    }
    if (step.any !== undefined && segment.length <= MAX_SEGMENT) {
      values.push(segment);
      const found = this.#walk(step.any, method, segments, at + 1, values);
      if (found !== undefined) return found;
      values.pop();
    }
    if (step.rest !== undefined && this.#serves(step.rest, method)) {
      values.push(segments.slice(at).join('/'));
      return step.rest;
    }
    return undefined;
  }
}

function newStep<T>(): Step<T> {
  return { named: new Map(), any: undefined, here: undefined, rest: undefined };
}

const SLASH = 47;

/** Returns the decoded segments of a request target. `/` has no segments. */
function segmentsOf(rawUrl: string): readonly string[] {
  const start = rawUrl.charCodeAt(0) === SLASH ? 0 : lengthOfAuthority(rawUrl);
  let end = rawUrl.length;
  for (const delimiter of ['?', '#']) {
    const at = rawUrl.indexOf(delimiter, start);
    if (at !== -1 && at < end) end = at;
  }
  if (end > start && rawUrl.charCodeAt(end - 1) === SLASH) end -= 1;
  if (end <= start) return [];
  const segments = rawUrl.slice(start + 1, end).split('/');
  return segments.some((segment) => segment.includes('%')) ? segments.map(decodeURIComponent) : segments;
}

/** Returns the length of `http://host` at the start of an absolute target (RFC 9112 §3.2.2), or 0. */
function lengthOfAuthority(rawUrl: string): number {
  return /^https?:\/\/[^/?#]*/i.exec(rawUrl)?.[0].length ?? 0;
}
