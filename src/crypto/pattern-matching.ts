import { type Context, createContext, Script } from 'node:vm';

/** Milliseconds for one pattern: some take longer than the sun will shine for the right password. */
const MATCHING_MILLISECONDS = 100;
const MATCHING = `new RegExp('^(?:' + pattern + ')$', 'su').test(password)`;
let engine: { context: Context; matching: Script } | undefined;

/**
 * Whether a password as a whole matches a pattern of the policy (facts §11). A pattern that this engine cannot read,
 * or not in time, matches nothing: weaker than asked is not an answer, and neither is a service that stands still.
 */
export function matchesPattern(pattern: string, password: string): boolean {
  engine ??= { context: createContext(Object.create(null)), matching: new Script(MATCHING) };
  const { context, matching } = engine;
  Object.assign(context, { pattern, password });
  try {
    return matching.runInContext(context, { timeout: MATCHING_MILLISECONDS }) === true;
  } catch {
    return false;
  } finally {
    Object.assign(context, { pattern: '', password: '' });
  }
}
