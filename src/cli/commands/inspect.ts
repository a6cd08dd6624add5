import { IdkitError } from '../../core/index.ts';
import type { SetDifferences, ShownSet } from '../../procedures/index.ts';
import type { CliCommand } from '../cli-command.ts';
import type { CommandContext, Flags, Outcome, Runner } from '../command.ts';
import { given } from '../flags.ts';
import { findPrivateKeys, KEY_FLAG } from '../input/private-keys.ts';
import type { Column, ListedRecord, ListOutcome } from '../output/lists.ts';
import { withOutputFlags } from '../output/presentation.ts';
import { renderPairs, renderTable } from '../output/render-table.ts';
import { renderAge, renderBytes, renderNumber } from '../output/render-units.ts';
import { terminalWidth } from '../terminal.ts';

/** `idkit backups show SET` */
export function addShow(backups: CliCommand, run: Runner): void {
  backups
    .command('show')
    .argument(
      '<set>',
      'a set: its directory, its name in the backup root, s3://bucket/prefix/NAME, or latest',
    )
    .description('show what a set contains, without a database')
    .option(...KEY_FLAG)
    .examples([
      ['idkit backups show latest', 'realms, users, sessions, password hashes, keys, tables and versions'],
      ['idkit backups show s3://backups/idkit/latest', 'a set of a target, which is downloaded first'],
      ['idkit backups show /mnt/backups/20261101_020000 --json', 'as JSON; no platform directory is needed'],
    ])
    .action(run((context, flags, [set]) => show(context, flags, set)));
}

/** `idkit backups diff A B` */
export function addDiff(backups: CliCommand, run: Runner): void {
  withOutputFlags(backups.command('diff'), {
    fields: 'change,kind,name',
    jq: "[?kind=='user' && change=='removed'].name",
  })
    .argument(
      '<before>',
      'the older set: its directory, its name in the backup root, s3://bucket/prefix/NAME, or latest',
    )
    .argument('<after>', 'the newer set')
    .description('list the differences between two sets, without a database')
    .option(...KEY_FLAG)
    .examples([
      ['idkit backups diff 20261101_020000 latest', 'users, roles, clients, settings and keys that changed'],
      ['idkit backups diff 20261101_020000 latest --json', 'as JSON for scripts'],
    ])
    .action(run((context, flags, sets) => diff(context, flags, sets)));
}

async function show(context: CommandContext, flags: Flags, named: string | undefined): Promise<Outcome> {
  const { showSet } = await import('../../procedures/index.ts');
  const set = await resolve(context, named);
  const shown = await showSet({ ...context.procedure, set, ...(await secrets(context, flags)) });
  return { data: { ...shown }, text: renderSet(shown, context) };
}

async function resolve(context: CommandContext, named: string | undefined): Promise<string> {
  if (named === undefined || named === '')
    throw new IdkitError('IDKIT_USAGE', 'the directory of the set is an empty string');
  const { resolveSet } = await import('../../procedures/index.ts');
  const settings = await context.loadSettings();
  return resolveSet(settings, named, { ...context.procedure, cwd: context.cwd });
}

/** Returns the passphrase, if there is one, and the private key of `--key`. Never prompts. */
async function secrets(context: CommandContext, flags: Flags) {
  const { findPassphrase } = await import('../../config/index.ts');
  const { env, signal } = context;
  return {
    ...given('privateKeys', await findPrivateKeys(context, flags)),
    ...given('passphrase', await findPassphrase({ env, signal })),
  };
}

function renderSet(shown: ShownSet, context: CommandContext): string {
  const { versions } = shown;
  const now = context.procedure.clock.now();
  const width = terminalWidth(context.terminal);
  const pairs = [
    ['set', shown.dir],
    ['seal', shown.seal],
    ['taken', shown.startedAt],
    ['idkit', versions.idkit],
    ['service', versions.service],
    ['database', [versions.database, versions.databaseVersion].filter(Boolean).join(' ')],
    ['schema', versions.schema],
    ['size of the SQL', renderBytes(shown.sqlBytes)],
    ['sessions', `${renderNumber(shown.sessions.online)}, ${renderNumber(shown.sessions.offline)} offline`],
  ] as const;
  const keys = shown.realms.flatMap(({ realm, keys: own }) =>
    own.map((key) => ({
      realm,
      ...key,
      age: key.createdAt === undefined ? '' : renderAge((now - key.createdAt) / 1000),
    })),
  );
  const sections = [
    renderPairs(
      pairs.filter(([, value]) => value !== undefined),
      width,
    ),
    renderTable(
      REALM_COLUMNS,
      shown.realms.map((realm) => ({ ...realm })),
      width,
    ),
    renderTable(
      PASSWORD_COLUMNS,
      shown.passwords.map((one) => ({ ...one })),
      width,
    ),
    renderTable(KEY_COLUMNS, keys, width),
    renderTable(
      TABLE_COLUMNS,
      shown.tables.map((table) => ({ ...table })),
      width,
    ),
  ];
  return sections.join('\n\n');
}

const REALM_COLUMNS: readonly Column[] = [
  { title: 'REALM', field: 'realm' },
  { title: 'USERS', field: 'users' },
  { title: 'CLIENTS', field: 'clients' },
  { title: 'ROLES', field: 'roles', priority: 3 },
  { title: 'GROUPS', field: 'groups', priority: 2 },
  { title: 'SESSIONS', field: 'sessions', priority: 2 },
  { title: 'OFFLINE', field: 'offlineSessions', priority: 3 },
];

const PASSWORD_COLUMNS: readonly Column[] = [
  { title: 'PASSWORD HASH', field: 'algorithm' },
  { title: 'ITERATIONS', field: 'iterations' },
  { title: 'COUNT', field: 'count' },
];

const KEY_COLUMNS: readonly Column[] = [
  { title: 'REALM', field: 'realm' },
  { title: 'KEY', field: 'kid' },
  { title: 'PROVIDER', field: 'provider', priority: 2 },
  { title: 'ACTIVE', field: 'active', priority: 2 },
  { title: 'AGE', field: 'age' },
];

const TABLE_COLUMNS: readonly Column[] = [
  { title: 'TABLE', field: 'table' },
  { title: 'ROWS', field: 'rows' },
  { title: 'SIZE', field: 'bytes', show: (bytes) => renderBytes(Number(bytes)) },
];

async function diff(
  context: CommandContext,
  flags: Flags,
  [before, after]: (string | undefined)[],
): Promise<Outcome> {
  const { diffSets } = await import('../../procedures/index.ts');
  const differences = await diffSets({
    ...context.procedure,
    before: await resolve(context, before),
    after: await resolve(context, after),
    ...(await secrets(context, flags)),
  });
  const list: ListOutcome = {
    noun: 'differences',
    columns: DIFFERENCE_COLUMNS,
    records: eachOf(differences),
    name: 'name',
    empty: `${differences.before} and ${differences.after} have the same content`,
  };
  return { data: { before: differences.before, after: differences.after }, list };
}

/** Iterates over the differences, and removes the temporary files at the end. */
async function* eachOf(differences: SetDifferences): AsyncGenerator<ListedRecord> {
  try {
    for (const difference of differences.differences()) yield { ...difference };
  } finally {
    await differences.close();
  }
}

const DIFFERENCE_COLUMNS: readonly Column[] = [
  { title: 'CHANGE', field: 'change' },
  { title: 'KIND', field: 'kind' },
  { title: 'REALM', field: 'realm', priority: 2 },
  { title: 'NAME', field: 'name' },
  { title: 'WHAT', field: 'fields', show: (_fields, record) => describe(record) },
];

function describe(record: ListedRecord): string {
  const { fields, gained, lost, contents } = record as {
    fields?: readonly string[];
    gained?: Record<string, readonly string[]>;
    lost?: Record<string, readonly string[]>;
    contents?: Record<string, number>;
  };
  return [
    ...(fields ?? []),
    ...Object.entries(gained ?? {}).map(
      ([link, names]) => `${LINK_WORDS[link] ?? link} +${names.join(' +')}`,
    ),
    ...Object.entries(lost ?? {}).map(([link, names]) => `${LINK_WORDS[link] ?? link} -${names.join(' -')}`),
    ...Object.entries(contents ?? {}).map(([kind, count]) => `${kind} records: ${count}`),
  ].join(', ');
}

const LINK_WORDS: Readonly<Record<string, string>> = {
  scopeRoles: 'scope mappings',
  clientScopes: 'client scopes',
};
