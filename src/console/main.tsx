import '@patternfly/patternfly/base/patternfly-variables.css';
import '@patternfly/patternfly/base/patternfly-common.css';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode, useEffect } from 'react';
import { createRoot } from 'react-dom/client';
import { Route, Router, Switch } from 'wouter';
import { useHashLocation } from 'wouter/use-hash-location';
import { AdminFault, readPlace } from './api/admin-api.ts';
import { Frame, Screen } from './components/frame.tsx';
import { NoticesProvider } from './components/notices.tsx';
import {
  type Administration,
  AdministrationProvider,
  openAdministration,
  useSessionState,
} from './components/session.tsx';
import { ClientScreen } from './screens/client.tsx';
import { ClientsScreen } from './screens/clients.tsx';
import { EventsScreen } from './screens/events.tsx';
import { KeysScreen } from './screens/keys.tsx';
import { LoggedOutScreen } from './screens/logged-out.tsx';
import { RealmsScreen } from './screens/realms.tsx';
import { UserScreen } from './screens/user.tsx';
import { UsersScreen } from './screens/users.tsx';
// This import is the last one, so that its rules override those of the components.
import './console.css';

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5000,
      // A retry helps only if the service was unreachable.
      retry: (count, error) => count < 2 && !(error instanceof AdminFault && error.status !== 0),
    },
  },
});

function Console({ administration }: { administration: Administration }) {
  const state = useSessionState(administration);
  useEffect(() => {
    // Data of a session that has ended must not stay on the screen.
    if (state.name !== 'logged_in') queries.clear();
  }, [state.name]);
  if (state.name !== 'logged_in') return <LoggedOutScreen administration={administration} state={state} />;
  return (
    <AdministrationProvider value={administration}>
      <Router hook={useHashLocation}>
        <Switch>
          <Route path="/">
            <Frame>
              <RealmsScreen />
            </Frame>
          </Route>
          <Route path="/:realm/:section/:id?">
            {({ realm, section, id }) => (
              <Frame realm={realm}>
                <Section realm={realm} section={section} id={id} />
              </Frame>
            )}
          </Route>
          <Route>
            <Frame>
              <Screen title="Page not found">
                <a href="#/">All realms</a>
              </Screen>
            </Frame>
          </Route>
        </Switch>
      </Router>
    </AdministrationProvider>
  );
}

function Section({ realm, section, id }: { realm: string; section: string; id: string | undefined }) {
  if (section === 'users')
    return id === undefined ? <UsersScreen realm={realm} /> : <UserScreen realm={realm} id={id} />;
  if (section === 'clients')
    return id === undefined ? <ClientsScreen realm={realm} /> : <ClientScreen realm={realm} id={id} />;
  if (section === 'events') return <EventsScreen realm={realm} />;
  if (section === 'keys') return <KeysScreen realm={realm} />;
  return (
    <Screen title="Page not found" realm={realm}>
      {null}
    </Screen>
  );
}

/** Sets PatternFly's class for dark mode if the browser prefers it. */
function followColourScheme(): void {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const apply = () => document.documentElement.classList.toggle('pf-v6-theme-dark', dark.matches);
  dark.addEventListener('change', apply);
  apply();
}

followColourScheme();
const administration = openAdministration(readPlace(new URL(location.href)));
createRoot(document.getElementById('console')!).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <NoticesProvider>
        <Console administration={administration} />
      </NoticesProvider>
    </QueryClientProvider>
  </StrictMode>,
);
const state = await administration.session.start();
// After a failed login there is no redirect, because every further attempt would fail and redirect again.
if (state.name === 'logged_out' && state.reason === 'not_logged_in') await administration.logIn();
