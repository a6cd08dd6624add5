/** What a path was found to be: the entry, and the values of its `:name` and `*` parts in their order. */
export interface FoundUrl<T> {
  entry: T;
  values: readonly string[];
}

interface Step<T> {
  /** The steps below, by the segment's own text. */
  named: Map<string, Step<T>>;
  /** The step below for any other segment. */
  any: Step<T> | undefined;
  /** The URL that ends here. */
  here: T | undefined;
  /** The URL that takes everything from here on, at least one segment. */
  rest: T | undefined;
}

/** Characters of one segment that stands for a `:name`; a longer one is not found. */
const MAX_SEGMENT = 2048;

/**
 * Finds the entry of a path, segment by segment: a segment's own text before `:name`, that before `*`. Each segment
 * is decoded by itself, so that `%2F` divides nothing (RFC 3986 §2.2), and one slash at the end is nothing.
 *
 * Fastify's own router compiles code for every URL it is told, which took a third of a start.
 */
export class UrlTree<T> {
  readonly #root: Step<T> = newStep();
  readonly #serves: (entry: T, method: string) => boolean;

  /** @param serves whether an entry has to do with a method; where it has not, the search goes on */
  constructor(serves: (entry: T, method: string) => boolean) {
    this.#serves = serves;
  }

  /**
   * The entry of a URL, made where there is none yet. `url` is a path of `text`, `:name` and, at the end, `*`; what
   * the names are makes no difference.
   */
  openPlace(url: string, make: () => T): T {
    let step = this.#root;
    for (const segment of url.split('/')) {
      if (segment === '*') {
        step.rest ??= make();
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
    step.here ??= make();
    return step.here;
  }

  /** @throws URIError where a percent escape is broken */
  find(method: string, rawUrl: string): FoundUrl<T> | undefined {
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
    if (at === segments.length)
      return step.here !== undefined && this.#serves(step.here, method) ? step.here : undefined;
    const segment = segments[at]!;
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

/** The decoded segments of a request's target; none for `/`. */
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

/** What stands before the path of an absolute target, `http://host` (RFC 9112 §3.2.2). */
function lengthOfAuthority(rawUrl: string): number {
  return /^https?:\/\/[^/?#]*/i.exec(rawUrl)?.[0].length ?? 0;
}
