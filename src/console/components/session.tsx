import { type BrowserSession, openBrowserSession, type SessionState } from 'idkit/client';
import { createContext, type ReactNode, useContext, useSyncExternalStore } from 'react';
import type { Place } from '../api/admin-api.ts';
import { type AdminApi, openAdminApi } from '../api/admin-api.ts';

/** The session of the administrator, and the administrative API, which is called with the tokens of that session. */
export interface Administration {
  place: Place;
  session: BrowserSession;
  api: AdminApi;
  /** Why a login or logout could not start. */
  readonly fault: string | undefined;
  /** Redirects to the login, which returns to the same screen. */
  logIn(): Promise<void>;
  logOut(): Promise<void>;
  /** Calls the listener after each change of the session or of `fault`. */
  subscribe(listener: () => void): () => void;
}

/** The console's client in each realm (docs/keycloak/clients.md#built-in-clients). */
const CLIENT_ID = 'security-admin-console';

/** Opens the session of the console: a code flow with PKCE, with tokens in memory only. */
export function openAdministration(place: Place): Administration {
  const listeners = new Set<() => void>();
  const realm = encodeURIComponent(place.realm);
  let fault: string | undefined;
  const notify = (): void => {
    for (const listener of listeners) listener();
  };
  const attempt = async (failure: string, work: () => Promise<void>): Promise<void> => {
    fault = undefined;
    await work().catch((error: unknown) => {
      fault = `${failure}: ${error instanceof Error ? error.message : String(error)}`;
    });
    notify();
  };
  const session = openBrowserSession({
    issuer: `${place.baseUrl}/realms/${realm}`,
    clientId: CLIENT_ID,
    redirectUri: `${place.baseUrl}/admin/${realm}/console/`,
    onChange: notify,
  });
  return {
    place,
    session,
    get fault() {
      return fault;
    },
    logIn: () => attempt('The login cannot start', () => session.login({ returnTo: location.href })),
    logOut: () => attempt('You are signed out in this browser, but not at the service', session.logout),
    api: openAdminApi(`${place.baseUrl}/admin`, session.fetch),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

const Context = createContext<Administration | undefined>(undefined);

/** Provides the session and the API to the components below. */
export function AdministrationProvider(props: { value: Administration; children: ReactNode }) {
  return <Context value={props.value}>{props.children}</Context>;
}

/** @throws Error outside the provider */
export function useAdministration(): Administration {
  const found = useContext(Context);
  if (found === undefined) throw new Error('useAdministration needs an AdministrationProvider above it');
  return found;
}

/** Returns the administrative API with the tokens of the session. */
export function useApi(): AdminApi {
  return useAdministration().api;
}

/** Returns the state of the session, and renders again after each change of it or of `fault`. */
export function useSessionState(administration: Administration): SessionState {
  useSyncExternalStore(administration.subscribe, () => administration.fault);
  return useSyncExternalStore(administration.subscribe, () => administration.session.state);
}
