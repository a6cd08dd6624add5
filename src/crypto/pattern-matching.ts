import { type Context, createContext, Script } from 'node:vm';

/** Milliseconds for one pattern: some take longer than the sun will shine for the right password. */
const MATCHING_MILLISECONDS = 100;
const matching = new Script(`new RegExp('^(?:' + pattern + ')$', 'su').test(password)`);
let engine: Context | undefined;

/**
 * Whether a password as a whole matches a pattern of the policy (facts §11). A pattern that this engine cannot read,
 * or not in time, matches nothing: weaker than asked is not an answer, and neither is a service that stands still.
 */
export function matchesPattern(pattern: string, password: string): boolean {
  engine ??= createContext(Object.create(null));
  Object.assign(engine, { pattern, password });
  try {
    return matching.runInContext(engine, { timeout: MATCHING_MILLISECONDS }) === true;
  } catch {
    return false;
  } finally {
    Object.assign(engine, { pattern: '', password: '' });
  }
}
