import { setTimeout as sleep } from 'node:timers/promises';
import { IdkitError } from '../../core/index.ts';
import type { MetricFigures, Siblings } from '../../http/index.ts';
import type { Remaining } from '../listener/drain.ts';
import type { RunningService } from '../start.ts';
import {
  type FromWorker,
  LAST_FIGURES,
  type Listening,
  readMessage,
  type ToWorker,
  WORKER_VARIABLE,
  type WorkerPorts,
} from './messages.ts';

/** Timeout in milliseconds for the metrics of all workers. After that, the scrape fails. */
const SCRAPE_MS = 10_000;

/** A worker's link to the process that started it. */
export interface WorkerLink {
  ports: WorkerPorts;
  siblings: Siblings;
  /** Resolves when the worker must end, because the parent process sent a message or has ended. */
  stopped: Promise<void>;
  /** Returns whether the service continues without this worker. */
  isReplaced(): boolean;
  /** Notifies the parent process that this worker received a signal to end. */
  signalled(): void;
  /**
   * Resolves when the worker must stop accepting connections. If the parent process has ended, it resolves `drain`
   * milliseconds later.
   */
  leave(drain: number): Promise<Remaining>;
  /** Notifies the parent process that this worker has stopped accepting connections. */
  left(): void;
  ready(service: RunningService, listening: Listening): void;
  /** Reports an error to the parent process. Resolves when the message has been sent. */
  failed(error: IdkitError): Promise<void>;
}

/** Returns the link to the parent process, or undefined if this process is not a worker. */
export function openWorkerLink(): WorkerLink | undefined {
  const ports = process.env[WORKER_VARIABLE];
  if (ports === undefined || process.send === undefined) return undefined;
  // Child processes of this worker must not inherit the variable.
  delete process.env[WORKER_VARIABLE];
  const send = (message: FromWorker): void => {
    if (process.connected) process.send!(message);
  };
  let read: (() => Promise<readonly MetricFigures[]>) | undefined;
  let scrapes = 0;
  const waiting = new Map<number, (text: string) => void>();
  const stopped = Promise.withResolvers<void>();
  const leaving = Promise.withResolvers<Remaining>();
  const orphaned = Promise.withResolvers<void>();
  let serviceEnds = false;

  const collect = async (id: number): Promise<void> => {
    try {
      send({ idkit: 'figures', id, figures: (await read?.()) ?? [] });
    } catch {
      // Without its database a worker cannot read its metrics, so its previous values are used.
      send({ idkit: 'figures', id });
    }
  };
  process.on('message', (sent) => {
    const message = readMessage<ToWorker>(sent);
    if (message?.idkit === 'stop') {
      serviceEnds = true;
      stopped.resolve();
    } else if (message?.idkit === 'leave') {
      leaving.resolve(message.to);
      stopped.resolve();
    } else if (message?.idkit === 'collect') void collect(message.id);
    else if (message?.idkit === 'scraped') waiting.get(message.id)?.(message.text);
  });
  process.on('disconnect', () => {
    serviceEnds = true;
    orphaned.resolve();
    stopped.resolve();
  });

  return {
    ports: JSON.parse(ports) as WorkerPorts,
    stopped: stopped.promise,
    isReplaced: () => !serviceEnds,
    signalled: () => send({ idkit: 'signalled' }),
    // If the parent process has ended, all workers notice this and stop at the same time.
    leave: (drain) =>
      Promise.race([leaving.promise, orphaned.promise.then(() => sleep(drain, 'others' as const))]),
    left: () => {
      send({ idkit: 'left' });
      void collect(LAST_FIGURES);
    },
    siblings: {
      offer: (own) => {
        read = own;
      },
      scrape: () => {
        const id = scrapes++;
        return new Promise<string>((resolve, reject) => {
          const timer = setTimeout(() => {
            waiting.delete(id);
            reject(new IdkitError('IDKIT_FAILED', 'the metrics of the other workers did not arrive in time'));
          }, SCRAPE_MS);
          waiting.set(id, (text) => {
            clearTimeout(timer);
            waiting.delete(id);
            resolve(text);
          });
          send({ idkit: 'scrape', id });
        });
      },
    },
    ready: ({ close: _, ...service }, listening) =>
      send({ idkit: 'ready', service: { ...service, listening } }),
    failed: ({ code, message, hints }) =>
      new Promise((resolve) => {
        const sent: FromWorker = { idkit: 'failed', error: { code, message, hints } };
        if (process.connected) process.send!(sent, undefined, undefined, () => resolve());
        else resolve();
      }),
  };
}
