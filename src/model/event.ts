import type { RealmId, SessionId } from './ids.ts';
/** An event of a user or client (EventRepresentation, docs/keycloak/realms.md#events). */
export interface UserEvent {
  id: string;
  /** Unix time in milliseconds. */
  time: number;
  /** For example `LOGIN` or `REFRESH_TOKEN_ERROR`. */
  type: string;
  realmId: RealmId;
  clientId?: string;
  userId?: string;
  sessionId?: SessionId;
  ipAddress?: string;
  error?: string;
  details: Readonly<Record<string, string>>;
}

/** An action of an administrator (AdminEventRepresentation, docs/keycloak/admin-api.md#events-api). */
export interface AdminEvent {
  id: string;
  /** Unix time in milliseconds. */
  time: number;
  realmId: RealmId;
  authRealmId: string;
  authClientId: string;
  authUserId: string;
  authIpAddress: string;
  operationType: 'CREATE' | 'UPDATE' | 'DELETE' | 'ACTION';
  resourceType: string;
  resourcePath: string;
  /** JSON text without secrets. Set if the realm stores the details of events. */
  representation?: string;
  error?: string;
}
