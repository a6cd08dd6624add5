import { parsePostgresUrl, type Settings } from '../../config/index.ts';
import { IdkitError, type Random } from '../../core/index.ts';
import {
  drop,
  literal,
  openContext,
  openLocalPrograms,
  queryBeside,
  type ScratchPlace,
} from '../../pgtools/index.ts';
import { drillMark, isDeadDrill } from '../drill-mark.ts';

/** The prefix of the names of drill databases. The result of `drillMark` follows it. */
const PREFIX = 'idkit_drill_';

/**
 * Returns a database with a new name on the platform's own server, for a drill without a temporary server. The live
 * database and the role's password stay unchanged.
 *
 * @throws IDKIT_LOCKED if the settings name the database of a drill; IDKIT_UNREACHABLE, IDKIT_CREDENTIALS
 */
export async function openScratchBeside(settings: Settings, random: Random): Promise<ScratchPlace> {
  const { database, databasePassword: password, service } = settings;
  if (database.kind !== 'postgres')
    throw new IdkitError('IDKIT_BUG', 'a SQLite platform has no server for a drill');
  const address = parsePostgresUrl(database.url);
  const context = openContext({ address, password, programs: openLocalPrograms(), service });
  const name = `${PREFIX}${drillMark(process.pid)}_${random.bytes(4).toString('hex')}`;
  const namesLike = async (start: string): Promise<readonly string[]> =>
    (
      await queryBeside(
        context,
        `SELECT json_build_object('name', datname) FROM pg_database WHERE starts_with(datname, ${literal(start)});`,
      )
    ).map((row) => String(row['name']));
  if (context.database.startsWith(PREFIX))
    throw new IdkitError('IDKIT_LOCKED', `${context.database} is itself the database of a drill`);
  for (const abandoned of await namesLike(PREFIX))
    if (isDeadDrill(abandoned.slice(PREFIX.length))) await drop(context, abandoned);
  return {
    url: withName(database.url, name),
    // The queries above found out which password the server accepts.
    password: context.psql.password,
    async close() {
      // The restore also creates databases whose names begin with this name.
      for (const created of await namesLike(name)) await drop(context, created);
    },
  };
}

/** Returns the address of another database on the same server. */
function withName(url: string, name: string): string {
  const [, start, , query = ''] = /^([a-z]+:\/\/[^/?#]*)(\/[^?#]*)?(\?.*)?$/.exec(url) ?? [];
  if (start === undefined || /[?&]dbname=/.test(query))
    throw new IdkitError(
      'IDKIT_SETTING',
      'the address of the database names it with dbname=, which a drill does not support',
      {
        hints: ['write it as postgres://USER@HOST/NAME'],
      },
    );
  return `${start}/${name}${query}`;
}
