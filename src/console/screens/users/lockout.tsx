import { Alert } from '@patternfly/react-core/dist/dynamic/components/Alert';
import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { useQuery } from '@tanstack/react-query';
import { path } from '../../api/admin-api.ts';
import type { LoginFailures, User } from '../../api/representations.ts';
import { formatTime } from '../../components/paged-table.tsx';
import { useChange } from '../../components/service-calls.tsx';
import { useApi } from '../../components/session.tsx';

/** The failed sign-ins of a user, with a button to unlock. Shows nothing if there are none. */
export function Lockout({ realm, user }: { realm: string; user: User }) {
  const api = useApi();
  const place = path`/${realm}/attack-detection/brute-force/users/${user.id}`;
  const failures = useQuery({
    queryKey: ['failures', realm, user.id],
    queryFn: () => api.get<LoginFailures>(place),
  });
  const unlock = useChange(
    { done: `${user.username} was unlocked`, failed: 'The user was not unlocked' },
    async () => {
      await api.send('DELETE', place);
      // A permanent lockout disables the user.
      if (!user.enabled) await api.send('PUT', path`/${realm}/users/${user.id}`, { enabled: true });
    },
  );
  const found = failures.data;
  if (found === undefined || (found.numFailures === 0 && !found.disabled)) return null;
  const times = found.numFailures === 1 ? '1 failed sign-in' : `${found.numFailures} failed sign-ins`;
  const until =
    found.failedLoginNotBefore * 1000 > Date.now()
      ? ` until ${formatTime(found.failedLoginNotBefore * 1000)}`
      : '';
  return (
    <Alert
      isInline
      className="apart"
      component="h2"
      variant={found.disabled ? 'danger' : 'warning'}
      title={found.disabled ? `Locked${until} after ${times}` : times}
      actionLinks={
        <Button variant="secondary" isLoading={unlock.running} onClick={() => void unlock.run()}>
          {found.disabled ? 'Unlock' : 'Forget the failed sign-ins'}
        </Button>
      }
    >
      The last one was {formatTime(found.lastFailure)} from {found.lastIPFailure}.
    </Alert>
  );
}
