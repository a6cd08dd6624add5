import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { AdminContext } from '../admin/index.ts';
import { platformPaths, type Settings } from '../config/index.ts';
import { IdkitError, type Secret, systemRandom } from '../core/index.ts';
import type { AppOptions, ServiceLog, Services } from '../http/index.ts';
import { isPasswordTooLong, MOST_PASSWORD_BYTES, type SessionEndings } from '../model/index.ts';
import type { PostForm, ProtocolContext } from '../protocol/index.ts';
import { openStore, type StoreOptions } from '../store/open.ts';
import type { ServeOptions } from './start.ts';

/** Functions to call when the service ends, in the order of opening. */
export type Closers = (() => unknown)[];

/** The parts from which the HTTP application is built. */
export interface OpenedServices {
  services: Services;
  figures: Pick<AppOptions, 'health' | 'exposition' | 'requests'>;
}

/**
 * Opens the store and what the handlers need. The store's threads start while this thread loads the modules of the
 * service, because loading takes half of the start.
 */
export async function openServices(
  settings: Settings,
  masterKey: Secret,
  log: ServiceLog,
  closers: Closers,
  { worker, withoutLock = false }: Pick<ServeOptions, 'worker' | 'withoutLock'>,
): Promise<OpenedServices> {
  const [store, http, protocol, browser, crypto] = await Promise.all([
    openStore({ ...storePlace(settings, withoutLock), masterKey, masterKeyOld: settings.masterKeyOld }).then(
      (opened) => {
        closers.push(() => opened.close());
        return opened;
      },
    ),
    import('../http/index.ts'),
    import('../protocol/index.ts'),
    import('../browser/index.ts'),
    import('../crypto/index.ts'),
  ]);
  const passwords = crypto.openPasswords();
  closers.push(() => passwords.close());
  const metrics = new http.Metrics(() => passwords.figures());
  const events = http.openEventSink({ store, log, metrics });
  // Requests that end during the grace period still write their events.
  closers.push(() => events.flush());
  const common = { store, clock: store.clock, random: systemRandom, passwords, baseUrl: '' };
  const context: ProtocolContext = { ...common, keys: protocol.openKeyRing(), events };
  const { announcer, stop } = openAnnouncer(context, protocol, settings, log);
  closers.push(stop);
  context.sessionEndings = announcer;
  const services: Services = {
    protocol: context,
    admin: {
      ...common,
      sessionEndings: announcer,
      protectAdministrators: settings.admin.protectAdministrators,
      requiredActions: new Set(browser.REQUIRED_ACTIONS.keys()),
    },
    limits: settings.limits,
    log,
    logoDirectory: join(platformPaths(settings.dir).config, 'logos'),
  };
  const figures = {
    health: http.openHealth(store),
    exposition: http.openExposition(metrics, store, worker?.siblings),
    requests: metrics.requests,
  };
  return { services, figures };
}

/** Returns the location of the store. A Postgres server shows the name of this process. */
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
 * Notifies clients of sessions that end. These calls may reach this machine only if the service's base URL is on this
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

/** Creates realm master with this platform's administrator and smoke client, unless it exists. */
export async function makeMaster(settings: Settings, admin: AdminContext): Promise<{ firstStart: boolean }> {
  if ((await admin.store.findRealm('master')) !== undefined) return { firstStart: false };
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
      `IDKIT_ADMIN_PASSWORD has more than ${MOST_PASSWORD_BYTES} bytes, the most that a login accepts`,
      { hints: ['set a shorter one in .env and start again'] },
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
