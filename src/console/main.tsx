import '@patternfly/patternfly/base/patternfly-variables.css';
import '@patternfly/patternfly/base/patternfly-common.css';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode, useEffect } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { Router } from 'wouter';
import { useHashAddress } from './address/address.ts';
import { AdminFault, readPlace } from './api/admin-api.ts';
import { NoticesProvider } from './components/notices.tsx';
import {
  type Administration,
  AdministrationProvider,
  openAdministration,
  useSessionState,
} from './components/session.tsx';
import { UnsavedProvider } from './components/unsaved.tsx';
import { InsecurePage } from './frame/insecure-page.tsx';
import { LoggedOutPage } from './frame/logged-out-page.tsx';
import { ScreenHost } from './frame/screen-host.tsx';
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
  if (state.name !== 'logged_in') return <LoggedOutPage administration={administration} state={state} />;
  return (
    <AdministrationProvider value={administration}>
      <Router hook={useHashAddress}>
        <UnsavedProvider>
          <ScreenHost />
        </UnsavedProvider>
      </Router>
    </AdministrationProvider>
  );
}

/** Sets PatternFly's class for dark mode if the browser prefers it. */
function followColourScheme(): void {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const apply = () => document.documentElement.classList.toggle('pf-v6-theme-dark', dark.matches);
  dark.addEventListener('change', apply);
  apply();
}

async function start(root: Root): Promise<void> {
  const administration = openAdministration(readPlace(new URL(location.href)));
  root.render(
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
}

followColourScheme();
const root = createRoot(document.getElementById('console')!);
// Browsers offer the functions that a login needs only at secure origins.
if (globalThis.crypto?.subtle === undefined) root.render(<InsecurePage address={new URL(location.href)} />);
else await start(root);
