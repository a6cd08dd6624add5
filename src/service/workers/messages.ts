import type { ErrorCode } from '../../core/index.ts';
import type { MetricFigures } from '../../http/index.ts';
import type { LeftTo } from '../listener/drain.ts';
import type { ManagementPlace, SharedPort } from '../listener/listen.ts';
import type { RunningService } from '../start.ts';

/** In the environment of a worker: where it listens, as JSON of `WorkerPorts`. */
export const WORKER_VARIABLE = 'IDKIT_SERVE_WORKER';

/** The ports that all workers share. */
export interface WorkerPorts {
  public: SharedPort;
  /** Absent if the service has no management listener. */
  management?: ManagementPlace & SharedPort;
}

/** What a worker says of the service that it runs. */
export type WorkerService = Omit<RunningService, 'close'> & { listening: Listening };

/** Where a service listens, as its lock's record says it. */
export interface Listening {
  baseUrl: string;
  managementUrl?: string;
  certificate?: string;
}

/** An error of the catalogue between processes. */
export interface SentError {
  code: ErrorCode;
  message: string;
  hints: readonly string[];
}

/** Figures without a question: those of a worker that accepts no more. */
export const LAST_FIGURES = -1;

/** From a worker to the process that started it. */
export type FromWorker =
  | { idkit: 'ready'; service: WorkerService }
  | { idkit: 'failed'; error: SentError }
  /** It got a signal to end, and serves until another takes its place. */
  | { idkit: 'signalled' }
  /** It accepts no more. */
  | { idkit: 'left' }
  /** Asks for the text of all figures. */
  | { idkit: 'scrape'; id: number }
  /** Answers `collect`; absent where they could not be read. */
  | { idkit: 'figures'; id: number; figures?: readonly MetricFigures[] };

/** To a worker. */
export type ToWorker =
  /** The service ends: readiness goes down, and requests are still taken. */
  | { idkit: 'stop' }
  /** It is to accept no more and to end; without `stop` before, the service continues. */
  | { idkit: 'leave'; to: LeftTo }
  | { idkit: 'collect'; id: number }
  /** Answers `scrape`. */
  | { idkit: 'scraped'; id: number; text: string };

/** The message where it is one of ours. */
export function readMessage<M extends { idkit: string }>(message: unknown): M | undefined {
  return typeof (message as { idkit?: unknown } | null)?.idkit === 'string' ? (message as M) : undefined;
}
