import { Server as NetServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

/** Milliseconds for which connections that are kept open may still bring a request once the listener is closed. */
const LINGER_MS = 500;
/** Milliseconds for which a quiet moment of the listener is waited for. */
const QUIET_WITHIN_MS = 1_000;
/** Milliseconds of a turn of the event loop in which hardly anybody can have come. */
const SHORT_TURN_MS = 0.2;

/** How long each part of an end may take, in milliseconds. */
export interface Ending {
  /** With the listener open and readiness down; 0: nobody is waited for. */
  drain: number;
  /** For requests that run. */
  grace: number;
}

/**
 * Ends the listeners of a service whose readiness is down by now, so that no request is lost: first whoever follows
 * readiness goes elsewhere, then nobody new is let in, then connections that are kept open have a moment for what is
 * on its way, then what runs is finished, and what still runs after the grace is cut.
 */
export async function drain(apps: readonly FastifyInstance[], ending: Ending): Promise<void> {
  if (ending.drain > 0) {
    await sleep(ending.drain);
    await Promise.all(apps.map(closeListener));
    await sleep(LINGER_MS);
  }
  await Promise.all(apps.map((app) => closeApp(app, ending.grace)));
}

/**
 * Lets nobody new in. The kernel resets connections that it has completed and nobody has accepted yet, so the
 * listener closes right after a turn of the event loop that found none.
 */
async function closeListener(app: FastifyInstance): Promise<void> {
  const { server } = app;
  let accepted = 0;
  const count = () => {
    accepted++;
  };
  server.on('connection', count);
  const until = performance.now() + QUIET_WITHIN_MS;
  await new Promise<void>((resolve) => {
    const look = (before: number, since: number): void => {
      const now = performance.now();
      const quiet = accepted === before && now - since < SHORT_TURN_MS;
      if (!quiet && now < until) {
        setImmediate(look, accepted, now);
        return;
      }
      // At once, and not by the method of HTTP servers, which ends connections that are kept open.
      NetServer.prototype.close.call(server);
      resolve();
    };
    setImmediate(look, -1, performance.now());
  });
  server.off('connection', count);
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
