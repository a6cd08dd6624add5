import type { RowOf } from '../queries/compiled/types.ts';
import { detachedName } from '../records/login.ts';
import { readSessionDocument } from '../records/sessions.ts';
import { type SessionRow, UNUSED } from '../schema.ts';
import { removeFamilyRow } from './remove.ts';
import { all, get, getEach, run, type Steps, send } from './steps.ts';
import type { Verbs } from './verbs.ts';

/** Time in seconds for which the store remembers a detached token family (see `wasDetached`). */
const DETACHED_FOR = 86_400;

/**
 * Stores a step of a login. Returns `changed` if another step was stored first, or if the client or the user no longer
 * exists.
 */
export function* putAuthenticationSession({
  now,
  row,
}: Verbs['putAuthenticationSession']['in']): Steps<'stored' | 'changed'> {
  const [client, user] = yield* getEach([
    ['client.byId', { id: row.client_uuid }],
    row.user_id === null ? undefined : ['account.byId', { id: row.user_id }],
  ]);
  if (client === undefined || (row.user_id !== null && user === undefined)) return 'changed';
  const values = { ...row, now, browser_hash: Buffer.from(row.browser_hash, 'latin1') };
  const query = row.revision === 0 ? 'authentication.insert' : 'authentication.update';
  return (yield* run(query, values)) === 1 ? 'stored' : 'changed';
}

/**
 * Finishes a login (see `LoginStore`). All reads come before the first write, so that the result `gone` changes
 * nothing.
 */
export function* finishLogin(input: Verbs['finishLogin']['in']): Steps<'finished' | 'gone'> {
  const { authentication, session, consent, code, now } = input;
  const [current, user, before, ...clients] = yield* getEach([
    authentication && ['authentication.find', { id: authentication.id, now }],
    ['account.byId', { id: session.user_id }],
    ['session.row', { id: session.id, offline: session.offline }],
    consent && ['client.byId', { id: consent.client_uuid }],
    code && ['client.byId', { id: code.client_uuid }],
  ]);
  if (authentication !== undefined && current?.revision !== authentication.revision) return 'gone';
  if (user === undefined) return 'gone';
  for (const [index, client] of clients.entries())
    if ([consent, code][index] !== undefined && client === undefined) return 'gone';
  if (before === undefined && input.session_must_exist) return 'gone';
  if (before !== undefined && before.user_id !== session.user_id) return 'gone';

  if (authentication !== undefined) yield* send('authentication.take', { ...authentication, now });
  if (before === undefined) yield* send('session.insert', session);
  else yield* continueSession(before, session);
  if (consent !== undefined) yield* send('consent.put', { ...consent });
  if (code !== undefined) yield* send('code.insert', { ...code, hash: Buffer.from(code.hash, 'latin1') });
  return 'finished';
}

/** Updates the session's last use, and its notes if the user has authenticated again since. */
function* continueSession(before: SessionRow, session: SessionRow): Steps<void> {
  const key = { id: session.id, offline: session.offline };
  yield* send('session.touch', { ...key, at: session.last_access_at });
  if (provedAt(session.doc) > provedAt(before.doc))
    yield* send('session.setDoc', { ...key, doc: session.doc });
}

/** Returns the note `auth_time` of a session. */
function provedAt(doc: string): number {
  return Number(readSessionDocument(doc).notes['auth_time'] ?? 0);
}

/** Returns the code to the first caller. A later call revokes everything that the client received in the session. */
export function* takeCode({ hash: text, now }: Verbs['takeCode']['in']): Steps<Verbs['takeCode']['out']> {
  const hash = Buffer.from(text, 'latin1');
  const stored = yield* get('code.find', { hash });
  if (stored === undefined) return { outcome: 'gone' };
  const { hash: _, ...row } = stored;
  if (row.state === UNUSED) {
    if (row.expires_at <= now) return { outcome: 'gone' };
    yield* send('code.take', { hash });
    return { outcome: 'taken', row };
  }
  const place = { client_uuid: row.client_uuid, session_id: row.session_id };
  yield* detach(yield* all('family.ofClientInSession', place), now);
  return { outcome: 'used', row };
}

/** See `LoginStore`. */
export function* startFamily({
  code,
  family,
  offline_session,
}: Verbs['startFamily']['in']): Steps<'started' | 'used' | 'gone'> {
  if (code !== undefined) {
    const { outcome } = yield* takeCode(code);
    if (outcome !== 'taken') return outcome;
  } else if ((yield* get('client.byId', { id: family.client_uuid })) === undefined) return 'gone';
  if ((yield* get('session.row', { id: family.session_id, offline: 0 })) === undefined) return 'gone';
  if (offline_session !== undefined && (yield* run('session.insert', offline_session)) === 0)
    yield* send('session.touch', {
      id: offline_session.id,
      offline: 1,
      at: offline_session.last_access_at,
    });
  yield* send('family.insert', family);
  return 'started';
}

/** Removes a consent and the token families that depend on it. Removes offline families even if there is no consent. */
export function* removeConsent({ now, ...key }: Verbs['removeConsent']['in']): Steps<{ removed: boolean }> {
  const withdrawn = (yield* run('consent.delete', key)) === 1;
  const families = yield* all('family.ofClientAndUser', key);
  const offline = families.filter((family) => family.offline === 1);
  yield* detach(withdrawn ? families : offline, now);
  return { removed: withdrawn || offline.length > 0 };
}

/**
 * Removes token families of a client and remembers them as detached. An offline session ends when its last family is
 * removed.
 */
function* detach(families: readonly RowOf<'family.ofClientInSession'>[], now: number): Steps<void> {
  for (const family of families) {
    yield* removeFamilyRow(family);
    yield* send('revoked.add', { jti: detachedName(family.id), expires_at: now + DETACHED_FOR });
    const place = { session_id: family.session_id, offline: family.offline };
    if (family.offline === 1 && (yield* get('family.ofSession', place)) === undefined)
      yield* send('session.delete', { id: family.session_id, offline: 1 });
  }
}

/**
 * Ends a user's sessions, at most `limit`, all unfinished logins and all unexchanged codes.
 *
 * @returns the number of sessions
 */
export function* endUserSessions({ user_id, offline, limit }: Verbs['endUserSessions']['in']): Steps<number> {
  yield* send('authentication.deleteOfUser', { user_id });
  yield* send('code.deleteUnused', { user_id });
  return yield* run('slice.deleteSessions', { user_ids: [user_id], offline, limit });
}
