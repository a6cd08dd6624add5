import { join } from 'node:path';
import type { Settings } from '../config/index.ts';
import { IdkitError, type Secret, systemRandom } from '../core/index.ts';
import type { PostgresPrograms, ScratchAdministrator, ScratchPlace } from '../pgtools/index.ts';

/** A database that nothing else knows, for a test of a backup. */
export interface Scratch {
  database: Settings['database'];
  databasePassword: Secret | undefined;
  /** Its server, too, is there for the test alone: who makes databases and roles there. */
  administrator?: ScratchAdministrator;
  /** How its programs are run, where that is not on this machine. */
  programs?: PostgresPrograms;
  /** Ends and removes it. Idempotent. */
  close(): Promise<void>;
}

/**
 * A place for a dump that can never be a live one: a file in `dir`; for Postgres a server of its own in `dir`, else,
 * where its programs are not on this machine, one in a container of its own, or a database of a new name on the
 * platform's server.
 *
 * @throws IDKIT_VERSION where there is neither
 */
export async function openScratch(
  settings: Settings,
  dump: { kind: 'sqlite' | 'postgres'; serverMajor?: number },
  dir: string,
): Promise<Scratch> {
  if (dump.kind === 'sqlite') {
    const file = join(dir, 'platform', 'data', 'idkit.db');
    const close = async () => undefined;
    return { database: { kind: 'sqlite', file }, databasePassword: undefined, close };
  }
  const { openScratchCluster } = await import('../pgtools/index.ts');
  const cluster = await openScratchCluster(dir, dump.serverMajor ?? 0, systemRandom);
  if (cluster !== undefined) return asScratch(cluster);
  if (settings.runtime === 'compose') {
    const { openScratchContainer } = await import('./compose/scratch.ts');
    const container = await openScratchContainer(settings, systemRandom);
    return { ...asScratch(container), programs: container.programs };
  }
  if (settings.database.kind !== 'postgres')
    throw new IdkitError(
      'IDKIT_VERSION',
      'a dump of Postgres needs a server to drill on, and there is none',
      {
        hints: [
          `install one: apt-get install postgresql-${dump.serverMajor ?? 15}; idkit starts it by itself`,
        ],
      },
    );
  const { openScratchBeside } = await import('./postgres/scratch-database.ts');
  return asScratch(await openScratchBeside(settings, systemRandom));
}

function asScratch({ url, password, administrator, close }: ScratchPlace): Scratch {
  return {
    database: { kind: 'postgres', url },
    databasePassword: password,
    ...(administrator === undefined ? {} : { administrator }),
    close,
  };
}
