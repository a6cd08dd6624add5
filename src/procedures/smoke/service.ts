import { type AdminClient, connectAdmin } from '../../client/index.ts';
import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import { findServiceUrl, openPlatformService } from '../../platform/open.ts';
import { type CallOptions, call, type ServiceResponse } from './call.ts';
import type { SmokeOptions } from './options.ts';

/** The service under test and the values that its checks share. */
export interface ServiceUnderTest {
  settings: Settings;
  options: SmokeOptions;
  /** The base URL without a trailing slash. */
  baseUrl: string;
  call(url: string, options?: Omit<CallOptions, 'signal' | 'timeoutMilliseconds'>): Promise<ServiceResponse>;
  /** Calls the administrative API. Undefined if the login failed; `adminFault` is the reason. */
  admin: AdminClient | undefined;
  adminFault: string;
  /** The realms to check. `enabled` is absent if it is unknown. */
  realms: readonly { realm: string; enabled?: boolean }[];
}

/**
 * Finds the service and its realms. A rejected login is not an error here, because a separate check reports it.
 *
 * @throws IDKIT_UNREACHABLE
 */
export async function findService(settings: Settings, options: SmokeOptions): Promise<ServiceUnderTest> {
  const baseUrl = await locateService(settings, options.baseUrl);
  const timeoutMilliseconds = options.timeoutMilliseconds ?? 10_000;
  const shared = { signal: options.signal, timeoutMilliseconds };
  const callService: ServiceUnderTest['call'] = (url, own) => call(url, { ...own, ...shared });
  await callService(`${baseUrl}/realms/${encodeURIComponent(settings.smoke.realm)}`);
  const { admin, adminFault } = await logIn(settings, { baseUrl, ...shared });
  const realms = await listRealms(settings, options, admin);
  return { settings, options, baseUrl, call: callService, admin, adminFault, realms };
}

/** Returns a failed login as `adminFault`. */
async function logIn(
  settings: Settings,
  connection: { baseUrl: string; signal: AbortSignal; timeoutMilliseconds: number },
): Promise<{ admin: AdminClient | undefined; adminFault: string }> {
  const { username, password } = settings.administrator;
  if (password === undefined) return { admin: undefined, adminFault: 'IDKIT_ADMIN_PASSWORD is not set' };
  try {
    return { admin: await connectAdmin({ ...connection, username, password }), adminFault: '' };
  } catch (error) {
    if (!(error instanceof IdkitError)) throw error;
    return { admin: undefined, adminFault: error.message };
  }
}

/** Returns the base URL from the flag, or the URL of the running service. */
async function locateService(settings: Settings, flag: string | undefined): Promise<string> {
  if (flag !== undefined) return flag.replace(/\/+$/, '');
  return findServiceUrl(settings, await openPlatformService(settings));
}

async function listRealms(
  settings: Settings,
  options: SmokeOptions,
  admin: AdminClient | undefined,
): Promise<ServiceUnderTest['realms']> {
  const wanted = options.realms ?? (settings.realms.length > 0 ? settings.realms : undefined);
  const found = await findRealms(admin);
  if (wanted !== undefined) {
    return wanted.map((realm) => found?.find((record) => record.realm === realm) ?? { realm });
  }
  return found ?? [{ realm: settings.smoke.realm }];
}

async function findRealms(admin: AdminClient | undefined): Promise<ServiceUnderTest['realms'] | undefined> {
  if (admin === undefined) return undefined;
  try {
    const records = await admin.listRealms();
    return records.map(({ realm, enabled }) => ({ realm, ...(enabled === undefined ? {} : { enabled }) }));
  } catch (error) {
    // The check of the administrator reports a failed login.
    if (error instanceof IdkitError && error.code !== 'IDKIT_BUG') return undefined;
    throw error;
  }
}

/** Returns `{base}/realms/{realm}` with the realm as one path segment. */
export function realmUrl(service: { baseUrl: string }, realm: string): string {
  return `${service.baseUrl}/realms/${encodeURIComponent(realm)}`;
}
