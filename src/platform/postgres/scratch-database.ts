import { parsePostgresUrl, type Settings } from '../../config/index.ts';
import { IdkitError, type Random } from '../../core/index.ts';
import {
  drop,
  literal,
  openContext,
  openLocalPrograms,
  type PostgresContext,
  queryBeside,
  type ScratchPlace,
} from '../../pgtools/index.ts';
import { drillMark, isDeadDrill } from '../drill-mark.ts';

/** How all of them begin; this machine's mark and the process follow, so that what a dead drill left is known. */
const PREFIX = 'idkit_drill_';

/**
 * A database of its own on the platform's server, for want of a server of its own. Its name is new, so it is never
 * the live one; the role and its password stay as they are.
 *
 * @throws IDKIT_LOCKED where it would be the live one all the same; IDKIT_UNREACHABLE, IDKIT_CREDENTIALS
 */
export async function openScratchDatabase(
  context: PostgresContext,
  url: string,
  random: Random,
): Promise<ScratchPlace> {
  const name = `${PREFIX}${drillMark(process.pid)}_${random.bytes(4).toString('hex')}`;
  const namesLike = async (start: string): Promise<readonly string[]> =>
    (
      await queryBeside(
        context,
        `SELECT json_build_object('name', datname) FROM pg_database WHERE starts_with(datname, ${literal(start)});`,
      )
    ).map((row) => String(row['name']));
  if (context.database.startsWith(PREFIX))
    throw new IdkitError('IDKIT_LOCKED', `${context.database} is the database of a drill itself`);
  for (const left of await namesLike(PREFIX))
    if (isDeadDrill(left.slice(PREFIX.length))) await drop(context, left);
  return {
    url: withName(url, name),
    // Known since the questions above; the role keeps it.
    password: context.psql.password,
    async close() {
      // The name and what a restore makes of it: its side database, its old one.
      for (const left of await namesLike(name)) await drop(context, left);
    },
  };
}

/** The same server and role, and another database. */
function withName(url: string, name: string): string {
  const [, start, , query = ''] = /^([a-z]+:\/\/[^/?#]*)(\/[^?#]*)?(\?.*)?$/.exec(url) ?? [];
  if (start === undefined || /[?&]dbname=/.test(query))
    throw new IdkitError('IDKIT_SETTING', 'the database’s address names its database as dbname=', {
      hints: ['write it as postgres://USER@HOST/NAME'],
    });
  return `${start}/${name}${query}`;
}

/** A database of its own on the server of the platform's. See `openScratch`. */
export async function openScratchBeside(settings: Settings, random: Random): Promise<ScratchPlace> {
  const { database, databasePassword: password, service } = settings;
  if (database.kind !== 'postgres') throw new IdkitError('IDKIT_BUG', 'a server was looked for in a file');
  const address = parsePostgresUrl(database.url);
  const common = { address, location: database.url, password, programs: openLocalPrograms() };
  const context = openContext({ ...common, service });
  return openScratchDatabase(context, database.url, random);
}
