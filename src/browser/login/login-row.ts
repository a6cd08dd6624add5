import { randomId } from '../../core/index.ts';
import type { AuthenticationSession, AuthorizationRequest, Client } from '../../model/index.ts';
import type { BrowserCall } from '../call.ts';
import { renderClientData } from './client-data.ts';

/** Number of random bytes in a tab id, so that it cannot be guessed. */
const TAB_BYTES = 16;
/** Number of random bytes in a form code, so that it cannot be guessed. */
const CODE_BYTES = 32;

/**
 * The realm setting and the default in seconds for the lifetime of each kind of step
 * (docs/keycloak/realms.md#defaults).
 */
const LIFETIMES = {
  login: { setting: 'accessCodeLifespanLogin', usual: 1800 },
  action: { setting: 'accessCodeLifespanUserAction', usual: 300 },
} as const;

/** Builds a new login of one tab. Stores nothing. */
export function newLoginRow(
  call: BrowserCall,
  client: Client,
  request: AuthorizationRequest,
  browserHash: Buffer,
): AuthenticationSession {
  return {
    id: randomId(call.ctx.random, TAB_BYTES),
    realmId: call.configuration.realm.id,
    clientUuid: client.id,
    browserHash,
    revision: 0,
    startedAt: call.now,
    expiresAt: call.now + lifetime(call, 'login'),
    request,
    formCode: randomId(call.ctx.random, CODE_BYTES),
    rememberMe: false,
    notes: {},
  };
}

/**
 * Stores the next step of a login under the same id, with a new form code. Returns undefined if another form of the
 * same tab was stored first.
 */
export async function storeStep(
  call: BrowserCall,
  row: AuthenticationSession,
  kind: keyof typeof LIFETIMES,
): Promise<AuthenticationSession | undefined> {
  const next: AuthenticationSession = {
    ...row,
    formCode: randomId(call.ctx.random, CODE_BYTES),
    expiresAt: call.now + lifetime(call, kind),
  };
  if ((await call.ctx.store.putAuthenticationSession(next)) === 'changed') return undefined;
  return { ...next, revision: next.revision + 1 };
}

/**
 * Stores the next step under a new id and removes the old one. An attacker who knew the tab before the user
 * authenticated does not know the new id (session fixation). Returns undefined if another form of the same tab was
 * stored first.
 */
export async function moveStep(
  call: BrowserCall,
  row: AuthenticationSession,
  kind: keyof typeof LIFETIMES,
): Promise<AuthenticationSession | undefined> {
  if (row.revision > 0 && !(await call.ctx.store.removeAuthenticationSession(row.id)).removed)
    return undefined;
  return storeStep(call, { ...row, id: randomId(call.ctx.random, TAB_BYTES), revision: 0 }, kind);
}

/** Returns the URL of a page or form of the login, with Keycloak's parameters. */
export function stepUrl(
  { issuer }: Pick<BrowserCall, 'issuer'>,
  client: Client,
  row: Pick<AuthenticationSession, 'id' | 'request'>,
  step: {
    path: 'authenticate' | 'required-action' | 'consent' | 'restart';
    /** The name of the step. */
    execution?: string;
    /** The form code. Absent for pages. */
    code?: string;
  },
): string {
  const data = renderClientData(row.request);
  const parameters = new URLSearchParams({
    ...(step.code === undefined ? {} : { session_code: step.code }),
    ...(step.execution === undefined ? {} : { execution: step.execution }),
    client_id: client.clientId,
    tab_id: row.id,
    ...(data === undefined ? {} : { client_data: data }),
  });
  return `${issuer}/login-actions/${step.path}?${parameters}`;
}

function lifetime({ configuration }: BrowserCall, kind: keyof typeof LIFETIMES): number {
  const { setting, usual } = LIFETIMES[kind];
  const own = configuration.realm.settings.kept[setting];
  return typeof own === 'number' && own > 0 ? own : usual;
}
