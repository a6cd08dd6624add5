import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AdminContext, RealmCall } from '../../src/admin/index.ts';
import { REQUIRED_ACTIONS } from '../../src/browser/index.ts';
import { Secret, systemClock, systemRandom } from '../../src/core/index.ts';
import { openPasswords } from '../../src/crypto/index.ts';
import { openStore } from '../../src/store/open.ts';

const key = new Secret(Buffer.alloc(32, 7).toString('base64'));

/** A store in a temporary directory, with a context for administrative functions. */
export interface Place extends AsyncDisposable {
  context: AdminContext;
}

export async function openPlace(): Promise<Place> {
  const directory = mkdtempSync(join(tmpdir(), 'idkit-admin-'));
  const store = await openStore({ file: join(directory, 'idkit.db'), masterKey: key });
  const passwords = openPasswords();
  const context: AdminContext = {
    store,
    clock: systemClock,
    random: systemRandom,
    passwords,
    requiredActions: new Set(REQUIRED_ACTIONS.keys()),
    baseUrl: 'http://localhost:8080',
  };
  return {
    context,
    async [Symbol.asyncDispose]() {
      await store.close();
      await passwords.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Returns the call of an administrator who holds every right in the realm of this name. */
export async function callIn(context: AdminContext, realmName: string): Promise<RealmCall> {
  const configuration = (await context.store.findRealm(realmName))!;
  return {
    context,
    caller: {
      realmId: configuration.realm.id,
      realmName,
      userId: 'u',
      clientId: 'c',
      clientUuid: 'c',
      scopes: new Set(),
      ipAddress: '127.0.0.1',
    },
    configuration,
    rights: { has: () => true, check: () => {}, any: true, grantsAdminRoles: true, roles: new Set() },
  };
}

/** Parses a file from test/fixtures/keycloak/exports. */
export function readExport(name: string): Record<string, unknown> {
  const url = new URL(`../fixtures/keycloak/exports/${name}`, import.meta.url);
  return JSON.parse(readFileSync(url, 'utf8')) as Record<string, unknown>;
}

/** The credentials of the administrator, and the secret of the smoke client. */
export const BOOTSTRAP = {
  username: 'admin',
  password: new Secret('Admin-password-1'),
  smokeClientSecret: new Secret('smoke-secret'),
};
