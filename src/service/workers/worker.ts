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

/** Milliseconds that the figures of all workers may take before a scrape fails. */
const SCRAPE_MS = 10_000;

/** This process as a worker of a service. */
export interface WorkerLink {
  ports: WorkerPorts;
  siblings: Siblings;
  /** Resolves once the worker must end: it received a message, or the process that started it has ended. */
  stopped: Promise<void>;
  /** Reports whether the service continues without this worker. */
  isReplaced(): boolean;
  /** Reports that this process received a signal to end. */
  signalled(): void;
  /**
   * Resolves once the worker must stop accepting. If the process that started it has ended, resolves `drain`
   * milliseconds after that.
   */
  leave(drain: number): Promise<Remaining>;
  /** Reports that the worker has stopped accepting connections. */
  left(): void;
  ready(service: RunningService, listening: Listening): void;
  /** Resolves once the message is sent. */
  failed(error: IdkitError): Promise<void>;
}

/** Returns undefined in a process that is not a worker of `serve --workers`. */
export function openWorkerLink(): WorkerLink | undefined {
  const ports = process.env[WORKER_VARIABLE];
  if (ports === undefined || process.send === undefined) return undefined;
  // Child processes of this one must not inherit it.
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
      // Without its database a worker has no figures; its previous ones count.
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
    // The other workers have lost their parent too, and all of them leave together.
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
            reject(new IdkitError('IDKIT_FAILED', 'the figures of the other workers did not arrive in time'));
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
