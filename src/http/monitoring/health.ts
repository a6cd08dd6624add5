import type { Store } from '../../store/index.ts';

/** Timeout of a check in milliseconds. A check that takes longer reports DOWN. */
const CHECK_MILLISECONDS = 5_000;

/** One check of a health response, in Keycloak's shape (docs/keycloak/realms.md#health). */
export interface HealthCheck {
  name: string;
  status: 'UP' | 'DOWN';
  data?: Readonly<Record<string, string>>;
}

/** The body of a health response. */
export interface HealthReport {
  status: 'UP' | 'DOWN';
  checks: readonly HealthCheck[];
}

/** The state of this process that the health endpoints report. */
export interface Health {
  /** Whether the service is listening but not ready for requests yet, because it is importing realm files. */
  readonly preparing: boolean;
  /** Whether this process is about to end, so that each connection closes after its response. */
  readonly leaving: boolean;
  live(): HealthReport;
  started(): HealthReport;
  /**
   * Reports whether the service is ready. The check reads from the store and writes to it. Parallel calls share one
   * check.
   */
  ready(): Promise<HealthReport>;
  /** Marks the service as listening but not started. Until then, every request except a health check gets 503. */
  markPreparing(): void;
  /** Marks the service as started. `started` then reports UP, and `ready` does so if the store works. */
  markStarted(): void;
  /** Marks the service as about to end. `ready` then reports DOWN. */
  markStopping(): void;
  /** Marks this process as about to end. Other processes of the service continue, so `ready` does not change. */
  markLeaving(): void;
}

/** An id that no record has, so that reading and removing it does not change any data. */
const NO_RECORD = 'idkit-health-check';

/**
 * Creates the health of a service. Its check reads from the store and sends it a write that does not change any data.
 */
export function openHealth(store: Pick<Store, 'isAccessTokenRevoked' | 'removeFamily'>): Health {
  let started = false;
  let stopping = false;
  let failingSince: string | undefined;
  let running: Promise<HealthCheck> | undefined;

  const checkStore = async (): Promise<HealthCheck> => {
    const name = 'Keycloak database connections async health check';
    try {
      await inTime(
        Promise.all([store.isAccessTokenRevoked(NO_RECORD), store.removeFamily(NO_RECORD, NO_RECORD)]),
      );
      failingSince = undefined;
      return { name, status: 'UP' };
    } catch {
      failingSince ??= keycloakTime(new Date());
      return { name, status: 'DOWN', data: { 'Failing since': failingSince } };
    }
  };
  const startedCheck = (): HealthCheck => ({
    name: 'Keycloak Initialized',
    status: started ? 'UP' : 'DOWN',
  });

  const health = {
    preparing: false,
    leaving: false,
    live: () => report([]),
    started: () => report([startedCheck()]),
    ready: async () => {
      running ??= checkStore().finally(() => {
        running = undefined;
      });
      const shutdown: HealthCheck = { name: 'Graceful Shutdown', status: stopping ? 'DOWN' : 'UP' };
      return report([shutdown, await running, startedCheck()]);
    },
    markPreparing: () => {
      health.preparing = true;
    },
    markStarted: () => {
      health.preparing = false;
      started = true;
    },
    markStopping: () => {
      stopping = true;
      health.leaving = true;
    },
    markLeaving: () => {
      health.leaving = true;
    },
  };
  return health;
}

function report(checks: readonly HealthCheck[]): HealthReport {
  return { status: checks.every((check) => check.status === 'UP') ? 'UP' : 'DOWN', checks };
}

/** Formats a time in UTC as `yyyy-MM-dd HH:mm:ss,SSS`, the format of Keycloak. */
function keycloakTime(date: Date): string {
  return date.toISOString().replace('T', ' ').replace('.', ',').replace('Z', '');
}

async function inTime(work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  try {
    await Promise.race([
      work,
      new Promise((_resolve, reject) => {
        timer = setTimeout(() => reject(new Error('the check timed out')), CHECK_MILLISECONDS);
      }),
    ]);
  } finally {
    clearTimeout(timer);
  }
}
