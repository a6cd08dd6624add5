import type { DumpRow, RowReader } from '../dump/rows.ts';
import {
  type ContentKind,
  type ContentLink,
  type ContentSink,
  type ContentTable,
  readPassword,
} from './content.ts';

interface RecordTable {
  kind: ContentKind;
  name: string;
  /** Default: `realm_id`. */
  realm?: string;
  /** Default: `id`. */
  id?: string;
  owner?: string;
}

/** Columns that change without a change of the record. */
const VOLATILE: ReadonlySet<string> = new Set(['last_modified_timestamp', 'version']);

/** Returns the reader of a table with a row for each record. All other columns are fields. */
function records({ kind, name, realm = 'realm_id', id = 'id', owner }: RecordTable): ContentTable {
  return (columns, sink) => {
    const at = (column: string) => columns.indexOf(column);
    if (at(id) < 0 || at('doc') >= 0) return undefined;
    const fields = columns.flatMap((column, place) =>
      column === id || column === realm || VOLATILE.has(column) ? [] : [[camelCase(column), place] as const],
    );
    const [idAt, realmAt, nameAt] = [at(id), at(realm), at(name)];
    const [typeAt, accountAt] = [at('provider_type'), at('service_account_client_link')];
    const ownerAt = owner === undefined ? -1 : at(owner);
    const isComponent = kind === 'component';
    return (row) => {
      const recordId = row.text(idAt) ?? '';
      const ownerId = row.text(ownerAt)?.trim();
      const type = isComponent ? row.text(typeAt) : null;
      sink.record?.(
        kind,
        {
          id: recordId,
          realmId: row.text(realmAt) ?? '',
          name: row.text(nameAt) ?? recordId,
          ...(type === null ? {} : { type }),
          ...(ownerId === undefined || ownerId === '' ? {} : { ownerId }),
          ...(row.text(accountAt) === null ? {} : { isServiceAccount: true }),
        },
        () => present(row, fields),
      );
    };
  };
}

function* present(
  row: DumpRow,
  fields: readonly (readonly [string, number])[],
): Generator<readonly [string, string]> {
  for (const [field, place] of fields) {
    const value = row.text(place);
    if (value !== null && value.trim() !== '') yield [field, value];
  }
}

function camelCase(column: string): string {
  return column.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
}

/**
 * Returns the reader of a table whose rows are parts of records.
 *
 * @param owner the column with the record's id
 * @param field the name of the part
 * @param name the column with the name of each part
 */
function parts(kind: ContentKind, owner: string, field: string, name?: string): ContentTable {
  return (columns, sink) => {
    const at = (column: string) => columns.indexOf(column);
    if (at(owner) < 0 || sink.part === undefined) return undefined;
    const nameAt = name === undefined ? -1 : at(name);
    const values = columns.flatMap((column, place) =>
      column === owner || place === nameAt || column === 'id' ? [] : [place],
    );
    return (row) =>
      sink.part?.(kind, row.text(at(owner)) ?? '', nameAt < 0 ? field : `${field}.${row.text(nameAt)}`, () =>
        JSON.stringify(values.map((place) => row.text(place))),
      );
  };
}

function links(kind: ContentKind, owner: string, target: string, link: ContentLink): ContentTable {
  return (columns, sink) => {
    const [from, to] = [columns.indexOf(owner), columns.indexOf(target)];
    if (from < 0 || to < 0 || sink.link === undefined) return undefined;
    return (row) => sink.link?.(kind, row.text(from) ?? '', link, row.text(to) ?? '');
  };
}

function credentials(columns: readonly string[], sink: ContentSink): RowReader | undefined {
  const at = (column: string) => columns.indexOf(column);
  if (at('credential_data') < 0 || at('user_id') < 0) return undefined;
  return (row) => {
    const type = row.text(at('type')) ?? 'unknown';
    if (type === 'password') sink.password?.(readPassword(row.text(at('credential_data')) ?? ''));
    sink.part?.('user', row.text(at('user_id')) ?? '', `credentials.${type}`, () =>
      JSON.stringify(['id', 'secret_data', 'credential_data', 'priority'].map((name) => row.text(at(name)))),
    );
  };
}

function sessions(columns: readonly string[], sink: ContentSink): RowReader | undefined {
  const [realm, offline] = [columns.indexOf('realm_id'), columns.indexOf('offline_flag')];
  if (realm < 0 || offline < 0 || sink.session === undefined) return undefined;
  return (row) =>
    sink.session?.({ realmId: row.text(realm) ?? '', offline: row.text(offline)?.trim() !== '0' });
}

/** The tables of Keycloak 26 that describe realms. */
export const KEYCLOAK_TABLES: Readonly<Record<string, ContentTable>> = {
  realm: records({ kind: 'realm', name: 'name', realm: 'id' }),
  realm_attribute: parts('realm', 'realm_id', 'attributes', 'name'),
  realm_smtp_config: parts('realm', 'realm_id', 'smtpServer', 'name'),
  realm_events_listeners: parts('realm', 'realm_id', 'eventsListeners'),
  realm_enabled_event_types: parts('realm', 'realm_id', 'enabledEventTypes'),
  realm_supported_locales: parts('realm', 'realm_id', 'supportedLocales'),
  realm_localizations: parts('realm', 'realm_id', 'localizations', 'locale'),
  realm_default_groups: parts('realm', 'realm_id', 'defaultGroups'),
  default_client_scope: parts('realm', 'realm_id', 'defaultClientScopes'),
  required_action_provider: parts('realm', 'realm_id', 'requiredActions', 'alias'),
  client: records({ kind: 'client', name: 'client_id' }),
  client_attributes: parts('client', 'client_id', 'attributes', 'name'),
  redirect_uris: parts('client', 'client_id', 'redirectUris'),
  web_origins: parts('client', 'client_id', 'webOrigins'),
  client_auth_flow_bindings: parts('client', 'client_id', 'authenticationFlowBindings', 'binding_name'),
  client_scope_client: links('client', 'client_id', 'scope_id', 'clientScopes'),
  scope_mapping: links('client', 'client_id', 'role_id', 'scopeRoles'),
  client_scope: records({ kind: 'clientScope', name: 'name' }),
  client_scope_attributes: parts('clientScope', 'scope_id', 'attributes', 'name'),
  client_scope_role_mapping: links('clientScope', 'scope_id', 'role_id', 'scopeRoles'),
  protocol_mapper: records({ kind: 'protocolMapper', name: 'name', owner: 'client_id' }),
  protocol_mapper_config: parts('protocolMapper', 'protocol_mapper_id', 'config', 'name'),
  keycloak_role: records({ kind: 'role', name: 'name', owner: 'client' }),
  role_attribute: parts('role', 'role_id', 'attributes', 'name'),
  composite_role: links('role', 'composite', 'child_role', 'composites'),
  keycloak_group: records({ kind: 'group', name: 'name', owner: 'parent_group' }),
  group_attribute: parts('group', 'group_id', 'attributes', 'name'),
  group_role_mapping: links('group', 'group_id', 'role_id', 'roles'),
  component: records({ kind: 'component', name: 'name' }),
  component_config: parts('component', 'component_id', 'config', 'name'),
  identity_provider: records({ kind: 'identityProvider', name: 'provider_alias', id: 'internal_id' }),
  identity_provider_config: parts('identityProvider', 'identity_provider_id', 'config', 'name'),
  authentication_flow: records({ kind: 'flow', name: 'alias' }),
  authentication_execution: parts('flow', 'flow_id', 'executions', 'authenticator'),
  org: records({ kind: 'organization', name: 'name' }),
  user_entity: records({ kind: 'user', name: 'username' }),
  user_attribute: parts('user', 'user_id', 'attributes', 'name'),
  user_required_action: parts('user', 'user_id', 'requiredActions'),
  user_consent: parts('user', 'user_id', 'consents'),
  federated_identity: parts('user', 'user_id', 'federatedIdentities', 'identity_provider'),
  user_role_mapping: links('user', 'user_id', 'role_id', 'roles'),
  user_group_membership: links('user', 'user_id', 'group_id', 'groups'),
  credential: credentials,
  offline_user_session: sessions,
};
