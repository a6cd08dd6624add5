import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Settings } from '../../config/index.ts';
import { type ClosedListener, closeListener, dropListener } from './close-listener.ts';

/** Default of `listen.drainSeconds` on Postgres. A proxy needs less time to notice that the service is not ready. */
const DRAIN_SECONDS = 3;
/** Time in milliseconds for which keep-alive connections may still send a request after the listener has closed. */
export const LINGER_MS = 500;

/**
 * Which processes accept connections after this one stops. With `others`, they accept the connections in the queue.
 * With `none`, those connections would be lost, so this process accepts them before it stops. With `no-client`, the
 * queue can only be empty, because no client uses the service.
 */
export type Remaining = 'none' | 'others' | 'no-client';

/** The steps of `drain` that depend on the kind of service. */
export interface Ending {
  /**
   * Resolves when the listeners must close. Until then they are open, and the service may report that it is not ready.
   */
  leave(): Promise<Remaining>;
  /** Called when the listeners are closed. */
  left?: (() => void) | undefined;
  /**
   * Returns the time in milliseconds for which keep-alive connections may still send a request after the listener has
   * closed. The response to such a request closes the connection. If there was a drain before, `LINGER_MS` is enough.
   */
  linger(): number;
  /** Time in milliseconds for running requests to finish. */
  grace: number;
}

/**
 * Ends a service without losing a request. First it waits while clients that check the readiness switch to another
 * replica. Then the listeners close. Requests that arrive on keep-alive connections are still served, and running
 * requests finish. After the grace period, it closes the remaining connections.
 */
export async function drain(apps: readonly FastifyInstance[], ending: Ending): Promise<void> {
  const remaining = await ending.leave();
  let closed: readonly ClosedListener[] = [];
  if (remaining !== 'no-client') {
    const close = remaining === 'none' ? closeListener : dropListener;
    closed = await Promise.all(apps.map(({ server }) => close(server)));
    ending.left?.();
    await sleep(ending.linger());
  }
  await Promise.all(apps.map((app) => closeApp(app, ending.grace)));
  await Promise.all(closed.map(({ ended }) => ended));
}

/**
 * Returns how long a drain takes. On Postgres, other replicas serve in the meantime. On SQLite there are no other
 * replicas, so by default the drain is skipped.
 */
export function drainMilliseconds({ listen, database }: Pick<Settings, 'listen' | 'database'>): number {
  return 1000 * (listen.drainSeconds ?? (database.kind === 'postgres' ? DRAIN_SECONDS : 0));
}

/**
 * Stops accepting connections, waits for running requests, and closes the remaining connections after the grace period.
 */
async function closeApp(app: FastifyInstance, graceMilliseconds: number): Promise<void> {
  const timer = setTimeout(() => app.server.closeAllConnections(), graceMilliseconds);
  try {
    await app.close();
  } finally {
    clearTimeout(timer);
  }
}
