import type { RowReader } from '../dump/rows.ts';
import {
  type ContentKind,
  type ContentLink,
  type ContentSink,
  type ContentTable,
  parseObject,
  readPassword,
  textsOf,
} from './content.ts';

/** Properties of a record's document that contain further fields. */
const INLINED: ReadonlySet<string> = new Set(['kept', 'settings']);
const PREFIXED: ReadonlySet<string> = new Set(['attributes', 'config']);

/** Returns the fields of a record's document, each with its JSON. */
function* fieldsOf(
  doc: Readonly<Record<string, unknown>>,
  without: readonly string[],
  prefix = '',
): Generator<readonly [string, string]> {
  for (const [name, value] of Object.entries(doc)) {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (prefix === '' && without.includes(name)) continue;
    if (isObject && prefix === '' && INLINED.has(name))
      yield* fieldsOf(value as Record<string, unknown>, without);
    else if (isObject && prefix === '' && PREFIXED.has(name))
      yield* fieldsOf(value as Record<string, unknown>, [], `${name}.`);
    else if (!isEmpty(value)) yield [`${prefix}${name}`, JSON.stringify(value)];
  }
}

/** A missing field and an empty list are the same. */
function isEmpty(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.length === 0);
}

interface RecordTable {
  kind: ContentKind;
  name: string;
  /** The column with the realm. Default: `realm_id`. */
  realm?: string;
  /** Columns that are fields besides the document. */
  columns?: readonly string[];
  /** The column with the client or the parent. */
  owner?: string;
  /** Lists of ids in the document. */
  links?: Readonly<Record<string, ContentLink>>;
}

/** Returns the reader of a table whose rows have a document. */
function records({
  kind,
  name,
  realm = 'realm_id',
  columns: fieldColumns = [],
  owner,
  links = {},
}: RecordTable): ContentTable {
  return (columns, sink) => {
    const at = (column: string) => columns.indexOf(column);
    const doc = at('doc');
    if (doc < 0 || at('id') < 0) return undefined;
    const [idAt, realmAt, nameAt, sealed] = [at('id'), at(realm), at(name), at('sealed')];
    const ownerAt = owner === undefined ? -1 : at(owner);
    const serviceAccount = at('service_account_client');
    const places = fieldColumns.map((column) => [column, at(column)] as const);
    const linkNames = Object.keys(links);
    const readsDocument = nameAt < 0 || (linkNames.length > 0 && sink.link !== undefined);
    return (row) => {
      const id = row.text(idAt) ?? '';
      // Most rows are users, whose documents only a comparison needs.
      const parsed = readsDocument ? parseObject(row.text(doc)) : undefined;
      const ownerId = row.text(ownerAt);
      const { providerType, name: ownName } = parsed ?? {};
      const record = {
        id,
        realmId: row.text(realmAt) ?? '',
        name: nameAt >= 0 ? (row.text(nameAt) ?? '') : typeof ownName === 'string' ? ownName : id,
        ...(typeof providerType === 'string' ? { type: providerType } : {}),
        ...(ownerId === null ? {} : { ownerId }),
        ...(row.text(serviceAccount) === null ? {} : { isServiceAccount: true }),
      };
      sink.record?.(kind, record, function* () {
        for (const [column, place] of places) {
          const value = row.text(place);
          if (value !== null) yield [FIELD_OF[column] ?? column, value];
        }
        yield* fieldsOf(parsed ?? parseObject(row.text(doc)), linkNames);
        const secrets = row.blob(sealed)?.toString('hex') ?? null;
        if (secrets !== null) yield ['secrets', secrets];
      });
      if (sink.link !== undefined)
        for (const [list, link] of Object.entries(links))
          for (const target of textsOf(parsed?.[list])) sink.link(kind, id, link, target);
    };
  };
}

/** The names of fields that a column contains. */
const FIELD_OF: Readonly<Record<string, string>> = {
  client_id: 'clientId',
  email_verified: 'emailVerified',
  parent_id: 'parent',
  client_uuid: 'client',
};

/** Returns the reader of a table that links users to other records. */
function links(target: string, link: ContentLink): ContentTable {
  return (columns, sink) => {
    const [user, to] = [columns.indexOf('user_id'), columns.indexOf(target)];
    if (user < 0 || to < 0 || sink.link === undefined) return undefined;
    return (row) => sink.link?.('user', row.text(user) ?? '', link, row.text(to) ?? '');
  };
}

function sessions(columns: readonly string[], sink: ContentSink): RowReader | undefined {
  const [user, offline] = [columns.indexOf('user_id'), columns.indexOf('offline')];
  if (user < 0 || offline < 0 || sink.session === undefined) return undefined;
  return (row) => sink.session?.({ userId: row.text(user) ?? '', offline: row.text(offline) !== '0' });
}

function credentials(columns: readonly string[], sink: ContentSink): RowReader | undefined {
  const at = (column: string) => columns.indexOf(column);
  if (at('doc') < 0 || at('user_id') < 0) return undefined;
  return (row) => {
    const doc = row.text(at('doc'));
    const { type, credentialData } = parseObject(doc);
    if (type === 'password' && typeof credentialData === 'string')
      sink.password?.(readPassword(credentialData));
    sink.part?.('user', row.text(at('user_id')) ?? '', `credentials.${String(type)}`, () =>
      JSON.stringify(
        ['id', 'priority', 'secret_data', 'doc', 'sealed'].map((column) => row.text(at(column))),
      ),
    );
  };
}

function consents(columns: readonly string[], sink: ContentSink): RowReader | undefined {
  const at = (column: string) => columns.indexOf(column);
  if (at('user_id') < 0 || at('scope_ids') < 0 || sink.part === undefined) return undefined;
  return (row) =>
    sink.part?.('user', row.text(at('user_id')) ?? '', 'consents', () =>
      JSON.stringify(['client_uuid', 'scope_ids'].map((column) => row.text(at(column)))),
    );
}

/** The tables of idkit. */
export const IDKIT_TABLES: Readonly<Record<string, ContentTable>> = {
  realm: records({ kind: 'realm', name: 'name', realm: 'id', columns: ['name'] }),
  client: records({
    kind: 'client',
    name: 'client_id',
    columns: ['client_id'],
    links: { scopeRoleIds: 'scopeRoles' },
  }),
  client_scope: records({
    kind: 'clientScope',
    name: 'name',
    columns: ['name'],
    links: { scopeRoleIds: 'scopeRoles' },
  }),
  role: records({
    kind: 'role',
    name: 'name',
    columns: ['name'],
    owner: 'client_uuid',
    links: { compositeIds: 'composites' },
  }),
  realm_group: records({
    kind: 'group',
    name: 'name',
    columns: ['name', 'parent_id'],
    owner: 'parent_id',
    links: { roleIds: 'roles' },
  }),
  component: records({ kind: 'component', name: '' }),
  account: records({
    kind: 'user',
    name: 'username',
    columns: ['username', 'email', 'enabled', 'email_verified'],
  }),
  user_role: links('role_id', 'roles'),
  user_group: links('group_id', 'groups'),
  credential: credentials,
  user_consent: consents,
  user_session: sessions,
  user_session_0: sessions,
};
