import { useQuery } from '@tanstack/react-query';
import type { ScreenRow } from '../screens/table.ts';
import { useAdministration } from './session.tsx';

/** What the administrative API says about the user of the console. */
interface WhoAmI {
  userId: string;
  displayName: string;
  createRealm: boolean;
  /** Number of days for which deleted records can be restored. */
  trashDays: number;
  /** The names of the user's administrative roles by realm. */
  realm_access: Readonly<Record<string, readonly string[]>>;
}

/** The user's rights, for hiding what the service would refuse. The service alone decides. */
export interface ConsoleRights {
  /** Whether the user holds one of these administrative roles in the realm. True until the roles are known. */
  has(...roles: readonly string[]): boolean;
  mayOpen(row: ScreenRow): boolean;
  mayCreateRealms: boolean;
  /** Whether the service keeps deleted records. True until that is known. */
  keepsDeleted: boolean;
  /** Says whether a deletion can be undone. */
  undo: string;
}

/** @param realm the realm of the screen; without it, the realm of the login */
export function useRights(realm: string | undefined): ConsoleRights {
  const { api, place } = useAdministration();
  const of = realm ?? place.realm;
  const { data } = useQuery({
    queryKey: ['whoami', of],
    queryFn: () => api.getWhoAmI<WhoAmI>(place.realm, of),
    staleTime: 60_000,
  });
  const roles = data?.realm_access[of];
  const has = (...names: readonly string[]): boolean =>
    data === undefined || names.some((name) => roles?.includes(name) === true);
  return {
    has,
    mayOpen: ({ needs }) => {
      if (needs === undefined) return true;
      // The role that administers all realms includes the right to create realms.
      if (needs === 'all-realms') return place.realm === 'master' && data?.createRealm === true;
      return has(...needs);
    },
    mayCreateRealms: data?.createRealm === true,
    keepsDeleted: data?.trashDays !== 0,
    undo: undoText(data?.trashDays ?? 0),
  };
}

function undoText(days: number): string {
  if (days === 0) return 'It cannot be undone.';
  return `It can be restored for ${days === 1 ? 'one day' : `${days} days`}, apart from sessions.`;
}
