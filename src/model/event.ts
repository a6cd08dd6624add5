/** Something that happened to a user or client (EventRepresentation, facts §13). */
export interface UserEvent {
  id: string;
  /** Milliseconds since the Unix epoch. */
  time: number;
  /** For example `LOGIN`, `REFRESH_TOKEN_ERROR`. */
  type: string;
  realmId: string;
  clientId?: string;
  userId?: string;
  sessionId?: string;
  ipAddress?: string;
  error?: string;
  details: Readonly<Record<string, string>>;
}

/** Something an administrator did (AdminEventRepresentation, facts §8.4). */
export interface AdminEvent {
  id: string;
  /** Milliseconds since the Unix epoch. */
  time: number;
  realmId: string;
  authRealmId: string;
  authClientId: string;
  authUserId: string;
  authIpAddress: string;
  operationType: 'CREATE' | 'UPDATE' | 'DELETE' | 'ACTION';
  resourceType: string;
  resourcePath: string;
  /** JSON text without secrets; only where the realm keeps details. */
  representation?: string;
  error?: string;
}
