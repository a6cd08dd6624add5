import { IdkitError } from '../core/index.ts';
import { CLOSED_COMMENT } from '../postgres/index.ts';
import type { PostgresContext } from './context.ts';
import type { JsonRow, QueryOptions } from './psql.ts';
import { literal } from './quote.ts';

/** A database on the server, with the properties that a swap depends on. */
export interface ExistingDatabase {
  name: string;
  owner: string;
  /** True if this role has the rights of the owner, so that it may rename or drop the database. */
  ours: boolean;
  /** False during a swap. Also false for a previous database that a restore keeps. */
  allowsConnections: boolean;
  /** The id of the restore that created this database, if no live database existed before. */
  restored?: string;
  /**
   * True if a restore has put the database in place but has not locked it yet. No service may use the database then.
   */
  closed?: true;
  comment?: string;
}

/**
 * The start of a comment that marks a database that a restore created where none existed. The comment consists of this
 * prefix, the id of the restore, a line break and the original comment. The restore removes the mark after the database
 * has passed its checks.
 */
export const RESTORED = 'idkit restore ';

/**
 * Databases that exist on every server and that no restore changes. Statements about other databases run in one of
 * them.
 */
const MAINTENANCE = ['postgres', 'template1'];

/**
 * Runs statements from a maintenance database, because a database with a connection can be neither renamed nor
 * dropped.
 */
export async function queryBeside<Row extends object = JsonRow>(
  { psql, administrator = psql }: PostgresContext,
  sql: string,
  options: QueryOptions = {},
): Promise<readonly Row[]> {
  for (const [index, database] of MAINTENANCE.entries()) {
    try {
      return await administrator.query<Row>(database, sql, options);
    } catch (error) {
      const absent = error instanceof IdkitError && error.code === 'IDKIT_NOT_FOUND';
      if (!absent || index === MAINTENANCE.length - 1) throw error;
    }
  }
  throw new IdkitError('IDKIT_BUG', 'no maintenance database was tried');
}

/** Returns the databases among `names` that exist. */
export async function findDatabases(
  context: PostgresContext,
  names: readonly string[],
  options: QueryOptions = {},
): Promise<ReadonlyMap<string, ExistingDatabase>> {
  const rows = await queryBeside(
    context,
    `SELECT json_build_object('name', d.datname, 'owner', pg_get_userbyid(d.datdba),
        'ours', pg_has_role(d.datdba, 'USAGE'), 'open', d.datallowconn,
        'comment', shobj_description(d.oid, 'pg_database'))
      FROM pg_database d WHERE d.datname IN (${names.map(literal).join(', ')});`,
    options,
  );
  return new Map(
    rows.map((row) => [
      String(row['name']),
      {
        name: String(row['name']),
        owner: String(row['owner']),
        ours: row['ours'] === true,
        allowsConnections: row['open'] === true,
        ...parseComment(row['comment']),
      },
    ]),
  );
}

/** Returns a database's comment without the mark of a restore in progress. */
export function withoutClosed(comment: string): string | undefined {
  if (comment === CLOSED_COMMENT) return undefined;
  return comment.startsWith(`${CLOSED_COMMENT}\n`) ? comment.slice(CLOSED_COMMENT.length + 1) : comment;
}

/** Returns the comment for a database that a restore puts in place. */
export function renderComment({
  closed,
  restored,
  comment,
}: Pick<ExistingDatabase, 'restored' | 'closed' | 'comment'>): string | undefined {
  const lines = [
    ...(closed === true ? [CLOSED_COMMENT] : []),
    ...(restored === undefined ? [] : [`${RESTORED}${restored}`]),
    ...(comment === undefined ? [] : [comment]),
  ];
  return lines.length === 0 ? undefined : lines.join('\n');
}

function parseComment(comment: unknown): Pick<ExistingDatabase, 'restored' | 'closed' | 'comment'> {
  if (typeof comment !== 'string') return {};
  const open = withoutClosed(comment);
  if (open !== comment) return { closed: true, ...parseComment(open) };
  if (!comment.startsWith(RESTORED)) return { comment };
  const [first = '', ...rest] = comment.split('\n');
  const restored = first.slice(RESTORED.length);
  return { restored, ...(rest.length === 0 ? {} : { comment: rest.join('\n') }) };
}
