import type { Change } from './service-calls.tsx';

/** Refusals that concern a field without naming it, with the field. */
const REFUSALS: readonly (readonly [field: string, message: RegExp])[] = [
  ['username', /User exists with same username/],
  ['email', /User exists with same email/],
  ['clientId', /Client .+ already exists/],
  ['name', /Role with name .+ already exists/],
  ['name', /(?:Top level|Sibling) group named .+ already exists/],
  ['name', /Client Scope .+ already exists/],
  ['name', /Unexpected name .+ for ClientScope/],
  ['name', /Protocol mapper exists with same name/],
  ['name', /Duplicate resource error/],
  ['redirectUris', /A redirect URI .+/],
  ['webOrigins', /A web origin .+/],
  ['rootUrl', /Root URL .+/],
  ['baseUrl', /Base URL .+/],
  ['password', /Invalid password: .+/],
];

/** Returns why the service rejected a field, for the text below the field. */
export function errorAt(change: Change, field: string): string | undefined {
  const named = change.faultOf(field);
  if (named !== undefined || change.failure === undefined) return named;
  const { failure } = change;
  return REFUSALS.flatMap(([of, message]) => (of === field ? (message.exec(failure)?.[0] ?? []) : [])).at(0);
}
