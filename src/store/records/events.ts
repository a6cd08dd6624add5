import type { AdminEvent, UserEvent } from '../../model/index.ts';
import type { CountFigures, StoreFigures } from '../contract/index.ts';
import type { RowOf } from '../queries/compiled/types.ts';
import type { Tables } from '../schema.ts';

export function eventRow(event: UserEvent): Omit<Tables['event'], 'seq'> {
  return {
    realm_id: event.realmId,
    time: event.time,
    type: event.type,
    client_id: event.clientId ?? null,
    user_id: event.userId ?? null,
    ip_address: event.ipAddress ?? null,
    doc: JSON.stringify(event),
  };
}

export function adminEventRow(event: AdminEvent): Omit<Tables['admin_event'], 'seq'> {
  return {
    realm_id: event.realmId,
    time: event.time,
    operation_type: event.operationType,
    resource_type: event.resourceType,
    resource_path: event.resourcePath,
    auth_realm_id: event.authRealmId,
    auth_client_id: event.authClientId,
    auth_user_id: event.authUserId,
    auth_ip_address: event.authIpAddress,
    doc: JSON.stringify(event),
  };
}

/** Parses the JSON in a row's column `doc`. */
export function readDocument<T>(row: { doc: string }): T {
  return JSON.parse(row.doc);
}

/** Converts the counts of the query `figures`. */
export function toFigures(
  counts: RowOf<'figures'>,
  database: Pick<StoreFigures, 'schemaVersion' | 'databaseBytes'>,
): Omit<StoreFigures, keyof CountFigures> {
  const { realms, users, sessions, offlineSessions, tokenFamilies, openLogins } = counts;
  return {
    ...database,
    realms,
    users,
    userSessions: sessions - offlineSessions,
    offlineSessions,
    tokenFamilies,
    openLogins,
  };
}
