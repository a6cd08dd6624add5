import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { AdminContext } from '../admin/index.ts';
import { isForeignArchive, plannedJobs, platformPaths, type Settings } from '../config/index.ts';
import { IdkitError, type Secret, systemClock, systemRandom } from '../core/index.ts';
import type { AppOptions, ArchiveSource, BackupSource, ServiceLog, Services } from '../http/index.ts';
import { isPasswordTooLong, MOST_PASSWORD_BYTES, type SessionEndings } from '../model/index.ts';
import type { PostForm, ProtocolContext } from '../protocol/index.ts';
import { openStore, type StoreOptions } from '../store/open.ts';
import type { ArchiveKeeper } from './archive/keeper.ts';
import type { OperationsParts } from './operations.ts';
import type { ServeOptions } from './start.ts';

/** Functions that close resources when the service ends, in the order in which the resources were opened. */
export type Closers = (() => unknown)[];

/** Everything that the HTTP application is built from. */
export interface OpenedServices {
  services: Services;
  figures: Pick<AppOptions, 'health' | 'exposition' | 'requests'>;
}

/**
 * Opens the store and everything else that the handlers need. Loading the service's modules takes half of the start-up
 * time, so the threads of the store start in the meantime.
 */
export async function openServices(
  settings: Settings,
  masterKey: Secret,
  log: ServiceLog,
  closers: Closers,
  { worker, withoutLock = false }: Pick<ServeOptions, 'worker' | 'withoutLock'>,
): Promise<OpenedServices> {
  const keeper = await openKeeper(settings, masterKey, log);
  const [store, http, protocol, browser, crypto] = await Promise.all([
    openStore({
      ...storePlace(settings, withoutLock),
      masterKey,
      masterKeyOld: settings.masterKeyOld,
      keeper,
    }).then((opened) => {
      closers.push(() => opened.close());
      return opened;
    }),
    import('../http/index.ts'),
    import('../protocol/index.ts'),
    import('../browser/index.ts'),
    import('../crypto/index.ts'),
  ]);
  const passwords = crypto.openPasswords();
  closers.push(() => passwords.close());
  const metrics = new http.Metrics(() => passwords.figures());
  const events = http.openEventSink({ store, log, metrics });
  // This runs after the listeners have closed, so that requests which end during the grace period still write events.
  closers.push(() => events.flush());
  const common = { store, clock: store.clock, random: systemRandom, passwords, baseUrl: '' };
  const context: ProtocolContext = { ...common, keys: protocol.openKeyRing(), events };
  const { announcer, stop } = openAnnouncer(context, protocol, settings, log);
  closers.push(stop);
  context.sessionEndings = announcer;
  const { config } = platformPaths(settings.dir);
  const services: Services = {
    protocol: context,
    admin: {
      ...common,
      sessionEndings: announcer,
      protectAdministrators: settings.admin.protectAdministrators,
      trashDays: settings.trashDays,
      requiredActions: new Set(browser.REQUIRED_ACTIONS.keys()),
    },
    limits: settings.limits,
    log,
    logoDirectory: join(config, 'logos'),
    operations: openWhenAsked({ settings, store, metrics, baseUrl: () => context.baseUrl }),
    themes: http.openThemes(config, log),
  };
  const figures = {
    health: http.openHealth(store),
    exposition: http.openExposition(metrics, store, {
      siblings: worker?.siblings,
      backups: findBackupSource(settings),
      archive: findArchiveSource(settings, keeper),
    }),
    requests: metrics.requests,
  };
  return { services, figures };
}

/**
 * Returns the backup root for the metrics. The container of a container platform cannot see the root, which is on the
 * machine; `idkit status --prometheus` there writes the same metrics.
 */
function findBackupSource(settings: Settings): BackupSource | undefined {
  const { runtime, backup } = settings;
  if (runtime === 'compose') return undefined;
  return {
    root: backup.root,
    clock: systemClock,
    limits: { maxAgeSeconds: backup.maxAgeHours * 3600, jobs: plannedJobs(settings).map(({ id }) => id) },
  };
}

/**
 * Returns what the metrics show of the archive. On Postgres, one process of all replicas writes the archive, and its
 * machine has the file with the state. pgBackRest and Barman report on their own archives.
 */
function findArchiveSource(
  { backup, dir }: Settings,
  keeper: ArchiveKeeper | undefined,
): ArchiveSource | undefined {
  if (backup.archive === null || isForeignArchive(backup.archive)) return undefined;
  return async () => {
    const { archivePosition, readArchiveState } = await import('../archive/index.ts');
    const state = await readArchiveState(archiveFile(dir));
    const ended = keeper?.figures.fault !== undefined;
    // Nothing is shipped any more, so everything after the newest moment waits.
    const behind = ended && state?.newest !== undefined ? { behindSince: state.newest } : {};
    return archivePosition(state && { ...behind, ...state }, systemClock.now());
  };
}

/** Returns the file with the state of the archive. */
function archiveFile(dir: string): string {
  return join(platformPaths(dir).data, 'archive.json');
}

/** Returns the reader for the console. Its modules are loaded at the first call, because few services need them. */
function openWhenAsked(parts: OperationsParts): NonNullable<Services['operations']> {
  let opened: NonNullable<Services['operations']> | undefined;
  return async () => {
    opened ??= (await import('./operations.ts')).openOperations(parts);
    return opened();
  };
}

/** Prepares the archive of an embedded database. */
async function openKeeper(
  { database, backup, dir }: Settings,
  masterKey: Secret,
  log: ServiceLog,
): Promise<ArchiveKeeper | undefined> {
  if (backup.archive === null || database.kind !== 'sqlite') return undefined;
  const [{ ArchiveKeeper }, { absoluteLocation }] = await Promise.all([
    import('./archive/keeper.ts'),
    import('../target/index.ts'),
  ]);
  const options = {
    file: database.file,
    location: absoluteLocation(backup.archive, dir),
    masterKey,
    state: archiveFile(dir),
    seconds: backup.archiveSeconds,
    spoolBytes: backup.archiveSpoolBytes,
    keepMilliseconds: backup.keepDays * 86_400_000,
  };
  return new ArchiveKeeper(options, log);
}

/** Returns the location of the store. It contains the name of this process, which a Postgres server shows. */
function storePlace(
  { database, databasePassword }: Settings,
  withoutLock: boolean,
): Pick<StoreOptions, 'file' | 'postgres'> {
  if (database.kind === 'sqlite') return { file: database.file };
  return {
    postgres: {
      url: database.url,
      password: databasePassword,
      applicationName: `idkit serve ${hostname()} ${process.pid}`,
      withoutLock,
    },
  };
}

/**
 * Notifies clients when their sessions end. Only a service whose base URL is on this machine may call addresses on this
 * machine.
 */
function openAnnouncer(
  context: ProtocolContext,
  protocol: typeof import('../protocol/index.ts'),
  settings: Settings,
  log: ServiceLog,
): { announcer: SessionEndings; stop: () => void } {
  const stopping = new AbortController();
  const postForm: PostForm = async (url, form) => {
    if (settings.outbound.off === true) return { outcome: 'refused', detail: 'outbound calls are off' };
    const { isLoopbackUrl, openPostForm } = await import('./post-form.ts');
    const own = isLoopbackUrl(context.baseUrl) ? ['127.0.0.0/8', '::1'] : [];
    return openPostForm([...settings.outbound.privateAddresses, ...own])(url, form);
  };
  const announcer = protocol.openLogoutAnnouncer(
    context,
    postForm,
    (failure) =>
      log.warn(
        { ...failure },
        `client ${failure.clientId} was not notified that a session ended: ${failure.detail}`,
      ),
    (milliseconds) =>
      setTimeout(milliseconds, 'over' as const, { signal: stopping.signal, ref: false }).catch(
        () => 'stopping' as const,
      ),
  );
  return { announcer, stop: () => stopping.abort() };
}

/** Creates realm `master` with the platform's administrator and its smoke client, unless the realm exists. */
export async function makeMaster(settings: Settings, admin: AdminContext): Promise<{ firstStart: boolean }> {
  if (await admin.store.hasRealm('master')) return { firstStart: false };
  const { username, password } = settings.administrator;
  const smokeClientSecret = settings.smoke.clientSecret;
  if (password === undefined || smokeClientSecret === undefined) {
    const missing = password === undefined ? 'IDKIT_ADMIN_PASSWORD' : 'IDKIT_SMOKE_CLIENT_SECRET';
    throw new IdkitError('IDKIT_SETTING', `the first start needs ${missing}, which is not set`, {
      hints: ['idkit init generates it in .env of a new platform directory'],
    });
  }
  if (isPasswordTooLong(password.reveal()))
    throw new IdkitError(
      'IDKIT_SETTING',
      `IDKIT_ADMIN_PASSWORD is longer than ${MOST_PASSWORD_BYTES} bytes, the maximum for a login`,
      { hints: ['set a shorter password in .env and start again'] },
    );
  const { bootstrapMaster } = await import('../admin/index.ts');
  const made = await bootstrapMaster(admin, {
    username,
    password,
    smokeClientSecret,
    ...(settings.smoke.realm === 'master' ? { smokeClientId: settings.smoke.clientId } : {}),
  });
  return { firstStart: made.outcome === 'made' };
}
