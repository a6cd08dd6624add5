import { isJsonObject } from '../../core/index.ts';

/**
 * Claims that only idkit itself sets. Keycloak 26 ignores mappers that name one of the first eight. idkit also protects
 * `azp` and `sid`, because refresh, revocation and introspection rely on them.
 */
const PROTECTED = new Set([
  ...['exp', 'nbf', 'iat', 'jti', 'iss', 'typ', 'scope', 'at_hash'],
  ...['azp', 'sid', '__proto__'],
]);

/**
 * Splits a `claim.name` into its parts: a dot separates levels, and `\.` is a literal dot (Keycloak:
 * OIDCAttributeMapperHelper).
 */
export function claimPath(name: string): readonly string[] {
  return name.split(/(?<!\\)\./).map((part) => part.replaceAll('\\.', '.'));
}

/** Whether a mapper may write this claim. */
export function isWritable(path: readonly string[]): boolean {
  const [first] = path;
  return first !== undefined && first !== '' && !PROTECTED.has(first) && !path.includes('__proto__');
}

/** Writes a claim and creates the objects along its path. If the old and the new value are lists, joins them. */
export function putClaim(claims: Record<string, unknown>, path: readonly string[], value: unknown): void {
  let place = claims;
  for (const part of path.slice(0, -1)) {
    const next = place[part];
    if (isJsonObject(next)) {
      place = next;
      continue;
    }
    const made: Record<string, unknown> = {};
    place[part] = made;
    place = made;
  }
  const last = path.at(-1);
  if (last === undefined) return;
  const before = place[last];
  place[last] = Array.isArray(before) && Array.isArray(value) ? [...new Set([...before, ...value])] : value;
}
