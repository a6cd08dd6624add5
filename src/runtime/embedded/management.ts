import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';

/** Keycloak's own (facts §13). */
const DEFAULT_PORT = 9000;

/** Where the management listener is to be. */
export interface ManagementPlace {
  host: string;
  port: number;
  /** False: nobody named this very port, and the service does without the listener if it is taken. */
  byHand: boolean;
}

/** Undefined if the settings want none. */
export function findManagementPlace({ listen }: Pick<Settings, 'listen'>): ManagementPlace | undefined {
  const { managementHost: host, managementPort: port } = listen;
  if (port === 'off') return undefined;
  return { host, port: port ?? DEFAULT_PORT, byHand: port !== null };
}

/**
 * What `take` makes of the place. A default port that another program has is given up with a note.
 *
 * @throws IDKIT_PORT_TAKEN if the port was set by hand
 */
export async function takeUnlessTaken<T>(
  { byHand }: ManagementPlace,
  notes: string[],
  take: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await take();
  } catch (error) {
    if (byHand || !(error instanceof IdkitError) || error.code !== 'IDKIT_PORT_TAKEN') throw error;
    notes.push(
      `${error.message}, so this service has no metrics and no detailed health; --management-port gives it another port`,
    );
    return undefined;
  }
}
