import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { Realm } from '../api/representations.ts';
import { useApi } from './session.tsx';

/** Every realm that the user administers, sorted by name. The administrative API returns all of them. */
export function useRealms(enabled = true): UseQueryResult<readonly Realm[]> {
  const api = useApi();
  return useQuery({
    queryKey: ['realms'],
    queryFn: async () => {
      const realms = await api.get<readonly Realm[]>('', { briefRepresentation: true });
      return realms.toSorted((one, other) => one.realm.localeCompare(other.realm));
    },
    enabled,
  });
}
