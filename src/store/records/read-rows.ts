import type { User } from '../../model/index.ts';
import type { SessionWithClients } from '../contract/index.ts';
import type { Row } from '../schema.ts';
import { type ListedSessionRow, readListedSession } from './sessions.ts';
import { readUser, type UserRow } from './users.ts';

/** Rows as records. */
export function toUser(row: Row): User {
  return readUser(row as unknown as UserRow);
}

export function toListed(row: Row): SessionWithClients {
  return readListedSession(row as unknown as ListedSessionRow);
}

export function readDocument<T>(row: Row): T {
  return JSON.parse(String(row['doc'])) as T;
}
