import { IdkitError } from '../../core/index.ts';

/** Returns the value of an environment variable, or undefined if it is not set. */
export type Environment = (name: string) => string | undefined;

const PLACEHOLDER = /(?<!\$)\$\{([^{}]+)\}/g;

/** Maximum depth of nested arrays and objects. A real realm has a depth of about ten. */
const DEEPEST = 200;

/**
 * Matches the names of idkit's own settings. A realm file must not copy their values, such as the master key, into a
 * realm.
 */
const OWN = /^IDKIT_/i;

/**
 * Replaces `${NAME}`, `${NAME:default}` and `${FIRST,SECOND:default}` in every string of a realm file, as Keycloak 26
 * does when it imports files at startup. A placeholder with neither a value nor a default stays unchanged, because
 * Keycloak's own realms contain some, for example `${role_default-roles}`. See docs/keycloak/import.md#placeholders.
 *
 * Keycloak replaces placeholders before it parses the JSON. idkit parses the JSON first, so that a value cannot add
 * fields to the file.
 */
export function resolvePlaceholders(value: unknown, environment: Environment, depth = 0): unknown {
  if (typeof value === 'string') return value.includes('${') ? resolveText(value, environment) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (depth === DEEPEST) throw new IdkitError('IDKIT_IMPORT', `it is nested deeper than ${DEEPEST} levels`);
  const resolve = (entry: unknown) => resolvePlaceholders(entry, environment, depth + 1);
  if (Array.isArray(value)) return value.map(resolve);
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, resolve(entry)]));
}

function resolveText(text: string, environment: Environment): string {
  return text.replaceAll(PLACEHOLDER, (whole, inside: string) => {
    const colon = inside.indexOf(':');
    const names = (colon < 0 ? inside : inside.slice(0, colon)).split(',');
    for (const name of names) {
      const found = OWN.test(name) ? undefined : environment(name);
      if (found !== undefined) return found;
    }
    return colon < 0 ? whole : inside.slice(colon + 1);
  });
}
