import { flushCompileCache } from 'node:module';
import type { FastifyInstance } from 'fastify';
import { type AdminContext, bootstrapMaster } from '../../admin/index.ts';
import { acquireLock, checkMasterKey, type Lock, platformPaths, type Settings } from '../../config/index.ts';
import { IdkitError, type Secret, systemClock, systemRandom } from '../../core/index.ts';
import { openPasswords } from '../../crypto/index.ts';
import {
  type AppOptions,
  buildApp,
  buildManagementApp,
  Metrics,
  openEventSink,
  openHealth,
  readTls,
  type ServiceLog,
  type Services,
  silentLog,
} from '../../http/index.ts';
import { openKeyRing } from '../../protocol/index.ts';
import { openStore } from '../../store/open.ts';
import type { RunningService, ServeOptions } from '../service.ts';
import { databaseFile, lockFile, makeDataDirectory } from './database-file.ts';
import { type ImportedRealms, importRealms } from './import-realms.ts';
import { checkPortFree, listen } from './listen.ts';
import { startSweeper } from './sweeper.ts';

/** What to do at the end, last first. */
type Closers = (() => unknown)[];

/** Seconds that running requests get at the end (issue: serve). */
const GRACE_SECONDS = 10;

/**
 * Starts the service in this order: what can be wrong without touching anything (key, certificate, port); the
 * lock; the store; the first realm and administrator; realm files; the listener. See `startService` in ../open.ts.
 */
export async function startServer(settings: Settings, options: ServeOptions): Promise<RunningService> {
  const closers: Closers = [];
  try {
    return await start(settings, options, closers);
  } catch (error) {
    await closeAll(closers);
    throw error;
  }
}

async function start(settings: Settings, options: ServeOptions, closers: Closers): Promise<RunningService> {
  const began = performance.now();
  const log = options.log ?? silentLog;
  const masterKey = checkMasterKey(settings.masterKey);
  const { host, port, managementPort } = settings.listen;
  const tls = await readTls(settings.listen);
  await checkPortFree(host, port);
  if (managementPort !== null) await checkPortFree(host, managementPort);

  const { lock, services, figures, flushEvents } = await openServices(settings, masterKey, log, closers);
  const firstStart = await makeMaster(settings, services.admin);
  const directory = options.importDirectory ?? platformPaths(settings.dir).import;
  const imported: ImportedRealms =
    directory === false ? { realms: [], unenforced: [] } : await importRealms(directory, services.admin, log);

  const app: AppOptions = {
    ...figures,
    log,
    trustedProxies: settings.trustedProxies,
    tls,
    serviceRoutes: managementPort === null,
  };
  const grace = (options.graceSeconds ?? GRACE_SECONDS) * 1000;
  const where = { host, tls: tls !== undefined };
  const publicApp = buildApp(services, app);
  closers.push(() => closeApp(publicApp, grace));
  const address = await listen(publicApp, { ...where, port }, (own) => {
    const base = settings.baseUrl ?? own;
    services.protocol.baseUrl = base;
    services.admin.baseUrl = base;
  });
  if (managementPort !== null) {
    const managementApp = buildManagementApp(app);
    closers.push(() => closeApp(managementApp, grace));
    await listen(managementApp, { ...where, port: managementPort });
  }
  closers.push(() => flushEvents());

  await lock.note({ baseUrl: address });
  const sweeper = startSweeper(services.protocol.store, systemClock, log);
  closers.push(() => sweeper.stop());
  figures.health.markStarted();
  closers.push(() => figures.health.markStopping());
  setImmediate(() => flushCompileCache());

  const startedInMilliseconds = Math.round(performance.now() - began);
  log.info({ address, milliseconds: startedInMilliseconds }, 'ready');
  let closing: Promise<void> | undefined;
  return {
    address,
    baseUrl: services.protocol.baseUrl,
    imported: imported.realms,
    unenforced: imported.unenforced,
    firstStart,
    startedInMilliseconds,
    close: () => {
      closing ??= closeAll(closers).then(() => log.info({}, 'stopped'));
      return closing;
    },
  };
}

/** Realm master with the machine's own administrator and smoke client, where there is none yet (contract §1). */
async function makeMaster(settings: Settings, admin: AdminContext): Promise<boolean> {
  if ((await admin.store.findRealm('master')) !== undefined) return false;
  const { username, password } = settings.administrator;
  const smokeClientSecret = settings.smoke.clientSecret;
  const missing =
    password === undefined
      ? 'IDKIT_ADMIN_PASSWORD'
      : smokeClientSecret === undefined
        ? 'IDKIT_SMOKE_CLIENT_SECRET'
        : undefined;
  if (password === undefined || smokeClientSecret === undefined)
    throw new IdkitError('IDKIT_SETTING', `the first start needs ${missing}, and it is not set`, {
      hints: ['idkit init writes one into .env of a new platform directory'],
    });
  const { clientId } = settings.smoke;
  const made = await bootstrapMaster(admin, {
    username,
    password,
    smokeClientSecret,
    ...(settings.smoke.realm === 'master' ? { smokeClientId: clientId } : {}),
  });
  return made.outcome === 'made';
}

/** The lock, the store and what the handlers work with. */
async function openServices(
  settings: Settings,
  masterKey: Secret,
  log: ServiceLog,
  closers: Closers,
): Promise<{
  lock: Lock;
  services: Services;
  figures: Pick<AppOptions, 'health' | 'metrics' | 'store'>;
  flushEvents: () => Promise<void>;
}> {
  const file = databaseFile(settings);
  await makeDataDirectory(file);
  const lock = await acquireLock(lockFile(file), { mode: 'exclusive', record: { command: 'serve' } });
  closers.push(() => lock.release());
  const store = await openStore({ file, masterKey, masterKeyOld: settings.masterKeyOld });
  closers.push(() => store.close());
  const passwords = openPasswords();
  closers.push(() => passwords.close());

  const metrics = new Metrics();
  const events = openEventSink({ store, log, metrics });
  const common = { store, clock: systemClock, random: systemRandom, passwords, baseUrl: '' };
  const services: Services = {
    protocol: { ...common, keys: openKeyRing(), events },
    admin: { ...common },
    limits: settings.limits,
  };
  return {
    lock,
    services,
    figures: { health: openHealth(store), metrics, store },
    flushEvents: () => events.flush(),
  };
}

/** Last opened, first closed; each is given its turn even where one fails. @throws the first fault */
async function closeAll(closers: Closers): Promise<void> {
  let fault: unknown;
  for (const close of closers.splice(0).reverse()) {
    try {
      await close();
    } catch (error) {
      fault ??= error;
    }
  }
  if (fault !== undefined) throw fault;
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
