import type { Json } from '../../../../src/admin/index.ts';
import type { Place, Sample } from './place.ts';

const byId = (list: readonly Json[], id: string) => list.find((one) => one['id'] === id);
const get = async (place: Place, path: string): Promise<Json> => (await place.call('GET', path)).json as Json;
const list = async (place: Place, path: string): Promise<readonly Json[]> => {
  const { status, json } = await place.call('GET', path);
  return status === 200 ? (json as readonly Json[]) : [];
};
const has =
  (path: (place: Place) => string, id: (place: Place) => string, there: boolean) => async (place: Place) =>
    (byId(await list(place, path(place)), id(place)) !== undefined) === there;
const isDeleted = (path: (place: Place) => string) => async (place: Place) =>
  (await place.call('GET', path(place))).status === 404;

/**
 * Creates a sample that sets a different field on each side, so that both changes are visible even if a route is paired
 * with itself.
 */
function fields(
  path: (place: Place) => string,
  a: readonly [string, unknown],
  b: readonly [string, unknown],
): Sample {
  const own = ({ side }: Place) => (side === 'a' ? a : b);
  return {
    body: (place) => Object.fromEntries([own(place)]),
    seen: async (place) => {
      const [name, value] = own(place);
      return JSON.stringify((await get(place, path(place)))[name]) === JSON.stringify(value);
    },
  };
}

const userPath = ({ the }: Place) => `/users/${the}`;
const clientPath = ({ the }: Place) => `/clients/${the}`;
const scopePath = ({ the }: Place) => `/client-scopes/${the}`;
const groupPath = ({ the }: Place) => `/groups/${the}`;
const rolePath = ({ the, owner }: Place) => `/roles-by-id/${owner === 'realm' ? the : `owner-${the}`}`;

const users: Record<string, Sample> = {
  'PUT /users/:id': fields(userPath, ['firstName', 'First'], ['lastName', 'Last']),
  'DELETE /users/:id': { seen: isDeleted(userPath), ends: true },
  'PUT /users/:id/reset-password': {
    body: ({ side }) => ({ type: 'password', value: `the-new-password-${side}` }),
    seen: has(
      (place) => `${userPath(place)}/credentials`,
      ({ the }) => `${the}-password`,
      false,
    ),
    field: 'password',
  },
  'DELETE /users/:id/credentials/:credential': {
    params: ({ the, side }) => ({ credential: `${the}-removed-${side}` }),
    seen: has(
      (place) => `${userPath(place)}/credentials`,
      ({ the, side }) => `${the}-removed-${side}`,
      false,
    ),
  },
  'PUT /users/:id/credentials/:credential/userLabel': {
    params: ({ the, side }) => ({ credential: `${the}-had-${side}` }),
    body: ({ side }) => `label ${side}`,
    seen: async (place) => {
      const credentials = await list(place, `${userPath(place)}/credentials`);
      return byId(credentials, `${place.the}-had-${place.side}`)?.['userLabel'] === `label ${place.side}`;
    },
  },
  'DELETE /users/:id/consents/:client': {
    params: ({ side }) => ({ client: `side-${side}` }),
    seen: async (place) =>
      !(await list(place, `${userPath(place)}/consents`)).some(
        (one) => one['clientId'] === `side-${place.side}`,
      ),
  },
  'POST /users/:id/logout': {
    seen: async (place) => Number((await get(place, userPath(place)))['notBefore']) > 0,
    field: 'notBefore',
  },
  ...memberships('PUT', 'new', true),
  ...memberships('DELETE', 'had', false),
  ...mappings('/users/:id/role-mappings', userPath),
};

function memberships(method: string, name: string, there: boolean): Record<string, Sample> {
  return {
    [`${method} /users/:id/groups/:group`]: {
      params: ({ side }) => ({ group: `${name}-${side}` }),
      seen: has(
        (place) => `${userPath(place)}/groups`,
        ({ side }) => `${name}-${side}`,
        there,
      ),
    },
  };
}

/**
 * Samples for the roles of a holder. The realm file of the pairs cannot contain the roles of clients and scopes, so their
 * samples add the role that they remove.
 */
function mappings(
  base: string,
  holder: (place: Place) => string,
  { owner = 'client', stored = true } = {},
): Record<string, Sample> {
  const path = (place: Place) => `${holder(place)}/${base.split('/').at(-1)}`;
  const both = (method: string, name: string, there: boolean): [string, Sample][] =>
    [
      { below: '/realm', at: () => '/realm', id: ({ side }: Place) => `${name}-${side}` },
      {
        below: `/clients/:${owner}`,
        at: ({ side }: Place) => `/clients/side-${side}`,
        id: ({ side }: Place) => `side-${side}-${name}`,
      },
    ].map(({ below, at, id }) => {
      const body = (place: Place) => [{ id: id(place) }];
      const url = (place: Place) => `${path(place)}${at(place)}`;
      return [
        `${method} ${base}${below}`,
        {
          params: ({ side }: Place): Record<string, string> =>
            below === '/realm' ? {} : { [owner]: `side-${side}` },
          body,
          ...(stored || there
            ? {}
            : { prepare: (place: Place) => place.call('POST', url(place), body(place)) }),
          seen: has(url, id, there),
        },
      ];
    });
  return Object.fromEntries([...both('POST', 'new', true), ...both('DELETE', 'had', false)]);
}

function mapperSamples(area: string, path: (place: Place) => string): Record<string, Sample> {
  const models = (place: Place) => `${path(place)}/protocol-mappers/models`;
  const id = ({ the, side }: Place, name: string) => `${the}-${name}-${side}`;
  const made = (place: Place, name: string) => ({
    id: id(place, name),
    name: `${name}-${place.side}`,
    protocol: 'openid-connect',
    protocolMapper: 'oidc-hardcoded-claim-mapper',
    config: { 'claim.name': name, 'claim.value': 'after' },
  });
  return {
    [`POST ${area}/protocol-mappers/models`]: {
      body: (place) => made(place, 'one'),
      seen: has(models, (place) => id(place, 'one'), true),
    },
    [`POST ${area}/protocol-mappers/add-models`]: {
      body: (place) => [made(place, 'many')],
      seen: has(models, (place) => id(place, 'many'), true),
    },
    [`PUT ${area}/protocol-mappers/models/:mapper`]: {
      params: (place) => ({ mapper: id(place, 'had') }),
      body: (place) => made(place, 'had'),
      seen: async (place) => {
        const found = byId(await list(place, models(place)), id(place, 'had'));
        return (found?.['config'] as Json | undefined)?.['claim.value'] === 'after';
      },
    },
    [`DELETE ${area}/protocol-mappers/models/:mapper`]: {
      params: (place) => ({ mapper: id(place, 'removed') }),
      seen: has(models, (place) => id(place, 'removed'), false),
    },
  };
}

/** Samples for a client's list of scopes. The record of the pair is either the client or the scope. */
function scopeLists(which: 'default' | 'optional'): Record<string, Sample> {
  const path = `/clients/:client/${which}-client-scopes`;
  const ofClient = (place: Place, name: string) =>
    place.kind === 'client'
      ? { client: place.the, scope: `${name}-${place.side}` }
      : { client: `side-${place.side}`, scope: place.the };
  const added = which === 'default' ? 'new' : 'next';
  const taken = which === 'default' ? 'had' : 'may';
  const filled = (place: Place, name: string) => path.replace(':client', ofClient(place, name).client);
  return {
    [`PUT ${path}/:scope`]: {
      params: (place) => ofClient(place, added),
      seen: has(
        (place) => filled(place, added),
        (place) => ofClient(place, added).scope,
        true,
      ),
      field: 'list',
    },
    [`DELETE ${path}/:scope`]: {
      params: (place) => ofClient(place, taken),
      prepare: async (place) => {
        const { scope } = ofClient(place, taken);
        if (place.kind === 'scope') await place.call('PUT', `${filled(place, taken)}/${scope}`);
      },
      seen: has(
        (place) => filled(place, taken),
        (place) => ofClient(place, taken).scope,
        false,
      ),
      field: 'list',
    },
    [`PUT /default-${which}-client-scopes/:scope`]: {
      seen: has(
        () => `/default-${which}-client-scopes`,
        ({ the }) => the,
        true,
      ),
      field: 'realmDefault',
    },
    [`DELETE /default-${which}-client-scopes/:scope`]: {
      prepare: (place) => place.call('PUT', `/default-${which}-client-scopes/${place.the}`),
      seen: has(
        () => `/default-${which}-client-scopes`,
        ({ the }) => the,
        false,
      ),
      field: 'realmDefault',
    },
  };
}

const clients: Record<string, Sample> = {
  'PUT /clients/:client': fields(clientPath, ['name', 'Name'], ['description', 'Description']),
  'DELETE /clients/:client': { seen: isDeleted(clientPath), ends: true },
  'POST /clients/:client/client-secret': {
    seen: async (place) =>
      (await get(place, `${clientPath(place)}/client-secret`))['value'] !== 'a-secret-of-before-the-change',
    field: 'secret',
  },
  'POST /clients/:client/roles': {
    body: ({ side }) => ({ name: `role-${side}` }),
    seen: async (place) =>
      (await place.call('GET', `${clientPath(place)}/roles/role-${place.side}`)).status === 200,
  },
  ...mapperSamples('/clients/:client', clientPath),
  ...mappings('/clients/:client/scope-mappings', clientPath, { owner: 'owner', stored: false }),
};

const scopes: Record<string, Sample> = {
  'PUT /client-scopes/:scope': {
    ...fields(scopePath, ['description', 'Described'], ['attributes', { 'consent.screen.text': 'b' }]),
  },
  'DELETE /client-scopes/:scope': { seen: isDeleted(scopePath), ends: true },
  ...scopeLists('default'),
  ...scopeLists('optional'),
  ...mapperSamples('/client-scopes/:scope', scopePath),
  ...mappings('/client-scopes/:scope/scope-mappings', scopePath, { stored: false }),
};

function roles(path: string): Record<string, Sample> {
  const composites = (place: Place) => `${rolePath(place)}/composites`;
  const named = (name: string) => ({
    body: ({ side }: Place) => [{ id: `${name}-${side}`, name: `${name}-${side}` }],
    seen: has(composites, ({ side }) => `${name}-${side}`, name === 'new'),
  });
  return {
    [`PUT ${path}`]: fields(rolePath, ['description', 'Described'], ['attributes', { b: ['b'] }]),
    [`DELETE ${path}`]: { seen: isDeleted(rolePath), ends: true },
    [`POST ${path}/composites`]: named('new'),
    [`DELETE ${path}/composites`]: named('had'),
  };
}

const inGroup = (parent: (place: Place) => string | undefined) => async (place: Place) =>
  (await get(place, groupPath(place)))['parentId'] === parent(place);

const groups: Record<string, Sample> = {
  'PUT /groups/:id': fields(groupPath, ['description', 'Described'], ['attributes', { b: ['b'] }]),
  'DELETE /groups/:id': { seen: isDeleted(groupPath), ends: true },
  'POST /groups': {
    body: ({ the }) => ({ id: the, name: the }),
    seen: inGroup(() => undefined),
    field: 'parent',
  },
  'POST /groups/:id/children': {
    params: ({ side }) => ({ id: `new-${side}` }),
    body: ({ the }) => ({ id: the, name: the }),
    seen: inGroup(({ side }) => `new-${side}`),
    field: 'parent',
  },
  ...mappings('/groups/:id/role-mappings', groupPath),
};

const componentPath = ({ the }: Place) => `/components/${the}`;
const COMPONENT = { a: { priority: ['77'] }, b: { active: ['false'] } };
const others: Record<string, Sample> = {
  'PUT /components/:id': {
    body: ({ side }) => ({ config: COMPONENT[side] }),
    seen: async (place) => {
      const config = (await get(place, componentPath(place)))['config'] as Json | undefined;
      return Object.entries(COMPONENT[place.side]).every(
        ([name, value]) => String(config?.[name]) === String(value),
      );
    },
  },
  'DELETE /components/:id': { seen: isDeleted(componentPath), ends: true },
  'PUT ': fields(() => '', ['displayName', 'Shown'], ['displayNameHtml', '<b>Shown</b>']),
  'DELETE ': { seen: isDeleted(() => ''), ends: true },
  'PUT /events/config': fields(() => '/events/config', ['eventsEnabled', true], ['adminEventsEnabled', true]),
};

/**
 * A sample for each route that writes, by method and path. A partial import has one for each kind that it overwrites.
 */
export const SAMPLES: Readonly<Record<string, Sample>> = {
  ...users,
  ...clients,
  ...scopes,
  ...roles('/roles/:name'),
  ...roles('/clients/:client/roles/:name'),
  ...roles('/roles-by-id/:id'),
  ...groups,
  ...others,
  ...imports(),
};

/**
 * Whether the import changed the group. If the group was moved before, the import created a new group with its name.
 */
async function importedGroup(place: Place): Promise<boolean> {
  const { the, side } = place;
  const named = await list(place, `/groups?search=${the}&exact=true`);
  for (const id of [the, ...named.map((group) => String(group['id']))])
    if (byId(await list(place, `/groups/${id}/role-mappings/realm`), `new-${side}`) !== undefined)
      return true;
  return false;
}

function imports(): Record<string, Sample> {
  const overwrite = (given: Json) => ({ ifResourceExists: 'OVERWRITE', ...given });
  const newRole = ({ side }: Place) => `new-${side}`;
  const url = ({ side }: Place) => (side === 'a' ? 'rootUrl' : 'adminUrl');
  return {
    'POST /partialImport user': {
      body: ({ the, side }) =>
        overwrite({ users: [{ username: the, enabled: true, attributes: { by: [side] } }] }),
      seen: async (place) => {
        const { attributes } = await get(place, userPath(place));
        return String((attributes as Json | undefined)?.['by']) === place.side;
      },
      replaces: true,
    },
    'POST /partialImport client': {
      body: (place) => overwrite({ clients: [{ clientId: place.the, [url(place)]: 'https://app.test' }] }),
      seen: async (place) => (await get(place, clientPath(place)))[url(place)] === 'https://app.test',
    },
    'POST /partialImport role': {
      body: ({ the, side, owner }) => {
        const name = owner === 'realm' ? the : `owner-${the}`;
        const given = [{ name, composites: { realm: [`new-${side}`] } }];
        return overwrite({ roles: owner === 'realm' ? { realm: given } : { client: { owner: given } } });
      },
      seen: has((place) => `${rolePath(place)}/composites`, newRole, true),
      replaces: true,
    },
    'POST /partialImport group': {
      body: (place) => overwrite({ groups: [{ name: place.the, realmRoles: [newRole(place)] }] }),
      seen: importedGroup,
      replaces: true,
    },
  };
}
