import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Settings } from '../../config/index.ts';
import { type ClosedListener, closeListener, dropListener } from './close-listener.ts';

/** Seconds that requests are still taken with readiness down where settings are silent: longer than a proxy needs to see it. */
const DRAIN_SECONDS = 3;
/** Milliseconds for which connections that are kept open may still bring a request once the listener is closed. */
export const LINGER_MS = 500;

/**
 * Who else accepts from the listeners when a process leaves them: `nobody`, so that what waits there would be lost with
 * them; `others`; `nobody-asks` where no client is expected, and none is waited for.
 */
export type LeftTo = 'nobody' | 'others' | 'nobody-asks';

/** How a service ends. */
export interface Ending {
  /** Resolves when the listeners are to close; until then they are open, and readiness may be down. */
  leave(): Promise<LeftTo>;
  /** Nobody new is let in. */
  left?: (() => void) | undefined;
  /**
   * Milliseconds for which connections that are kept open may still bring a request once the listener is closed; each
   * that does ends with its answer. `LINGER_MS` after a time with the listener open, in which they did.
   */
  linger(): number;
  /** Milliseconds for requests that run. */
  grace: number;
}

/**
 * Ends the listeners of a service so that no request is lost: first clients that follow readiness go elsewhere, then
 * nobody new is let in, then connections that are kept open have a moment for what is on its way, then what runs is
 * finished, and what still runs after the grace is cut.
 */
export async function drain(apps: readonly FastifyInstance[], ending: Ending): Promise<void> {
  const leftTo = await ending.leave();
  let closed: readonly ClosedListener[] = [];
  if (leftTo !== 'nobody-asks') {
    const close = leftTo === 'nobody' ? closeListener : dropListener;
    closed = await Promise.all(apps.map(({ server }) => close(server)));
    ending.left?.();
    await sleep(ending.linger());
  }
  await Promise.all(apps.map((app) => closeApp(app, ending.grace)));
  await Promise.all(closed.map(({ ended }) => ended));
}

/** Replicas take over what comes while a service drains; an SQLite database has one service. */
export function drainMilliseconds({ listen, database }: Pick<Settings, 'listen' | 'database'>): number {
  return 1000 * (listen.drainSeconds ?? (database.kind === 'postgres' ? DRAIN_SECONDS : 0));
}

/** Stops accepting, lets running requests end, and cuts what is left after the grace. */
async function closeApp(app: FastifyInstance, graceMilliseconds: number): Promise<void> {
  const timer = setTimeout(() => app.server.closeAllConnections(), graceMilliseconds);
  try {
    await app.close();
  } finally {
    clearTimeout(timer);
  }
}
