import { given, textFlag } from '../../../flags.ts';
import { inRealm } from '../place.ts';
import { findIn } from '../records/find.ts';
import type { Noun } from '../records/noun.ts';

/** `idkit admin component …` */
export const COMPONENT: Noun = {
  command: 'component',
  description: 'manage the components of a realm, such as key providers',
  word: 'component',
  field: 'component',
  plural: 'components',
  argument: { name: 'component', description: 'the name or the id of the component', what: 'the component' },
  inRealm: true,
  name: 'name',
  columns: [
    { title: 'NAME', field: 'name' },
    { title: 'PROVIDER', field: 'providerId', priority: 2 },
    { title: 'TYPE', field: 'providerType', priority: 4 },
    { title: 'ID', field: 'id', priority: 3 },
  ],
  shown: ['name', 'id', 'providerId', 'providerType', 'subType', 'parentId', 'config'],
  collection: (place) => inRealm(place, 'components'),
  item: (place, { id }) => inRealm(place, 'components', String(id)),
  find: (place, name) =>
    findIn(place, inRealm(place, 'components'), { name, field: 'name', word: 'component' }),
  list: {
    description: 'list the components',
    flags: (command) => command.option('--type <type>', 'list only components of this provider type'),
    query: (flags) => ({ ...given('type', textFlag(flags, 'type')) }),
    examples: [
      ['idkit admin component list --realm acme', 'prints each component'],
      [
        'idkit admin component list --realm acme --type org.keycloak.keys.KeyProvider',
        'prints the key providers',
      ],
    ],
  },
  get: { examples: [['idkit admin component get rsa-generated --realm acme', 'prints its configuration']] },
  create: {
    description: 'create a component from a file or from fields',
    body: (_, __, name) => ({ name }),
    examples: [['idkit admin component create --file key-provider.yaml --realm acme', 'reads the component']],
  },
  update: {
    sends: 'whole',
    multivalued: 'config',
    hidden: [],
    examples: [
      [
        'idkit admin component update rsa-generated --realm acme --set config.priority=200',
        'changes a setting',
      ],
    ],
  },
  delete: { examples: [['idkit admin component delete old-key --realm acme', 'asks, then deletes it']] },
};
