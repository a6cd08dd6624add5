// Queries: every SQL statement of the store, written once with Kysely for both dialects.
// Decided here: the text, the slots and the rows of each query. Not here: when a verb runs it.
// Start at define.ts. compile.ts generates compiled/, and the drivers load only its output.
import { backgroundQueries } from './background.ts';
import { configurationQueries } from './configuration.ts';
import { countPostgresQueries, countQueries } from './counts.ts';
import { type Compilable, compiler } from './define.ts';
import { eventQueries } from './events.ts';
import { loginQueries } from './login.ts';
import { manyQueries } from './many.ts';
import { memberQueries } from './members.ts';
import { postgresQueries } from './postgres.ts';
import { sealingQueries } from './sealing.ts';
import { searchIndexQueries } from './search-index.ts';
import { sessionQueries } from './sessions.ts';
import { sweepQueries } from './sweep.ts';
import { trashQueries } from './trash.ts';
import { unmovedQueries } from './unmoved.ts';
import { userQueries } from './users.ts';

export { realmsNamed, rowsById } from './configuration.ts';
export { compiler } from './define.ts';
export { adminEventFilters, EventSearch, eventFilters, usableIndexes } from './event-search.ts';
export {
  type FoundUser,
  foundUsers,
  listedUsers,
  type SearchWay,
  userCount,
  userSample,
  userSearch,
} from './user-search.ts';

/** Returns all queries whose SQL does not depend on their arguments. */
export function defineAll(dialect: 'sqlite' | 'postgres'): Record<string, Compilable> {
  const db = compiler(dialect);
  return {
    ...configurationQueries(db, dialect),
    ...userQueries(db, dialect),
    ...memberQueries(db, dialect),
    ...sessionQueries(db, dialect),
    ...loginQueries(db),
    ...eventQueries(db),
    ...sweepQueries(db, dialect),
    ...manyQueries(db, dialect),
    ...sealingQueries(db),
    ...trashQueries(db, dialect),
    ...countQueries(db, dialect),
    ...searchIndexQueries(db),
    ...backgroundQueries(db, dialect),
    ...unmovedQueries(db, dialect),
    ...(dialect === 'postgres' ? { ...postgresQueries(db), ...countPostgresQueries(db) } : {}),
  };
}
