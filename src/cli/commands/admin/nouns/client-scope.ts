import { IdkitError } from '../../../../core/index.ts';
import type { CliCommand } from '../../../cli-command.ts';
import type { Runner } from '../../../command.ts';
import { given, textFlag } from '../../../flags.ts';
import { inRealm, type Place } from '../place.ts';
import { findClient, findIn } from '../records/find.ts';
import type { Noun } from '../records/noun.ts';
import { nounCommand, openNounPlace, readName } from '../records/noun-place.ts';
import { ownText } from './texts.ts';

const find = (place: Place, name: string) =>
  findIn(place, inRealm(place, 'client-scopes'), { name, field: 'name', word: 'client scope' });

/** `idkit admin client-scope …` */
export const CLIENT_SCOPE: Noun = {
  command: 'client-scope',
  description: 'manage the client scopes of a realm',
  word: 'client scope',
  field: 'clientScope',
  plural: 'clientScopes',
  argument: { name: 'scope', description: 'the name of the client scope', what: 'the client scope' },
  inRealm: true,
  name: 'name',
  columns: [
    { title: 'SCOPE', field: 'name' },
    { title: 'PROTOCOL', field: 'protocol', priority: 4 },
    { title: 'DESCRIPTION', field: 'description', show: ownText, priority: 2 },
    { title: 'ID', field: 'id', priority: 5 },
  ],
  shown: ['name', 'id', 'protocol', 'description', 'attributes'],
  collection: (place) => inRealm(place, 'client-scopes'),
  item: (place, { id }) => inRealm(place, 'client-scopes', String(id)),
  find,
  list: {
    description: 'list the client scopes',
    examples: [['idkit admin client-scope list --realm acme', 'prints each client scope']],
  },
  get: { examples: [['idkit admin client-scope get profile --realm acme -o yaml', 'with its mappers']] },
  create: {
    description: 'create a client scope',
    flags: (command) => command.option('--description <text>', 'what the scope grants'),
    body: (_, flags, name) => ({
      name,
      protocol: 'openid-connect',
      ...given('description', textFlag(flags, 'description')),
    }),
    examples: [['idkit admin client-scope create orders --realm acme', 'creates an OpenID Connect scope']],
  },
  update: {
    sends: 'whole',
    hidden: ['protocolMappers'],
    examples: [
      [
        'idkit admin client-scope update orders --realm acme --set attributes.include.in.token.scope=true',
        'sets an attribute',
      ],
    ],
  },
  delete: { examples: [['idkit admin client-scope delete orders --realm acme', 'asks, then deletes it']] },
  verbs(group, run) {
    for (const verb of ['assign', 'unassign'] as const) addAssignment(group, run, verb);
  },
};

function addAssignment(group: CliCommand, run: Runner, verb: 'assign' | 'unassign'): void {
  const isAdded = verb === 'assign';
  const command = nounCommand(group, CLIENT_SCOPE, {
    verb,
    description: isAdded ? 'give a client scope to a client' : 'remove a client scope from a client',
  }).option('--client <client-id>', 'the client');
  const flagged = command.option(
    '--optional',
    isAdded ? 'only for requests that name the scope' : 'from the optional scopes',
  );
  flagged
    .examples([[`idkit admin client-scope ${verb} orders --client web --realm acme`, 'names the client']])
    .action(
      run(async (context, flags, [name]) => {
        const wanted = readName(CLIENT_SCOPE, flags, { given: name });
        const clientId = textFlag(flags, 'client');
        if (clientId === undefined) throw new IdkitError('IDKIT_USAGE', `${verb} needs --client`);
        const place = await openNounPlace(context, flags, { noun: CLIENT_SCOPE });
        const scope = await find(place, wanted);
        const client = await findClient(place, clientId);
        const kind = flags['optional'] === true ? 'optional' : 'default';
        const path = inRealm(
          place,
          'clients',
          String(client['id']),
          `${kind}-client-scopes`,
          String(scope['id']),
        );
        await place.admin.call(isAdded ? 'PUT' : 'DELETE', path);
        return {
          data: { realm: place.realm, clientScope: wanted, clientId, kind },
          text: `${isAdded ? 'assigned' : 'removed'} the ${kind} scope ${wanted} ${isAdded ? 'to' : 'from'} the client ${clientId}`,
        };
      }),
    );
}
