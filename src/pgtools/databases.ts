import { IdkitError } from '../core/index.ts';
import { CLOSED_COMMENT } from '../postgres/index.ts';
import type { PostgresContext } from './context.ts';
import type { JsonRow, QueryOptions } from './psql.ts';
import { literal } from './quote.ts';

/** A database of the server, as far as a swap needs to know it. */
export interface ExistingDatabase {
  name: string;
  owner: string;
  /** This role may do with it what its owner may: rename it, drop it. */
  ours: boolean;
  /** False while a swap is under way, and for an old one that is kept aside. */
  allowsConnections: boolean;
  /** The restore that put it in place where there was no database before. */
  restored?: string;
  /** No service comes in: a restore has put it in place and not taken its lock yet. */
  closed?: true;
  comment?: string;
}

/**
 * How the comment of a database begins that a restore put where none was before; the restore's id and a line break
 * follow, then the comment that the database has of its own. It goes when the restore is proven.
 */
export const RESTORED = 'idkit restore ';

/** Databases that every server has, and nobody restores: work on other databases is done from there. */
const MAINTENANCE = ['postgres', 'template1'];

/**
 * Runs statements from beside the databases that are worked on: a database that one is connected to can be neither
 * renamed nor dropped.
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
  throw new IdkitError('IDKIT_BUG', 'there is no database to work from');
}

/** Those of the named databases that exist. */
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

/** A database's comment as it is when the restore has it in hand. */
export function withoutClosed(comment: string): string | undefined {
  if (comment === CLOSED_COMMENT) return undefined;
  return comment.startsWith(`${CLOSED_COMMENT}\n`) ? comment.slice(CLOSED_COMMENT.length + 1) : comment;
}

/** The comment of a database that a restore puts in place. */
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
