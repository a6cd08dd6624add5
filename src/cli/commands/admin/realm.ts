import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { IdkitError } from '../../../core/index.ts';
import type { CliCommand } from '../../cli-command.ts';
import type { CommandContext, Flags, Outcome, Runner } from '../../command.ts';
import { textFlag } from '../../flags.ts';
import { renderPairs, renderTable } from '../../output/render-table.ts';
import { connect, nameArgument, withAdminFlags } from './connect.ts';

const REALM = { name: 'the realm', flag: '--realm' };

/** `idkit admin realm list|get|create|export` */
export function addRealmCommands(admin: CliCommand, run: Runner): void {
  const realm = admin
    .command('realm')
    .description('manage realms')
    .examples([['idkit admin realm list', 'prints each realm and its state']]);
  withAdminFlags(realm.command('list').description('list all realms'), { realm: false })
    .examples([['idkit admin realm list', 'prints each realm and its state']])
    .action(run(listRealms));
  withAdminFlags(
    realm
      .command('get')
      .argument('[realm]', 'the realm name')
      .description('print the main settings of a realm'),
    {
      realm: false,
    },
  )
    .option('--realm <name>', 'the realm')
    .examples([['idkit admin realm get acme', 'prints its main settings']])
    .action(run((context, flags, [name]) => getRealm(context, flags, name)));
  withAdminFlags(
    realm.command('create').argument('[realm]', 'the realm name').description('create an enabled realm'),
    {
      realm: false,
    },
  )
    .option('--realm <name>', 'the realm')
    .option('--file <file>', 'a realm representation as JSON')
    .examples([
      ['idkit admin realm create acme', 'with default settings'],
      ['idkit admin realm create --file acme-realm.json', 'from an exported realm'],
    ])
    .action(run((context, flags, [name]) => createRealm(context, flags, name)));
  withAdminFlags(
    realm
      .command('export')
      .argument('[realm]', 'the realm name')
      .description('print the representation of a realm as JSON'),
    { realm: false },
  )
    .option('--realm <name>', 'the realm')
    .examples([['idkit admin realm export acme > realm-acme.json', 'writes a file; it contains no users']])
    .action(run((context, flags, [name]) => exportRealm(context, flags, name)));
}

async function listRealms(context: CommandContext, flags: Flags): Promise<Outcome> {
  const { admin } = await connect(context, flags);
  const realms = await admin.listRealms();
  const rows = realms.map((realm) => [realm.realm, realm.enabled ?? '', realm['displayName']]);
  return {
    data: { realms: realms.map(({ realm, enabled }) => ({ realm, enabled: enabled ?? null })) },
    text: renderTable(['REALM', 'ENABLED', 'NAME'], rows),
  };
}

async function getRealm(context: CommandContext, flags: Flags, name: string | undefined): Promise<Outcome> {
  const realm = nameArgument(name, textFlag(flags, 'realm'), REALM);
  const { admin } = await connect(context, flags);
  const record = await admin.getRealm(realm);
  const shown = [
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
  ];
  return { data: { realm: record }, text: renderPairs(shown.map((key) => [key, record[key]])) };
}

async function createRealm(
  context: CommandContext,
  flags: Flags,
  name: string | undefined,
): Promise<Outcome> {
  const file = textFlag(flags, 'file');
  const representation = file === undefined ? { enabled: true } : await readRepresentation(context, file);
  const written = (representation as Record<string, unknown>)['realm'];
  const fromFile = typeof written === 'string' ? written : undefined;
  const realm = nameArgument(
    name,
    textFlag(flags, 'realm') ?? (name === undefined ? fromFile : undefined),
    REALM,
  );
  const { admin } = await connect(context, flags);
  await admin.call('POST', '', { ...representation, realm });
  return { data: { realm }, text: `created realm ${realm}` };
}

async function readRepresentation(context: CommandContext, file: string): Promise<object> {
  let text: string;
  try {
    text = await readFile(resolve(context.cwd, file), 'utf8');
  } catch (error) {
    throw new IdkitError('IDKIT_USAGE', `--file ${file} cannot be read`, { cause: error });
  }
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch (error) {
    throw new IdkitError('IDKIT_USAGE', `--file ${file} is not JSON: ${(error as Error).message}`, {
      cause: error,
    });
  }
  throw new IdkitError('IDKIT_USAGE', `--file ${file} must hold a JSON object`);
}

async function exportRealm(
  context: CommandContext,
  flags: Flags,
  name: string | undefined,
): Promise<Outcome> {
  const realm = nameArgument(name, textFlag(flags, 'realm'), REALM);
  const { admin } = await connect(context, flags);
  const record = await admin.getRealm(realm);
  return { data: { realm: record }, text: JSON.stringify(record, null, 2) };
}
