import { X509Certificate } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { flushCompileCache } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { AdminContext, PendingImport } from '../admin/index.ts';
import { checkMasterKey, platformPaths, type Settings } from '../config/index.ts';
import { systemErrorCode } from '../core/index.ts';
import type { AppOptions, Health, ServiceLog } from '../http/index.ts';
import { startBackgroundMigrations } from './background-migrations.ts';
import { startCountCheck } from './count-check.ts';
import { drain, drainMilliseconds, LINGER_MS, type Remaining } from './listener/drain.ts';
import {
  findManagementPlace,
  type HeldPort,
  holdPort,
  listen,
  type Purpose,
  takeUnlessTaken,
} from './listener/listen.ts';
import { recordService } from './lock.ts';
import { type Closers, makeMaster, openServices } from './services.ts';
import type { RunningService, ServeOptions } from './start.ts';
import { startSweeper } from './sweeper.ts';
import type { WorkerLink } from './workers/worker.ts';

/** Default of `ServeOptions.graceSeconds`. */
const GRACE_SECONDS = 10;

/**
 * Starts the service. It first checks the key, the certificate and the port, which changes nothing. Then it takes the
 * lock, opens the store, creates the first realm and administrator, reads realm files, listens, and imports the realm
 * files. See `startService` in start.ts.
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
  const log = options.log ?? silent;
  const masterKey = checkMasterKey(settings.masterKey);
  const { worker } = options;
  const { host } = settings.listen;
  const tls = await readTls(settings);
  const hold = async (own: string, number: number, purpose: Purpose): Promise<HeldPort> => {
    // The parent process of the workers holds the port.
    if (worker !== undefined)
      return { host: own, port: number, bound: undefined, shared: worker.ports[purpose]!, purpose };
    const held = await holdPort(own, number, purpose);
    closers.push(() => held.bound?.[Symbol.dispose]());
    return held;
  };
  const notes: string[] = [];
  const publicHeld = await hold(host, worker?.ports.public.port ?? settings.listen.port, 'public');
  const management = worker === undefined ? findManagementPlace(settings) : worker.ports.management;
  const managementHeld =
    management &&
    (await takeUnlessTaken(management, notes, () => hold(management.host, management.port, 'management')));

  const lock = worker === undefined ? await recordService(settings) : undefined;
  closers.push(() => lock?.release());
  const { services, figures } = await openServices(settings, masterKey, log, closers, options);
  const { firstStart } = await makeMaster(settings, services.admin);
  const directory = options.importDirectory ?? platformPaths(settings.dir).import;
  const files = await readImport(directory, services.admin, log, settings, options);
  // Without realm files, the service never responds with 503 while it starts.
  if (!files.empty) figures.health.markPreparing();

  const app: AppOptions = {
    ...figures,
    log,
    trustedProxies: settings.trustedProxies,
    tls,
    metricsPublic: settings.metrics.public,
  };
  const apps: FastifyInstance[] = [];
  closers.push(() =>
    drain(apps, {
      leave: () => leave(settings, figures.health, worker),
      left: worker?.left,
      linger: () => (worker?.isReplaced() ? Math.max(LINGER_MS, drainMilliseconds(settings)) : LINGER_MS),
      grace: (options.graceSeconds ?? GRACE_SECONDS) * 1000,
    }),
  );
  const https = tls !== undefined;
  const { buildApp, buildManagementApp } = await import('../http/index.ts');
  const publicApp = buildApp(services, app);
  apps.push(publicApp);
  const address = await listen(publicApp, { ...publicHeld, tls: https }, (own) => {
    const base = settings.baseUrl ?? own;
    services.protocol.baseUrl = base;
    services.admin.baseUrl = base;
  });
  let managementUrl: string | undefined;
  if (management !== undefined && managementHeld !== undefined) {
    const managementApp = buildManagementApp({ ...figures, log, tls, host: management.host });
    apps.push(managementApp);
    // Several processes can hold a port, but only one of them can listen on it.
    managementUrl = await takeUnlessTaken(management, notes, () =>
      listen(managementApp, { ...managementHeld, tls: https }),
    );
  }
  const listening = {
    baseUrl: address,
    ...(managementUrl === undefined ? {} : { managementUrl }),
    ...(tls === undefined ? {} : { certificate: leafOf(tls.cert) }),
  };
  await lock?.note(listening);
  const imported = await files.run();
  const { store } = services.protocol;
  const sweeper = startSweeper(store, log, undefined, [
    (now, limit) =>
      store.sweepTrash(now, limit, async (entry) => {
        const { expiryEvent } = await import('../admin/index.ts');
        return await expiryEvent(services.admin, entry);
      }),
  ]);
  closers.push(() => sweeper.stop());
  const background = startBackgroundMigrations(services.protocol.store, log);
  closers.push(() => background.stop());
  const counts = startCountCheck(services.protocol.store, log);
  closers.push(() => counts.stop());
  figures.health.markStarted();
  closers.push(() => (worker?.isReplaced() ? figures.health.markLeaving() : figures.health.markStopping()));
  setImmediate(() => flushCompileCache());

  const startedInMilliseconds = Math.round(performance.now() - began);
  log.info({ address, managementUrl, milliseconds: startedInMilliseconds }, 'ready');
  let closing: Promise<void> | undefined;
  const service: RunningService = {
    address,
    managementUrl,
    notes,
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
  worker?.ready(service, listening);
  return service;
}

const silent: ServiceLog = { info: () => {}, warn: () => {}, error: () => {} };

/** Returns the first certificate of the chain, which is the service's own. The command line trusts it. */
function leafOf(chain: Buffer): string {
  return new X509Certificate(chain).toString();
}

/** Reads the certificate and the key before the start changes anything. */
async function readTls({ listen }: Settings): Promise<AppOptions['tls']> {
  if (listen.tlsCert === null && listen.tlsKey === null) return undefined;
  const http = await import('../http/index.ts');
  return http.readTls(listen);
}

async function readImport(
  directory: string | false,
  admin: AdminContext,
  log: ServiceLog,
  { realmFiles }: Settings,
  { newSecrets = false, progress }: ServeOptions,
): Promise<PendingImport> {
  if (directory === false || !(await holdsFiles(directory)))
    return { empty: true, run: async () => ({ realms: [], unenforced: [] }) };
  const { openRealmDirectory } = await import('./realm-directory.ts');
  const { openImport } = await import('../admin/index.ts');
  return openImport(openRealmDirectory(directory, log, { remove: realmFiles.remove }), admin, {
    newSecrets,
    environment: (name) => process.env[name],
    log,
    progress,
  });
}

/**
 * Returns whether the directory contains files. Most starts import nothing and so do not have to load the import code.
 * Also returns true if the directory cannot be read.
 */
async function holdsFiles(directory: string): Promise<boolean> {
  const names = await readdir(directory).catch((error) =>
    systemErrorCode(error) === 'ENOENT' ? [] : ['unreadable'],
  );
  return names.some((name) => name !== 'done' && !name.startsWith('.'));
}

/**
 * Waits until the service must close its listeners. Returns which processes continue to accept connections. Returns
 * immediately if the service was never ready.
 */
async function leave(settings: Settings, health: Health, worker: WorkerLink | undefined): Promise<Remaining> {
  const milliseconds = drainMilliseconds(settings);
  if (!health.leaving) return 'no-client';
  if (worker !== undefined) return worker.leave(milliseconds);
  if (milliseconds === 0) return 'no-client';
  await sleep(milliseconds);
  return 'none';
}

/**
 * Calls the functions in reverse order, and continues after an error.
 *
 * @throws the first error
 */
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
