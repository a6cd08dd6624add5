import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Ended } from '../journey/idkit.ts';
import { type Answer, postTo, type TokenService } from './operated-platform.ts';

// The steps of a backup and restore cycle with Keycloak, on any kind of platform.

const EXPORTS = join(import.meta.dirname, '../fixtures/keycloak/exports');

/** Users of realm globex whose passwords are checked: every twentieth of a thousand. */
const SAMPLE = Array.from({ length: 50 }, (_, index) => index * 20);

/** The realms that exist after `makeRealms`, with the number of their users. */
export const REALMS = [
  ['acme', 13],
  ['fresh', 0],
  ['globex', 1000],
  ['master', 1],
] as const;

/** Tokens of sessions that must exist again after a restore. */
export interface KeptTokens {
  refresh: readonly string[];
  offline: string;
}

/** Creates two realms with 1,000 users from the exports of a real Keycloak, and an empty realm. */
export async function makeRealms(succeed: (argv: readonly string[]) => Promise<Ended>): Promise<void> {
  for (const realm of ['acme', 'globex'])
    await succeed(['admin', 'realm', 'create', '--file', join(EXPORTS, `${realm}-realm.json`)]);
  await succeed(['admin', 'realm', 'create', 'fresh']);
}

/** Opens sessions of five users, and an offline session. */
export async function openSessions(service: TokenService): Promise<KeptTokens> {
  const refresh: string[] = [];
  for (const index of SAMPLE.slice(0, 5)) refresh.push(await logIn(service, index));
  // Users of globex lack the role for offline tokens; bob of acme has it.
  const bob = { username: 'bob', password: 'Correct-Horse-7' };
  const form = { grant_type: 'password', client_id: 'spa', ...bob, scope: 'openid offline_access' };
  return { refresh, offline: refreshTokenOf(await postTo(service, 'acme', 'token', form)) };
}

/** Logs in a sample of 50 users. */
export async function logInSample(service: TokenService): Promise<void> {
  for (const index of SAMPLE) await logIn(service, index);
}

/** Refreshes with the refresh tokens and the offline token that were issued before the backup. */
export async function renewKept(service: TokenService, kept: KeptTokens): Promise<void> {
  const renew = (realm: string, client: string, token: string) =>
    postTo(service, realm, 'token', { grant_type: 'refresh_token', client_id: client, refresh_token: token });
  for (const token of kept.refresh) refreshTokenOf(await renew('globex', 'app', token));
  refreshTokenOf(await renew('acme', 'spa', kept.offline));
}

/** Returns the refresh token of a new login of `userNNNN` in realm globex. */
export async function logIn(service: TokenService, index: number): Promise<string> {
  const username = `user${String(index).padStart(4, '0')}`;
  const form = { grant_type: 'password', client_id: 'app', username, password: `Globex-pass-${index}` };
  return refreshTokenOf(await postTo(service, 'globex', 'token', form));
}

function refreshTokenOf(answer: Answer): string {
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return String(answer.body['refresh_token']);
}

/** Maps each row of the checklist to its outcome. */
export function checklistOf(restored: Ended): Readonly<Record<string, string>> {
  const { checklist } = restored.result() as { checklist: { id: string; outcome: string }[] };
  return Object.fromEntries(checklist.map(({ id, outcome }) => [id, outcome]));
}

/** Returns the realms in a manifest, each with the number of its users. */
export function realmsOf(manifest: { realms: { realm: string; users: number }[] }): readonly unknown[] {
  return manifest.realms.map(({ realm, users }) => [realm, users]);
}
