import type { PoolClient } from 'pg';
import type { Connections, Lane } from './connections.ts';
import { isConnectionLost, isLostRace, isStalePlan, mapFault } from './faults.ts';

/** Connections that may break under one read. */
const ATTEMPTS = 6;

/**
 * Runs what may be run twice, again where its connection breaks, on another one.
 *
 * @throws the catalogue's errors
 */
export async function readAgain<T>(
  connections: Connections,
  work: (client: PoolClient) => Promise<T>,
  lane: Lane = 'requests',
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await connections.use(work, { lane });
    } catch (error) {
      const again = isConnectionLost(error) || isStalePlan(error) || isLostRace(error);
      if (!again || attempt >= ATTEMPTS) throw mapFault(error, connections.place);
    }
  }
}
