import { IdkitError, randomId, Secret, untilApplied, uuid } from '../../core/index.ts';
import { hashPolicy } from '../../crypto/index.ts';
import type { Credential, User } from '../../model/index.ts';
import type { Change, RealmConfiguration, Stale } from '../../store/index.ts';
import type { AdminContext } from '../call/context.ts';
import { MASTER } from '../defaults/built-in-clients.ts';

/**
 * Creates an administrator of the master realm, or resets one, in one transaction. Enables the user, sets a new
 * password and grants the role `admin`. Removes second factors, required actions, lockouts and sessions.
 *
 * @throws IDKIT_NOT_FOUND if the master realm does not exist yet
 */
export async function recoverAdministrator(
  context: AdminContext,
  username: string,
): Promise<{ outcome: 'made' | 'reset'; password: Secret }> {
  const { store, random, passwords } = context;
  const master = await store.findRealm(MASTER);
  const adminRole = master === undefined ? undefined : realmRole(master, 'admin');
  if (master === undefined || adminRole === undefined)
    throw new IdkitError(
      'IDKIT_NOT_FOUND',
      'the database does not contain the master realm with its role admin',
      {
        hints: ['start idkit serve, which creates both'],
      },
    );
  const name = username.toLowerCase();
  const password = randomId(random);
  const hash = await passwords.hash(password, hashPolicy(master.realm.settings.passwordPolicy));
  const made = await untilApplied(() => storeAdministrator(context, { master, adminRole, name, hash }));
  await store.removeLoginFailures(master.realm.id, made.userId);
  return { outcome: made.outcome, password: new Secret(password) };
}

interface NewAdministrator {
  master: RealmConfiguration;
  adminRole: string;
  name: string;
  hash: Pick<Credential, 'credentialData' | 'secretData'>;
}

async function storeAdministrator(
  context: AdminContext,
  { master, adminRole, name, hash }: NewAdministrator,
): Promise<{ outcome: 'made' | 'reset'; userId: string } | Stale> {
  const { store, random, clock } = context;
  const existing = await store.findUserByUsername(master.realm.id, name);
  const user: User = existing ?? newUser(context, master, name);
  const old = existing === undefined ? [] : await store.listCredentials(existing.id);
  const changes: Change[] = [
    existing === undefined
      ? { do: 'create', user }
      : { do: 'put', user: { ...existing, enabled: true, requiredActions: [] } },
    ...old.map(({ id }): Change => ({ do: 'remove', what: 'credential', id })),
    {
      do: 'create',
      credential: {
        id: uuid(random),
        userId: user.id,
        type: 'password',
        createdDate: clock.now(),
        ...hash,
        secrets: {},
        priority: 10,
      },
    },
    { do: 'assign', userId: user.id, roleIds: [adminRole] },
    { do: 'endSessions', userId: user.id, offlineToo: true },
  ];
  const applied = await store.apply(changes);
  if (applied.outcome === 'stale') return applied;
  if (applied.outcome !== 'applied')
    throw new Error(`the administrator could not be stored: ${applied.outcome}`);
  return { outcome: existing === undefined ? 'made' : 'reset', userId: user.id };
}

function realmRole(configuration: RealmConfiguration, name: string): string | undefined {
  for (const role of configuration.roles.values())
    if (role.name === name && role.clientUuid === undefined) return role.id;
  return undefined;
}

function newUser({ random, clock }: AdminContext, master: RealmConfiguration, username: string): User {
  return {
    id: uuid(random),
    realmId: master.realm.id,
    username,
    emailVerified: false,
    enabled: true,
    createdTimestamp: clock.now(),
    attributes: {},
    requiredActions: [],
    notBefore: 0,
    roleIds: [master.realm.defaultRoleId],
    groupIds: [],
    kept: {},
  };
}
