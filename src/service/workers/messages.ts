import { type ErrorCode, isJsonObject } from '../../core/index.ts';
import type { MetricFigures } from '../../http/index.ts';
import type { Remaining } from '../listener/drain.ts';
import type { ManagementPlace, SharedPort } from '../listener/listen.ts';
import type { RunningService } from '../start.ts';

/** The environment variable that contains a worker's ports (`WorkerPorts` as JSON). */
export const WORKER_VARIABLE = 'IDKIT_SERVE_WORKER';

/** The ports that all workers share. */
export interface WorkerPorts {
  public: SharedPort;
  /** Absent if the service has no management listener. */
  management?: ManagementPlace & SharedPort;
}

/** What a worker reports to its parent process when its service is ready. */
export type WorkerService = Omit<RunningService, 'close'> & { listening: Listening };

/** The addresses of a service, as its lock file records them. */
export interface Listening {
  baseUrl: string;
  managementUrl?: string;
  certificate?: string;
}

/** An error of the catalogue in a form that can be sent between processes. */
export interface SentError {
  code: ErrorCode;
  message: string;
  hints: readonly string[];
}

/** The id of the last metrics, which a worker sends without a request when it stops accepting connections. */
export const LAST_FIGURES = -1;

/** Messages from a worker to the process that started it. */
export type FromWorker =
  | { idkit: 'ready'; service: WorkerService }
  | { idkit: 'failed'; error: SentError }
  /** The worker received a signal to end. It serves until another worker replaces it. */
  | { idkit: 'signalled' }
  /** The worker has stopped accepting connections. */
  | { idkit: 'left' }
  /** Requests the metrics of all workers as text. */
  | { idkit: 'scrape'; id: number }
  /** The response to `collect`. `figures` is absent if the metrics could not be read. */
  | { idkit: 'figures'; id: number; figures?: readonly MetricFigures[] };

/** Messages to a worker. */
export type ToWorker =
  /**
   * The whole service is ending. From now on the worker reports that it is not ready, but it still accepts requests.
   */
  | { idkit: 'stop' }
  /** The worker must stop accepting connections and end. If no `stop` came before, other workers continue. */
  | { idkit: 'leave'; to: Remaining }
  | { idkit: 'collect'; id: number }
  /** Answers `scrape`. */
  | { idkit: 'scraped'; id: number; text: string };

/** Returns the message, or undefined if it is not one of idkit's. */
export function readMessage<M extends { idkit: string }>(message: unknown): M | undefined {
  return isMessage<M>(message) ? message : undefined;
}

function isMessage<M extends { idkit: string }>(message: unknown): message is M {
  return isJsonObject(message) && typeof message['idkit'] === 'string';
}
