import type { User } from '../../model/index.ts';
import type { SessionWithClients } from '../contract.ts';
import { type ListedSessionRow, readListedSession } from '../records/sessions.ts';
import { readUser, type UserRow } from '../records/users.ts';
import type { Row } from './statements.ts';

/** Rows of the reader thread as records. */
export function toUser(row: Row): User {
  return readUser(row as unknown as UserRow);
}

export function toListed(row: Row): SessionWithClients {
  return readListedSession(row as unknown as ListedSessionRow);
}

export function readDocument<T>(row: Row): T {
  return JSON.parse(String(row['doc'])) as T;
}
