import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Settings } from '../../config/index.ts';
import { type ClosedListener, closeListener, dropListener } from './close-listener.ts';

/** Default of `listen.drainSeconds` on Postgres: longer than a proxy needs to notice that the service is not ready. */
const DRAIN_SECONDS = 3;
/** Milliseconds in which keep-alive connections may still send a request after the listener has closed. */
export const LINGER_MS = 500;

/**
 * Which process accepts from the listeners after this one leaves them. With `none`, connections in the queue would be
 * lost; with `others`, another process accepts them; with `no-client`, no client is expected.
 */
export type Remaining = 'none' | 'others' | 'no-client';

/** How a service ends. */
export interface Ending {
  /**
   * Resolves when the listeners must close. Until then they are open, and the service may report that it is not ready.
   */
  leave(): Promise<Remaining>;
  /** The listeners are closed. */
  left?: (() => void) | undefined;
  /**
   * Milliseconds in which keep-alive connections may still send a request after the listener has closed; the response
   * closes them. Returns `LINGER_MS` if they had time to send one while the listener was open.
   */
  linger(): number;
  /** Milliseconds that running requests have to finish. */
  grace: number;
}

/**
 * Ends a service without losing a request. First, clients that check the readiness switch to another replica. Then the
 * listeners close, requests that are already under way on keep-alive connections are served, and running requests
 * finish. After the grace period, the remaining connections are closed.
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
 * Returns the duration of a drain. On Postgres, other replicas serve in the meantime. An SQLite database has only one
 * service.
 */
export function drainMilliseconds({ listen, database }: Pick<Settings, 'listen' | 'database'>): number {
  return 1000 * (listen.drainSeconds ?? (database.kind === 'postgres' ? DRAIN_SECONDS : 0));
}

/** Stops accepting, waits for running requests, and closes the remaining connections after the grace period. */
async function closeApp(app: FastifyInstance, graceMilliseconds: number): Promise<void> {
  const timer = setTimeout(() => app.server.closeAllConnections(), graceMilliseconds);
  try {
    await app.close();
  } finally {
    clearTimeout(timer);
  }
}
