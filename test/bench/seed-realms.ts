import { createRealm, realmChanges } from '../../src/admin/import/import-realm.ts';
import { type AdminContext, bootstrapMaster, exportRealm, type Json } from '../../src/admin/index.ts';
import { grantMasterAccess } from '../../src/admin/master/master-access.ts';
import { buildRealm } from '../../src/admin/realm/build-realm.ts';
import { Secret } from '../../src/core/index.ts';
import type { Change } from '../../src/store/index.ts';

/** Number of realms in one transaction. */
const TOGETHER = 25;

/** Password of the user `ada` of every realm. */
const PASSWORD = 'Correct-Horse-1';

/** Credentials of the administrator and the smoke client of a new database. */
export interface FirstCredentials {
  password: string;
  smokeClientSecret: string;
}

/**
 * Fills a database until it has `count` realms besides master: `realm-0`, `realm-1` and so on. Each has its built-in
 * records, the public client `web` with the password grant, and `users` users, of whom the first is `ada`. All realms
 * share the keys and password hashes of the first one, because generating them would take most of the time.
 *
 * @param first credentials with which a missing realm master is created
 */
export async function seedRealms(
  context: AdminContext,
  count: number,
  { users = 3, first }: { users?: number; first?: FirstCredentials } = {},
): Promise<void> {
  const { store } = context;
  if (first !== undefined)
    await bootstrapMaster(context, {
      username: 'admin',
      password: new Secret(first.password),
      smokeClientSecret: new Secret(first.smokeClientSecret),
    });
  const existing = new Set(await store.listRealmNames());
  if (!existing.has('realm-0')) await createRealm(context, firstRealm());
  existing.add('realm-0');
  const { components, credentials } = await readFirst(context);
  const missing = Array.from({ length: count }, (_, index) => `realm-${index}`).filter(
    (name) => !existing.has(name),
  );
  for (let from = 0; from < missing.length; from += TOGETHER) {
    const changes: Change[] = [];
    const master = (await store.findRealm('master'))!;
    const included: string[] = [];
    let adminRole: Change | undefined;
    for (const realm of missing.slice(from, from + TOGETHER)) {
      const given = { ...web(realm), components, users: people(users, credentials) };
      const built = await buildRealm(given, realm, context);
      changes.push(...realmChanges(built));
      for (const change of await grantMasterAccess(master, built.realm, context)) {
        if (change.do === 'create' && 'role' in change) included.push(change.role.id);
        if (change.do === 'put') adminRole = change;
        else changes.push(change);
      }
    }
    if (adminRole !== undefined && 'role' in adminRole) {
      const { role } = adminRole;
      const compositeIds = [...new Set([...role.compositeIds, ...included])];
      changes.push({ do: 'put', role: { ...role, compositeIds } });
    }
    const applied = await store.apply(changes);
    if (applied.outcome !== 'applied')
      throw new Error(`the realms were not stored: ${JSON.stringify(applied)}`);
  }
}

function web(realm: string): Json {
  return {
    realm,
    enabled: true,
    displayName: `Realm ${realm}`,
    clients: [{ clientId: 'web', publicClient: true, directAccessGrantsEnabled: true }],
  };
}

function firstRealm(): Json {
  return { ...web('realm-0'), users: people(1, [{ type: 'password', value: PASSWORD }]) };
}

function people(count: number, credentials: unknown): Json[] {
  return Array.from({ length: count }, (_, index) => ({
    username: index === 0 ? 'ada' : `user-${index}`,
    email: index === 0 ? 'ada@example.test' : `user-${index}@example.test`,
    firstName: 'Ada',
    lastName: 'Bench',
    enabled: true,
    credentials,
  }));
}

/** Returns the keys and the password hash of the first realm, without ids. */
async function readFirst(context: AdminContext): Promise<{ components: Json; credentials: unknown }> {
  const exported = await exportRealm(context, 'realm-0');
  const components = Object.fromEntries(
    Object.entries(exported['components'] as Record<string, readonly Json[]>).map(([type, list]) => [
      type,
      list.map(({ id: _, ...rest }) => rest),
    ]),
  );
  const [ada] = exported['users'] as readonly Json[];
  const credentials = (ada!['credentials'] as readonly Json[]).map(({ id: _, ...rest }) => rest);
  return { components, credentials };
}
