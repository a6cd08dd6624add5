import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { Title } from '@patternfly/react-core/dist/dynamic/components/Title';
import type { SessionState } from 'idkit/client';
import type { Administration } from '../components/session.tsx';

/**
 * The page without a session. It redirects to the login, or shows why the user is logged out and a button to log in.
 */
export function LoggedOutPage(props: { administration: Administration; state: SessionState }) {
  const { administration, state } = props;
  const why = administration.fault ?? explain(state);
  if (why === undefined) return <p className="waiting">Redirecting to the login…</p>;
  return (
    <main className="waiting">
      <Title headingLevel="h1">{why}</Title>
      <Button onClick={() => void administration.logIn()}>Sign in</Button>
    </main>
  );
}

/** Returns why the user is logged out, or undefined if a login follows automatically. */
function explain(state: SessionState): string | undefined {
  if (state.name !== 'logged_out') return undefined;
  const error = state.errorDescription ?? state.error ?? '';
  switch (state.reason) {
    case 'logout_elsewhere':
      return 'You signed out in another tab';
    case 'login_failed':
      return `The login failed: ${error}`;
    case 'access_refused':
      return `Access to the console was denied: ${error}`;
    default:
      return undefined;
  }
}
