import type { Store } from '../../store/index.ts';

/** Milliseconds after which a check that has not answered is down. */
const CHECK_MILLISECONDS = 5_000;

/** One check of a health answer, in Keycloak's shape (facts §13). */
export interface HealthCheck {
  name: string;
  status: 'UP' | 'DOWN';
  data?: Readonly<Record<string, string>>;
}

/** Body of a health answer. */
export interface HealthReport {
  status: 'UP' | 'DOWN';
  checks: readonly HealthCheck[];
}

/** What the health endpoints tell. */
export interface Health {
  live(): HealthReport;
  started(): HealthReport;
  /** Reads and writes through the store each time; callers that ask at once share one look. */
  ready(): Promise<HealthReport>;
  /** The service listens and is not started yet: everything but health is answered 503. */
  markPreparing(): void;
  /** Whether the service listens and is not started yet. */
  isPreparing(): boolean;
  /** From here on `started` and `ready` may be UP. */
  markStarted(): void;
  /** The service ends; `ready` is DOWN. */
  markStopping(): void;
  /** This process ends and others of the service stay: readiness does not change. */
  markLeaving(): void;
  /** Whether this process ends, so that a connection is to end with its answer. */
  isLeaving(): boolean;
}

/** No record has these names, so reading and removing them changes nothing. */
const NOTHING = 'idkit-health-check';

/** Health over a store: a read and a turn of the writer, neither of which changes a thing. */
export function openHealth(store: Pick<Store, 'isAccessTokenRevoked' | 'removeFamily'>): Health {
  let preparing = false;
  let started = false;
  let stopping = false;
  let leaving = false;
  let failingSince: string | undefined;
  let running: Promise<HealthCheck> | undefined;

  const checkStore = async (): Promise<HealthCheck> => {
    const name = 'Keycloak database connections async health check';
    try {
      await inTime(Promise.all([store.isAccessTokenRevoked(NOTHING), store.removeFamily(NOTHING)]));
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

  return {
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
      preparing = true;
    },
    isPreparing: () => preparing,
    markStarted: () => {
      preparing = false;
      started = true;
    },
    markStopping: () => {
      stopping = true;
      leaving = true;
    },
    markLeaving: () => {
      leaving = true;
    },
    isLeaving: () => leaving,
  };
}

function report(checks: readonly HealthCheck[]): HealthReport {
  return { status: checks.every((check) => check.status === 'UP') ? 'UP' : 'DOWN', checks };
}

/** `yyyy-MM-dd HH:mm:ss,SSS`, as Keycloak writes it. */
function keycloakTime(date: Date): string {
  return date.toISOString().replace('T', ' ').replace('.', ',').replace('Z', '');
}

async function inTime(work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  try {
    await Promise.race([
      work,
      new Promise((_resolve, reject) => {
        timer = setTimeout(() => reject(new Error('no answer in time')), CHECK_MILLISECONDS);
      }),
    ]);
  } finally {
    clearTimeout(timer);
  }
}
