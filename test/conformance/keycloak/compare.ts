/** A difference between a response and the recording: where it is, and both values. */
export interface Difference {
  path: string;
  expected: unknown;
  actual: unknown;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const JWT = /^[\w-]+\.[\w-]+\.[\w-]*$/;

const MARKERS: Record<string, (value: unknown) => boolean> = {
  '<jwt>': (value) => typeof value === 'string' && JWT.test(value),
  '<token>': (value) => typeof value === 'string' && value.length >= 16,
  '<uuid>': (value) => typeof value === 'string' && UUID.test(value),
  '<id>': (value) => typeof value === 'string' && value.length > 0,
  // Accepts strings too, because times in client attributes are strings.
  '<time>': (value) => Number(value) > 1_000_000_000,
  '<secret>': (value) => typeof value === 'string' && value.length > 0,
  '<key material>': (value) => typeof value === 'string' && value.length > 0,
  '<address>': (value) => typeof value === 'string' && value.length > 0,
  '<value>': (value) => typeof value === 'string',
  '<int>': (value) => Number.isInteger(value),
  '<string>': (value) => typeof value === 'string',
  '<any>': () => true,
};

/** Lifetimes that count down. A response matches if its value is at most 4 s below the recorded one. */
const LIFETIMES = new Set(['expires_in', 'refresh_expires_in']);

/** Options of a comparison. */
export interface Comparison {
  /** Whether to ignore fields of the response that are not in the recording. */
  onlyNamed: boolean;
}

/** Returns every difference between `actual` and `expected`. */
export function differences(expected: unknown, actual: unknown, how: Comparison, path = '$'): Difference[] {
  if (typeof expected === 'string') return compareText(expected, actual, path);
  if (Array.isArray(expected)) return compareSet(expected, actual, how, path);
  if (typeof expected === 'object' && expected !== null) {
    return compareObject(expected as Record<string, unknown>, actual, how, path);
  }
  return Object.is(expected ?? null, actual ?? null) ? [] : [{ path, expected, actual }];
}

function compareText(expected: string, actual: unknown, path: string): Difference[] {
  const marker = MARKERS[expected];
  if (marker) return marker(actual) ? [] : [{ path, expected, actual }];
  if (expected === actual) return [];
  if (typeof actual === 'string') {
    if (path.endsWith('.scope') && words(expected) === words(actual)) return [];
    if (/<[a-z0-9 ]+>/.test(expected) && pattern(expected).test(actual)) return [];
  }
  return [{ path, expected, actual }];
}

function words(scope: string): string {
  return scope.split(' ').sort().join(' ');
}

function pattern(text: string): RegExp {
  const source = text
    .split(/(<[a-z0-9 ]+>)/)
    .map((part) => {
      if (part === '<uuid>') return UUID.source.slice(1, -1);
      if (part === '<24 base64url characters>') return '[\\w-]{24}';
      if (part === '<int>') return '\\d+';
      if (/^<[a-z0-9 ]+>$/.test(part) && (part in MARKERS || part === '<error>')) return '[\\s\\S]+';
      return part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    })
    .join('');
  return new RegExp(`^${source}$`);
}

function compareSet(expected: unknown[], actual: unknown, how: Comparison, path: string): Difference[] {
  if (!Array.isArray(actual) || actual.length !== expected.length) return [{ path, expected, actual }];
  const left = [...actual];
  for (const [index, one] of expected.entries()) {
    const found = left.findIndex((other) => differences(one, other, how, `${path}[${index}]`).length === 0);
    if (found < 0) {
      const closest = left.length === 1 ? differences(one, left[0], how, `${path}[${index}]`) : [];
      return closest.length > 0 ? closest : [{ path: `${path}[${index}]`, expected: one, actual: left }];
    }
    left.splice(found, 1);
  }
  return [];
}

function compareObject(
  expected: Record<string, unknown>,
  actual: unknown,
  how: Comparison,
  path: string,
): Difference[] {
  if (typeof actual !== 'object' || actual === null || Array.isArray(actual))
    return [{ path, expected, actual }];
  const other = actual as Record<string, unknown>;
  const found: Difference[] = [];
  for (const [key, value] of Object.entries(expected)) {
    if (LIFETIMES.has(key) && typeof value === 'number' && value > 0) {
      const seconds = other[key];
      if (typeof seconds !== 'number' || seconds > value || seconds < value - 4) {
        found.push({ path: `${path}.${key}`, expected: value, actual: seconds });
      }
      continue;
    }
    const relative = typeof value === 'string' ? /^<iat\+(\d+)>$/.exec(value) : null;
    if (relative) {
      const lifetime = Number(other[key]) - Number(other['iat']);
      const round = Number(relative[1]);
      if (!(lifetime <= round && lifetime >= round - 4)) {
        found.push({ path: `${path}.${key}`, expected: value, actual: `<iat+${lifetime}>` });
      }
      continue;
    }
    found.push(...differences(value, other[key], how, `${path}.${key}`));
  }
  if (!how.onlyNamed) {
    for (const key of Object.keys(other)) {
      if (!(key in expected)) found.push({ path: `${path}.${key}`, expected: undefined, actual: other[key] });
    }
  }
  return found;
}
