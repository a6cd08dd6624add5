import { hostname } from 'node:os';
import { dropSlot, Replication, readSlot } from '../../../pgtools/index.ts';
import type { ArchiverOptions } from './archiver.ts';
import { waitForLock } from './cluster-queries.ts';

/** The name of the archiver's connections, as pg_stat_activity shows it. */
export const CONNECTION_NAME = `idkit archive ${hostname()} ${process.pid}`.slice(0, 63);

/** Returns the name of the replication slot. Each database of a cluster has its own archive. */
export function slotName(database: string): string {
  const plain = database.toLowerCase().replaceAll(/[^a-z0-9_]/g, '_');
  return `idkit_archive_${plain}`.slice(0, 63);
}

/**
 * Drops the slot if the server keeps more WAL for it than the limit. Otherwise a target that is unreachable for long
 * would fill the server's disk.
 *
 * @returns whether the slot was dropped
 */
export async function boundSlot({
  address,
  password,
  spoolBytes,
}: Pick<ArchiverOptions, 'address' | 'password' | 'spoolBytes'>): Promise<boolean> {
  const connection = await Replication.open({ address, password, applicationName: CONNECTION_NAME });
  try {
    if (!(await waitForLock(connection))) return false;
    const name = slotName(address.database);
    const slot = await readSlot(connection, name);
    if (slot === undefined || slot.keptBytes <= spoolBytes) return false;
    await dropSlot(connection, name);
    return true;
  } finally {
    connection.close();
  }
}
