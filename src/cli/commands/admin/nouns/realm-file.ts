import { IdkitError, isJsonObject } from '../../../../core/index.ts';
import type { CliCommand } from '../../../cli-command.ts';
import type { CommandContext, Flags, Outcome, Runner } from '../../../command.ts';
import { checkName, textFlag } from '../../../flags.ts';
import { connect, withAdminFlags } from '../connect.ts';
import { type ApiRecord, apiPath } from '../lookup.ts';
import { readInput } from '../records/input-file.ts';
import type { Noun } from '../records/noun.ts';
import { nounCommand, openNounPlace, readName } from '../records/noun-place.ts';
import { responseFault } from '../response-fault.ts';
import { copyRealm, countRecords, withoutMasks } from './realm-copy.ts';

/** Adds `realm export` and `realm import`. */
export function addRealmFileCommands(group: CliCommand, run: Runner, noun: Noun): void {
  nounCommand(group, noun, {
    verb: 'export',
    description:
      'print a realm as JSON, with its clients, groups and roles, but without its users and secrets',
  })
    .examples([['idkit admin realm export acme > realm-acme.json', 'writes a file']])
    .action(run((context, flags, [name]) => exportRealm(context, flags, { noun, name })));
  withAdminFlags(
    group
      .command('import')
      .argument('<file>', 'a realm as JSON or YAML; - is stdin')
      .description('create a realm from a file of realm export, of a backup set or of kc.sh export'),
    { realm: false },
  )
    .option('--as <name>', 'the name of the new realm (default: the name in the file)')
    .option('--dry-run', 'check the file and print what the import would create, but change nothing')
    .examples([
      ['idkit admin realm import realm-acme.json --as stage --dry-run', 'prints what would be created'],
      ['idkit admin realm import realm-acme.json --as stage', 'a second realm with the same settings'],
    ])
    .action(run((context, flags, [file]) => importRealm(context, flags, String(file))));
}

async function exportRealm(
  context: CommandContext,
  flags: Flags,
  { noun, name }: { noun: Noun; name: string | undefined },
): Promise<Outcome> {
  const realm = readName(noun, flags, { given: name });
  const place = await openNounPlace(context, flags, { noun });
  // The error for an unknown realm then names the realm.
  await noun.find(place, realm);
  const parts = new URLSearchParams({ exportClients: 'true', exportGroupsAndRoles: 'true' });
  const { body } = await place.admin.call('POST', `${apiPath(realm, 'partial-export')}?${parts}`);
  if (!isJsonObject(body)) throw new IdkitError('IDKIT_FAILED', 'the response of the service is not a realm');
  return { data: { realm: body }, text: JSON.stringify(body, null, 2) };
}

async function importRealm(context: CommandContext, flags: Flags, file: string): Promise<Outcome> {
  const wanted = textFlag(flags, 'as');
  if (wanted !== undefined) checkName(wanted, '--as');
  const { record: read, masks } = withoutMasks(await readInput(context, file));
  const written = read['realm'];
  if (typeof written !== 'string')
    throw new IdkitError('IDKIT_USAGE', `${file} does not contain a realm: it has no field realm`, {
      hints: ['idkit admin realm export REALM writes such a file'],
    });
  const record = wanted === undefined || wanted === written ? read : copyRealm(read, written, wanted);
  const realm = wanted ?? checkName(written, 'the realm in the file');
  const { admin } = await connect(context, flags);
  if (masks > 0)
    context.reporter.note(
      `${masks} secrets of the file are masked; the service generates secrets of clients and keys, and passwords of other servers must be set again`,
    );
  const creates = countRecords(record);
  const parts = Object.entries(creates).map(([kind, count]) => `${kind} ${count}`);
  if (flags['dryRun'] !== true) {
    await admin.call('POST', '', record);
    return { data: { realm, creates }, text: `created realm ${realm} with ${parts.join(', ')}` };
  }
  const response = await admin.request({
    method: 'POST',
    path: '/admin/import-preview',
    body: JSON.stringify(record),
  });
  // Keycloak has no preview.
  if (response.status === 404) {
    await checkFree(await admin.listRealms(), realm);
    context.reporter.note(
      'the service cannot check a realm file, so only the name and the counts are checked',
    );
    return preview(realm, { creates });
  }
  const fault = await responseFault(response, `POST ${response.url}`);
  if (fault !== undefined) throw fault;
  return preview(realm, { creates, ...(JSON.parse(response.text) as ApiRecord) });
}

async function checkFree(realms: readonly { readonly realm: string }[], realm: string): Promise<void> {
  if (realms.some((one) => one.realm === realm))
    throw new IdkitError('IDKIT_FAILED', `realm ${realm} exists already`, {
      hints: ['--as NAME imports the file under another name'],
    });
}

interface Fault {
  path: string;
  what: string;
}

function preview(realm: string, found: ApiRecord): Outcome {
  const refused = (found['refused'] ?? []) as readonly Fault[];
  const unenforced = (found['unenforced'] ?? []) as readonly Fault[];
  const creates = (found['creates'] ?? {}) as Readonly<Record<string, number>>;
  const data = { realm, creates, refused, unenforced, dryRun: true };
  if (refused.length > 0) {
    throw new IdkitError(
      'IDKIT_FAILED',
      `realm ${realm} cannot be imported: ${refused.map(({ path, what }) => `${path}: ${what}`).join('; ')}`,
    );
  }
  const lines = [
    `would create realm ${realm} with:`,
    ...Object.entries(creates).map(([kind, count]) => `  ${kind} ${count}`),
    ...unenforced.map(({ what }) => `not supported: ${what}`),
  ];
  return { data, text: lines.join('\n') };
}
