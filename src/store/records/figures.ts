import type { StoreFigures } from '../contract/index.ts';
import type { Row } from '../schema.ts';

/** Sizes from the row of the query `figures`. */
export function toFigures(
  counts: Row,
  database: Pick<StoreFigures, 'schemaVersion' | 'databaseBytes'>,
): StoreFigures {
  const offlineSessions = Number(counts['offlineSessions']);
  return {
    ...database,
    realms: Number(counts['realms']),
    users: Number(counts['users']),
    userSessions: Number(counts['sessions']) - offlineSessions,
    offlineSessions,
    tokenFamilies: Number(counts['tokenFamilies']),
    openLogins: Number(counts['openLogins']),
  };
}
