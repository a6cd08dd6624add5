import { IdkitError } from '../../../../core/index.ts';
import type { CliCommand } from '../../../cli-command.ts';
import type { Runner } from '../../../command.ts';
import { apiPath } from '../lookup.ts';
import type { Place } from '../place.ts';
import { read } from '../records/find.ts';
import type { Noun } from '../records/noun.ts';
import { nounCommand, openNounPlace, readName } from '../records/noun-place.ts';
import { addRealmFileCommands } from './realm-file.ts';

/** `idkit admin realm …` */
export const REALM: Noun = {
  command: 'realm',
  description: 'manage realms',
  word: 'realm',
  field: 'realm',
  plural: 'realms',
  argument: { name: 'realm', description: 'the realm name', what: 'the realm', flag: 'realm' },
  inRealm: false,
  name: 'realm',
  columns: [
    { title: 'REALM', field: 'realm' },
    { title: 'ENABLED', field: 'enabled' },
    { title: 'NAME', field: 'displayName', priority: 2 },
  ],
  shown: [
    'realm',
    'id',
    'enabled',
    'displayName',
    'accessTokenLifespan',
    'ssoSessionIdleTimeout',
    'ssoSessionMaxLifespan',
    'revokeRefreshToken',
    'refreshTokenMaxReuse',
    'passwordPolicy',
    'bruteForceProtected',
    'defaultSignatureAlgorithm',
  ],
  collection: () => '',
  item: (_, { realm }) => apiPath(String(realm)),
  find: findRealm,
  list: {
    description: 'list all realms',
    query: () => ({ briefRepresentation: 'true' }),
    inResult: ({ realm, enabled }) => ({ realm, enabled: enabled ?? null }),
    examples: [['idkit admin realm list', 'prints each realm and its state']],
  },
  get: { examples: [['idkit admin realm get acme', 'prints its main settings']] },
  create: {
    description: 'create an enabled realm',
    // A file says itself whether its realm is enabled.
    body: (_, flags, realm) => (flags['file'] === undefined ? { realm, enabled: true } : { realm }),
    examples: [
      ['idkit admin realm create acme', 'with default settings'],
      ['idkit admin realm create --file acme-realm.json', 'from an exported realm'],
    ],
  },
  update: {
    sends: 'changes',
    hidden: [],
    examples: [
      ['idkit admin realm update acme --set accessTokenLifespan=300', 'changes one setting'],
      ['idkit admin realm update acme -e', 'opens all settings in an editor'],
    ],
  },
  delete: {
    kept: true,
    examples: [
      ['idkit admin realm delete acme', 'asks, then deletes the realm and all its users'],
      ['idkit admin realm delete acme --now', 'erases the realm for good'],
    ],
  },
  verbs(group, run) {
    addRealmFileCommands(group, run, REALM);
    for (const verb of ['enable', 'disable'] as const) addSwitch(group, run, verb);
  },
};

async function findRealm(place: Place, name: string): Promise<Record<string, unknown>> {
  try {
    return { ...(await read(place, apiPath(name))) };
  } catch (error) {
    if (!(error instanceof IdkitError) || error.code !== 'IDKIT_NOT_FOUND') throw error;
    throw new IdkitError('IDKIT_NOT_FOUND', `the service has no realm ${name}`, {
      hints: ['idkit admin realm list prints the realms'],
    });
  }
}

function addSwitch(group: CliCommand, run: Runner, verb: 'enable' | 'disable'): void {
  nounCommand(group, REALM, {
    verb,
    description: verb === 'enable' ? 'allow logins in a realm' : 'reject all logins and tokens of a realm',
  })
    .examples([[`idkit admin realm ${verb} acme`, 'keeps the users and settings']])
    .action(
      run(async (context, flags, [name]) => {
        const realm = readName(REALM, flags, { given: name });
        const { admin } = await openNounPlace(context, flags, { noun: REALM });
        await admin.call('PUT', apiPath(realm), { realm, enabled: verb === 'enable' });
        return { data: { realm }, text: `${verb}d realm ${realm}` };
      }),
    );
}
