import { IdkitError } from '../../../../core/index.ts';
import type { CliCommand } from '../../../cli-command.ts';
import type { CommandContext, Flags, Outcome, Runner } from '../../../command.ts';
import { textFlag } from '../../../flags.ts';
import { withAdminFlags } from '../connect.ts';
import type { ApiRecord } from '../lookup.ts';
import { inRealm, openPlace, type Place } from '../place.ts';
import { askConsent, requireConsent } from '../records/consent.ts';
import { findIn, missing, read, readAll } from '../records/find.ts';
import type { Noun } from '../records/noun.ts';
import { nounCommand, openNounPlace, readName } from '../records/noun-place.ts';
import { dateText } from './texts.ts';

const KEY_PROVIDER = 'org.keycloak.keys.KeyProvider';

/** How far the priority of a new key is above that of the key that it replaces. */
const PRIORITY_STEP = 10;

/** `idkit admin key …` */
export const KEY: Noun = {
  command: 'key',
  description: 'list and rotate the keys of a realm',
  word: 'key',
  field: 'key',
  plural: 'keys',
  // A kid can start with a hyphen, and then only the flag accepts it.
  argument: { name: 'kid', description: 'the id of the key', what: 'the key', flag: 'kid' },
  inRealm: true,
  name: 'kid',
  columns: [
    { title: 'ALGORITHM', field: 'algorithm' },
    { title: 'STATUS', field: 'status' },
    { title: 'USE', field: 'use', priority: 4 },
    { title: 'COMPONENT', field: 'component', priority: 2 },
    { title: 'PRIORITY', field: 'providerPriority', priority: 3 },
    { title: 'VALID UNTIL', field: 'validTo', show: dateText, priority: 3 },
    { title: 'KID', field: 'kid' },
  ],
  shown: [
    'kid',
    'algorithm',
    'status',
    'use',
    'type',
    'component',
    'providerId',
    'providerPriority',
    'validTo',
  ],
  collection: (place) => inRealm(place, 'components'),
  item: (place, { providerId }) => inRealm(place, 'components', String(providerId)),
  find: async (place, kid) => {
    const found = (await readKeys(place)).find((key) => key['kid'] === kid);
    if (found === undefined) throw missing(place, 'key', kid);
    return found;
  },
  list: {
    description: 'list the keys, with the one that signs first',
    records: async function* (place) {
      yield* await readKeys(place);
    },
    examples: [['idkit admin key list --realm acme', 'prints algorithm, status and age of each key']],
  },
  get: { examples: [['idkit admin key get 8tIhmOU… --realm acme -o yaml', 'with its certificate']] },
  delete: {
    examples: [
      ['idkit admin key delete 8tIhmOU… --realm acme', 'asks; tokens that the key signed are rejected then'],
    ],
  },
  verbs(group, run) {
    withAdminFlags(
      group
        .command('rotate')
        .description('create a new key that signs from now on; the old key still verifies its tokens'),
      { realm: true },
    )
      .option('--algorithm <name>', 'the algorithm of the key', 'RS256')
      .examples([
        ['idkit admin key rotate --realm acme', 'replaces the key that signs access tokens'],
        ['idkit admin key rotate --algorithm HS512 --realm acme', 'replaces the key of refresh tokens'],
      ])
      .action(run(rotate));
    addDisable(group, run);
  },
};

/** Lists the keys with the names of their components. */
async function readKeys(place: Place): Promise<readonly ApiRecord[]> {
  const { keys } = await read(place, inRealm(place, 'keys'));
  const components = await readProviders(place);
  const names = new Map(components.map((component) => [component['id'], component['name']]));
  return (keys as ApiRecord[])
    .map((key): ApiRecord => ({ ...key, component: names.get(key['providerId']) ?? null }))
    .sort((a, b) => rank(b) - rank(a) || Number(b['providerPriority']) - Number(a['providerPriority']));
}

function rank({ status }: ApiRecord): number {
  return ['DISABLED', 'PASSIVE', 'ACTIVE'].indexOf(String(status));
}

async function readProviders(place: Place): Promise<readonly ApiRecord[]> {
  const query = new URLSearchParams({ type: KEY_PROVIDER });
  return await readAll(place, `${inRealm(place, 'components')}?${query}`, 'components');
}

async function rotate(context: CommandContext, flags: Flags): Promise<Outcome> {
  const algorithm = textFlag(flags, 'algorithm') ?? 'RS256';
  requireConsent(context, 'rotate a key');
  const place = await openPlace(context, flags);
  const { active } = await read(place, inRealm(place, 'keys'));
  const kid = (active as ApiRecord)[algorithm];
  const before = (await readKeys(place)).find((key) => key['kid'] === kid);
  if (before === undefined) {
    throw new IdkitError('IDKIT_NOT_FOUND', `realm ${place.realm} has no active key for ${algorithm}`, {
      hints: [`the algorithms with an active key are ${Object.keys(active as ApiRecord).join(', ')}`],
    });
  }
  const old = await read(place, inRealm(place, 'components', String(before['providerId'])));
  await askConsent(
    context,
    `Create a new ${algorithm} key in realm ${place.realm}, which signs from now on?`,
  );
  const created = await createSuccessor(place, { old, before });
  await setActive(place, old, false);
  const after = (await readKeys(place)).find((key) => key['providerId'] === created);
  return {
    data: { realm: place.realm, algorithm, kid: after?.['kid'] ?? null, previousKid: kid },
    text: [
      `the new ${algorithm} key of realm ${place.realm} is ${after?.['kid']}`,
      `the previous key ${kid} is passive: it verifies tokens and signs none`,
    ].join('\n'),
  };
}

/** Creates a key component with the settings of another one, but with its own key and a higher priority. */
async function createSuccessor(
  place: Place,
  { old, before }: { old: ApiRecord; before: ApiRecord },
): Promise<string> {
  const config = Object.fromEntries(
    Object.entries((old['config'] ?? {}) as Record<string, unknown>).filter(([name]) => SETTINGS.has(name)),
  );
  const priority = Number(before['providerPriority']) + PRIORITY_STEP;
  const { location } = await place.admin.call('POST', inRealm(place, 'components'), {
    name: `${String(old['name']).replace(/-\d{8}-\d{6}$/, '')}-${stamp()}`,
    providerId: old['providerId'],
    providerType: KEY_PROVIDER,
    parentId: old['parentId'],
    config: { ...config, priority: [String(priority)], active: ['true'], enabled: ['true'] },
  });
  return String(location?.split('/').at(-1));
}

/** The settings that a new key keeps. All others, such as the private key, belong to the old key. */
const SETTINGS = new Set([
  'algorithm',
  'keySize',
  'secretSize',
  'ecdsaEllipticCurveKey',
  'eddsaEllipticCurveKey',
  'keyUse',
]);

/** Returns the time in UTC, for example `20261122-101503`. */
function stamp(): string {
  return new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
}

async function setActive(place: Place, component: ApiRecord, isActive: boolean): Promise<void> {
  const config = { ...(component['config'] as ApiRecord), active: [String(isActive)] };
  await place.admin.call('PUT', inRealm(place, 'components', String(component['id'])), {
    ...component,
    config,
  });
}

function addDisable(group: CliCommand, run: Runner): void {
  nounCommand(group, KEY, {
    verb: 'disable',
    description: 'stop publishing a key, so that the tokens that it signed are rejected',
  })
    .examples([['idkit admin key disable 8tIhmOU… --realm acme', 'asks, then disables the key']])
    .action(
      run(async (context, flags, [name]) => {
        const kid = readName(KEY, flags, { given: name });
        requireConsent(context, 'disable a key');
        const place = await openNounPlace(context, flags, { noun: KEY });
        const { providerId } = await KEY.find(place, kid);
        const component = await findIn(place, inRealm(place, 'components'), {
          name: String(providerId),
          field: 'id',
          word: 'component',
        });
        await askConsent(context, `Disable the key ${kid}? The tokens that it signed are rejected then.`);
        const config = { ...(component['config'] as ApiRecord), enabled: ['false'] };
        const path = inRealm(place, 'components', String(providerId));
        await place.admin.call('PUT', path, { ...component, config });
        return { data: { realm: place.realm, kid }, text: `disabled key ${kid} of realm ${place.realm}` };
      }),
    );
}
