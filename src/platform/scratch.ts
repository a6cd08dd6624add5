import { join } from 'node:path';
import type { Settings } from '../config/index.ts';
import { IdkitError, type Secret, systemRandom } from '../core/index.ts';
import type { PostgresPrograms, ScratchAdministrator, ScratchPlace } from '../pgtools/index.ts';

/** A temporary database for testing a backup. */
export interface Scratch {
  /** What the database is, in words. */
  description: string;
  database: Settings['database'];
  databasePassword: Secret | undefined;
  /** The role that creates databases and roles. Set only if the server is temporary too. */
  administrator?: ScratchAdministrator;
  /** Runs psql and pg_dump. Set if they run in a container instead of on this machine. */
  programs?: PostgresPrograms;
  /** Stops and removes the database, and the server if it is temporary. Idempotent. */
  close(): Promise<void>;
}

/**
 * Returns a temporary database for a dump, which is never a live database. For SQLite this is a file in `dir`, and for
 * Postgres a server in `dir`. If this machine lacks the server's programs, it is a server in a container, or a new
 * database on the platform's own server.
 *
 * @throws IDKIT_VERSION if none of these is available
 */
export async function openScratch(
  settings: Settings,
  dump: { kind: 'sqlite' | 'postgres'; serverMajor?: number },
  dir: string,
): Promise<Scratch> {
  if (dump.kind === 'sqlite') {
    const file = join(dir, 'platform', 'data', 'idkit.db');
    const close = async () => undefined;
    const description = 'a temporary SQLite file';
    return { description, database: { kind: 'sqlite', file }, databasePassword: undefined, close };
  }
  const { openScratchCluster } = await import('../pgtools/index.ts');
  const cluster = await openScratchCluster(dir, dump.serverMajor ?? 0, systemRandom);
  if (cluster !== undefined) return asScratch(cluster, 'a temporary Postgres server');
  if (settings.runtime === 'compose') {
    const { openScratchContainer } = await import('./compose/scratch.ts');
    const container = await openScratchContainer(settings, systemRandom);
    return {
      ...asScratch(container, 'a Postgres server in a temporary container'),
      programs: container.programs,
    };
  }
  if (settings.database.kind !== 'postgres')
    throw new IdkitError('IDKIT_VERSION', 'the drill of a Postgres dump needs a Postgres server', {
      hints: [
        `install one: apt-get install postgresql-${dump.serverMajor ?? 15}; idkit starts it when a drill needs it`,
      ],
    });
  const { openScratchBeside } = await import('./postgres/scratch-database.ts');
  return asScratch(
    await openScratchBeside(settings, systemRandom),
    'a temporary database on the platform’s Postgres server',
  );
}

function asScratch({ url, password, administrator, close }: ScratchPlace, description: string): Scratch {
  return {
    description,
    database: { kind: 'postgres', url },
    databasePassword: password,
    ...(administrator === undefined ? {} : { administrator }),
    close,
  };
}
