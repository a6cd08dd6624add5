import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import type { SessionState } from 'idkit/client';
import type { Administration } from '../components/session.tsx';

/** What is shown to who is not logged in: that the login is on its way, or why it is not and how it can be. */
export function OutsideScreen(props: { administration: Administration; state: SessionState }) {
  const { administration, state } = props;
  const why = administration.fault ?? explain(state);
  if (why === undefined) return <p className="waiting">Going to the login…</p>;
  return (
    <main className="waiting">
      <h1>{why}</h1>
      <Button onClick={() => void administration.logIn()}>Log in</Button>
    </main>
  );
}

/** Undefined where a login follows by itself. */
function explain(state: SessionState): string | undefined {
  if (state.name !== 'logged_out') return undefined;
  const words = state.errorDescription ?? state.error ?? '';
  switch (state.reason) {
    case 'logout_elsewhere':
      return 'You signed out in another tab';
    case 'login_failed':
      return `The login failed: ${words}`;
    case 'access_refused':
      return `The console is refused: ${words}`;
    default:
      return undefined;
  }
}
