import { IdkitError } from '../core/index.ts';
import type { PostgresContext } from './context.ts';
import { queryBeside } from './databases.ts';
import { identifier, literal } from './quote.ts';
import type { SwapNames } from './swap.ts';
import {
  createDatabase,
  type DatabaseTraits,
  grantStatements,
  parseTraits,
  settingStatements,
  traitsQuery,
} from './traits.ts';

/** Timeout in seconds for copying template0, which may be slow on a busy disk. */
const CREATE_SECONDS = 300;
/** Errors that another way of creating the database would not avoid. */
const NO_OTHER_WAY: readonly string[] = ['IDKIT_NO_SPACE', 'IDKIT_UNREACHABLE'];

/**
 * Creates the empty database that a dump is loaded into, with the properties of the live one: owner, encoding, locale,
 * limit, grants, settings and comment. Without a live database it uses the properties that the dump records. If the
 * dump records none, the server's defaults apply, in UTF-8.
 *
 * @returns notes for the operator about properties that could not be set
 */
export async function createStaged(
  context: PostgresContext,
  names: SwapNames,
  source: DatabaseTraits | undefined,
): Promise<readonly string[]> {
  const live = await findTraitsOf(context, names.live);
  return createWithTraits(context, names.staged, chooseTraits(live, source));
}

/**
 * Makes `role` the owner of a new database on a drill's server. Every role may use the database and its schema
 * `public`.
 */
export async function handOver(context: PostgresContext, name: string, role: string): Promise<void> {
  const database = identifier(name);
  await queryBeside(
    context,
    `ALTER DATABASE ${database} OWNER TO ${identifier(role)}; GRANT ALL ON DATABASE ${database} TO PUBLIC;`,
  );
  await (context.administrator ?? context.psql).query(name, 'GRANT ALL ON SCHEMA public TO PUBLIC;');
}

/** Returns the properties of a database, or undefined if it does not exist. */
async function findTraitsOf(context: PostgresContext, name: string): Promise<DatabaseTraits | undefined> {
  const [row] = await queryBeside(context, traitsQuery(`d.datname = ${literal(name)}`));
  return row === undefined ? undefined : parseTraits(row);
}

/**
 * Creates an empty database with all of `traits` that this server and role allow. Returns a note about each property
 * that is missing.
 */
async function createWithTraits(
  context: PostgresContext,
  name: string,
  traits: DatabaseTraits | undefined,
): Promise<readonly string[]> {
  const notes: string[] = [];
  await create(context, name, traits, notes);
  if (traits === undefined) return notes;
  const statements = [...grantStatements(name, traits), ...settingStatements(name, traits)];
  if (statements.length === 0 || (await runTogether(context, statements))) return notes;
  for (const statement of statements) {
    try {
      await queryBeside(context, statement);
    } catch (error) {
      notes.push(`a property of the database could not be restored: ${statement} (${messageOf(error)})`);
    }
  }
  return notes;
}

/** Runs all statements in one transaction. Returns false if one of them fails. */
async function runTogether(context: PostgresContext, statements: readonly string[]): Promise<boolean> {
  try {
    await queryBeside(context, ['BEGIN;', ...statements, 'COMMIT;'].join('\n'));
    return true;
  } catch (error) {
    if (!(error instanceof IdkitError) || NO_OTHER_WAY.includes(error.code)) throw error;
    return false;
  }
}

/** Returns the properties of the live database, in an encoding that can represent the source's text. */
export function chooseTraits(
  live: DatabaseTraits | undefined,
  source: DatabaseTraits | undefined,
): DatabaseTraits | undefined {
  if (live === undefined || source === undefined) return live ?? source;
  if (live.encoding === source.encoding || live.encoding === 'UTF8') return live;
  const { encoding, collate, ctype, provider, locale, icuRules } = source;
  return { ...live, encoding, collate, ctype, provider, locale, icuRules };
}

async function create(
  context: PostgresContext,
  name: string,
  traits: DatabaseTraits | undefined,
  notes: string[],
): Promise<void> {
  const plain = `CREATE DATABASE ${identifier(name)} TEMPLATE template0`;
  const ways = [
    ...(traits === undefined
      ? []
      : [createDatabase(name, traits), `${plain} ENCODING ${literal(traits.encoding)}`]),
    `${plain} ENCODING 'UTF8'`,
    plain,
  ];
  let first: unknown;
  for (const way of ways) {
    try {
      await queryBeside(context, way, { seconds: CREATE_SECONDS });
      if (first !== undefined && traits !== undefined)
        notes.push(`the database could not keep its owner, locale or tablespace (${messageOf(first)})`);
      return;
    } catch (error) {
      if (!(error instanceof IdkitError) || NO_OTHER_WAY.includes(error.code)) throw error;
      first ??= error;
    }
  }
  throw first;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message.replaceAll(/\s+/g, ' ') : String(error);
}
