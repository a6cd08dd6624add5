/** A field of a mapper's configuration. */
export interface MapperField {
  /** The key in the configuration. */
  key: string;
  label: string;
  help?: string;
  kind: 'text' | 'check' | 'type';
  required?: true;
}

/** A type of protocol mapper that the service has. */
export interface MapperType {
  title: string;
  help: string;
  fields: readonly MapperField[];
  /** Whether the user chooses the tokens that the mapper writes to. */
  tokens: boolean;
}

const CLAIM: MapperField = {
  key: 'claim.name',
  label: 'Claim',
  help: 'The name in the token. A dot makes a nested object, such as address.city.',
  kind: 'text',
  required: true,
};
const JSON_TYPE: MapperField = { key: 'jsonType.label', label: 'Type of the value', kind: 'type' };
const MULTIVALUED: MapperField = {
  key: 'multivalued',
  label: 'All values, as a list',
  kind: 'check',
};
const ROLE: MapperField = {
  key: 'role',
  label: 'Role',
  help: 'A role of the realm, or client.role for a role of a client',
  kind: 'text',
  required: true,
};

const field = (key: string, label: string, help?: string): MapperField => ({
  key,
  label,
  kind: 'text',
  ...(help === undefined ? {} : { help }),
});

/** The types of mappers, in the order of the list, by their ids in Keycloak. */
export const MAPPER_TYPES: Readonly<Record<string, MapperType>> = {
  'oidc-usermodel-attribute-mapper': {
    title: 'Attribute of the user',
    help: 'Writes an attribute of the user into a claim.',
    fields: [
      { ...field('user.attribute', 'Attribute'), required: true },
      CLAIM,
      JSON_TYPE,
      MULTIVALUED,
      { key: 'aggregate.attrs', label: 'Also the attributes of the groups', kind: 'check' },
    ],
    tokens: true,
  },
  'oidc-usermodel-property-mapper': {
    title: 'Field of the user',
    help: 'Writes the username, the e-mail address or a name into a claim.',
    fields: [
      {
        ...field('user.attribute', 'Field', 'username, email, emailVerified, firstName, lastName or id'),
        required: true,
      },
      CLAIM,
      JSON_TYPE,
    ],
    tokens: true,
  },
  'oidc-full-name-mapper': {
    title: 'Full name',
    help: 'Writes the first and the last name into the claim name.',
    fields: [],
    tokens: true,
  },
  'oidc-group-membership-mapper': {
    title: 'Groups',
    help: 'Writes the groups of the user into a claim.',
    fields: [
      CLAIM,
      { key: 'full.path', label: 'With the groups above, such as /staff/finance', kind: 'check' },
    ],
    tokens: true,
  },
  'oidc-usermodel-realm-role-mapper': {
    title: 'Realm roles',
    help: 'Writes the realm roles of the user into a claim.',
    fields: [
      CLAIM,
      field('usermodel.realmRoleMapping.rolePrefix', 'Prefix', 'Put before the name of each role'),
      MULTIVALUED,
    ],
    tokens: true,
  },
  'oidc-usermodel-client-role-mapper': {
    title: 'Client roles',
    help: 'Writes the roles that the user has in a client into a claim.',
    fields: [
      field('usermodel.clientRoleMapping.clientId', 'Client id', 'Empty: the roles of every client'),
      CLAIM,
      field('usermodel.clientRoleMapping.rolePrefix', 'Prefix', 'Put before the name of each role'),
      MULTIVALUED,
    ],
    tokens: true,
  },
  'oidc-audience-mapper': {
    title: 'Audience',
    help: 'Names an API that accepts the token.',
    fields: [
      field('included.client.audience', 'Client id of the API'),
      field('included.custom.audience', 'Another name', 'Used if the client id is empty'),
    ],
    tokens: true,
  },
  'oidc-audience-resolve-mapper': {
    title: 'Audience from roles',
    help: 'Names every client in which the user has a role.',
    fields: [],
    tokens: false,
  },
  'oidc-hardcoded-claim-mapper': {
    title: 'Fixed claim',
    help: 'Writes the same value into every token.',
    fields: [CLAIM, { ...field('claim.value', 'Value'), required: true }, JSON_TYPE],
    tokens: true,
  },
  'oidc-hardcoded-role-mapper': {
    title: 'Fixed role',
    help: 'Adds a role to every token.',
    fields: [ROLE],
    tokens: false,
  },
  'oidc-role-name-mapper': {
    title: 'New name for a role',
    help: 'Writes a role under another name.',
    fields: [
      ROLE,
      { ...field('new.role.name', 'New name', 'Or client.role for a role of a client'), required: true },
    ],
    tokens: false,
  },
  'oidc-usersessionmodel-note-mapper': {
    title: 'Note of the session',
    help: 'Writes what a sign-in has recorded into a claim.',
    fields: [{ ...field('user.session.note', 'Note'), required: true }, CLAIM, JSON_TYPE],
    tokens: true,
  },
  'oidc-address-mapper': {
    title: 'Address',
    help: 'Writes the address attributes of the user into the claim address.',
    fields: [],
    tokens: true,
  },
  'oidc-sub-mapper': {
    title: 'Id of the user',
    help: 'Writes the id of the user into the claim sub.',
    fields: [],
    tokens: true,
  },
  'oidc-allowed-origins-mapper': {
    title: 'Web origins',
    help: 'Writes the web origins of the client into access tokens.',
    fields: [],
    tokens: true,
  },
  'oidc-acr-mapper': {
    title: 'Level of the sign-in',
    help: 'Writes how strong the sign-in was into the claim acr.',
    fields: [],
    tokens: true,
  },
  'oidc-amr-mapper': {
    title: 'Methods of the sign-in',
    help: 'Writes how the user signed in into the claim amr.',
    fields: [],
    tokens: true,
  },
};

/** The documents that a mapper can write to, by the key of the configuration. */
export const TOKENS = [
  ['access.token.claim', 'Access tokens'],
  ['id.token.claim', 'ID tokens'],
  ['userinfo.token.claim', 'User information'],
  ['introspection.token.claim', 'Introspection'],
  ['lightweight.claim', 'Small access tokens'],
] as const;

/** The configuration of a new mapper. */
export const NEW_CONFIG: Readonly<Record<string, string>> = {
  'access.token.claim': 'true',
  'id.token.claim': 'true',
  'userinfo.token.claim': 'true',
  'introspection.token.claim': 'true',
  'jsonType.label': 'String',
};

/** The types of a claim's value, by Keycloak's names. */
export const JSON_TYPES = [
  ['String', 'Text'],
  ['long', 'Whole number'],
  ['int', 'Small whole number'],
  ['boolean', 'Yes or no'],
  ['JSON', 'JSON'],
] as const;

/** Returns the title of a type, which is the type itself if the console does not know it. */
export function typeTitle(type: string): string {
  return MAPPER_TYPES[type]?.title ?? type;
}
