import type { CliCommand } from '../../../cli-command.ts';
import type { CommandContext, Flags, Outcome, Runner } from '../../../command.ts';
import { withOutputFlags } from '../../../output/presentation.ts';
import type { ApiRecord } from '../lookup.ts';
import { inRealm, type Place } from '../place.ts';
import { askConsent, requireConsent } from '../records/consent.ts';
import { findClient, read } from '../records/find.ts';
import type { Noun } from '../records/noun.ts';
import { nounCommand, openNounPlace, readName, withoutHidden } from '../records/noun-place.ts';
import { addRoleCommands } from './role-mappings.ts';

/** Adds the commands that enable and disable a client, and those for its secret and its service account. */
export function addClientVerbs(group: CliCommand, run: Runner, noun: Noun): void {
  for (const enabled of [true, false]) addSwitch(group, run, { noun, enabled });
  const get = 'idkit admin client secret get orders --realm acme';
  const secret = group
    .command('secret')
    .description('print or replace the secret of a client')
    .examples([[get, 'prints the secret']]);
  nounCommand(secret, noun, { verb: 'get', description: 'print the secret of a client' })
    .examples([[get, 'prints the secret']])
    .action(run((context, flags, [name]) => showSecret(context, flags, { noun, name })));
  nounCommand(secret, noun, {
    verb: 'regenerate',
    description: 'replace the secret of a client by a new one',
  })
    .examples([
      ['idkit admin client secret regenerate orders --realm acme', 'asks, then prints the new secret'],
    ])
    .action(run((context, flags, [name]) => renewSecret(context, flags, { noun, name })));
  const account = group
    .command('service-account')
    .description('show the service account of a client and manage its roles')
    .examples([['idkit admin client service-account role list orders --realm acme', 'prints the roles']]);
  withOutputFlags(
    nounCommand(account, noun, { verb: 'get', description: 'print the user of a service account' }),
  )
    .examples([['idkit admin client service-account get orders --realm acme', 'prints the user']])
    .action(
      run(async (context, flags, [name]) => {
        const { place, client } = await openClient(context, flags, { noun, name });
        const user = await findAccount(place, client);
        return {
          data: { realm: place.realm, clientId: client['clientId'], user },
          record: {
            value: user,
            name: 'username',
            pairs: ['username', 'id', 'enabled', 'email'].map((field) => [field, user[field]]),
          },
        };
      }),
    );
  addRoleCommands(account, run, {
    noun,
    kind: 'users',
    find: async (place, name) => findAccount(place, await findClient(place, name)),
    example: 'orders',
  });
}

function addSwitch(
  group: CliCommand,
  run: Runner,
  { noun, enabled }: { noun: Noun; enabled: boolean },
): void {
  const verb = enabled ? 'enable' : 'disable';
  nounCommand(group, noun, {
    verb,
    description: enabled ? 'allow logins and tokens of a client' : 'reject all logins and tokens of a client',
  })
    .examples([[`idkit admin client ${verb} web --realm acme`, 'keeps the settings and the secret']])
    .action(
      run(async (context, flags, [name]) => {
        const { place, client } = await openClient(context, flags, { noun, name });
        // Keycloak 26 removes some fields that a request lacks, so send the whole record.
        await place.admin.call('PUT', noun.item(place, client), { ...withoutHidden(noun, client), enabled });
        const { clientId } = client;
        return {
          data: { realm: place.realm, clientId, enabled },
          text: `${verb}d client ${clientId} in realm ${place.realm}`,
        };
      }),
    );
}

/** Returns the secret of a client, or undefined if the client has none. */
export async function readSecret(place: Place, id: unknown): Promise<string | undefined> {
  const { value } = await read(place, inRealm(place, 'clients', String(id), 'client-secret'));
  return typeof value === 'string' ? value : undefined;
}

async function findAccount(place: Place, { id }: ApiRecord): Promise<ApiRecord> {
  return await read(place, inRealm(place, 'clients', String(id), 'service-account-user'));
}

async function openClient(
  context: CommandContext,
  flags: Flags,
  { noun, name }: { noun: Noun; name: string | undefined },
): Promise<{ place: Place; client: ApiRecord }> {
  const clientId = readName(noun, flags, { given: name });
  const place = await openNounPlace(context, flags, { noun });
  return { place, client: await findClient(place, clientId) };
}

async function showSecret(
  context: CommandContext,
  flags: Flags,
  named: { noun: Noun; name: string | undefined },
): Promise<Outcome> {
  const { place, client } = await openClient(context, flags, named);
  const { clientId, id } = client;
  const secret = client['publicClient'] === true ? undefined : await readSecret(place, id);
  return {
    data: { realm: place.realm, clientId, secret: secret ?? null },
    text: secret ?? `the client ${clientId} has no secret`,
  };
}

async function renewSecret(
  context: CommandContext,
  flags: Flags,
  named: { noun: Noun; name: string | undefined },
): Promise<Outcome> {
  requireConsent(context, 'replace the secret of a client');
  const { place, client } = await openClient(context, flags, named);
  const { clientId, id } = client;
  await askConsent(context, `Replace the secret of the client ${clientId}? The old one stops working.`);
  const path = inRealm(place, 'clients', String(id), 'client-secret');
  const { body } = await place.admin.call('POST', path);
  const secret = String((body as ApiRecord | undefined)?.['value']);
  return { data: { realm: place.realm, clientId, secret }, text: secret };
}
