import { type BrowserSession, openBrowserSession, type SessionState } from 'idkit/client';
import { createContext, type ReactNode, useContext, useSyncExternalStore } from 'react';
import type { Place } from '../api/admin-api.ts';
import { type AdminApi, openAdminApi } from '../api/admin-api.ts';

/** The login of whoever looks at the console, and what they may call. */
export interface Administration {
  place: Place;
  session: BrowserSession;
  api: AdminApi;
  /** Why a login or a logout that was asked for here cannot begin. */
  readonly fault: string | undefined;
  /** Goes to the login and comes back to the same screen. */
  logIn(): Promise<void>;
  logOut(): Promise<void>;
  /** Tells of each change of the session or of `fault`. */
  subscribe(listener: () => void): () => void;
}

/** The console's own client of each realm (facts §10). */
const CLIENT_ID = 'security-admin-console';

/** A login by code with PKCE; its tokens stay in memory. */
export function openAdministration(place: Place): Administration {
  const listeners = new Set<() => void>();
  const realm = encodeURIComponent(place.realm);
  let fault: string | undefined;
  const tell = (): void => {
    for (const listener of listeners) listener();
  };
  const attempt = async (what: string, work: () => Promise<void>): Promise<void> => {
    fault = undefined;
    await work().catch((error: unknown) => {
      fault = `${what}: ${error instanceof Error ? error.message : String(error)}`;
    });
    tell();
  };
  const session = openBrowserSession({
    issuer: `${place.baseUrl}/realms/${realm}`,
    clientId: CLIENT_ID,
    redirectUri: `${place.baseUrl}/admin/${realm}/console/`,
    onChange: tell,
  });
  return {
    place,
    session,
    get fault() {
      return fault;
    },
    logIn: () => attempt('The login cannot begin', () => session.login({ returnTo: location.href })),
    logOut: () => attempt('You are signed out here, and the service was not told', session.logout),
    api: openAdminApi(`${place.baseUrl}/admin/realms`, session.fetch),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

const Context = createContext<Administration | undefined>(undefined);

/** Gives the parts below it the session and the API. */
export function AdministrationProvider(props: { value: Administration; children: ReactNode }) {
  return <Context value={props.value}>{props.children}</Context>;
}

/** @throws Error outside of the provider */
export function useAdministration(): Administration {
  const found = useContext(Context);
  if (found === undefined) throw new Error('no administration above this part');
  return found;
}

/** The administrative API by the session's tokens. */
export function useApi(): AdminApi {
  return useAdministration().api;
}

/** The session's state, anew with each change of it or of `fault`. */
export function useSessionState(administration: Administration): SessionState {
  useSyncExternalStore(administration.subscribe, () => administration.fault);
  return useSyncExternalStore(administration.subscribe, () => administration.session.state);
}
