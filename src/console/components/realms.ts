import { type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query';
import type { AdminApi } from '../api/admin-api.ts';
import type { Realm } from '../api/representations.ts';
import { useApi } from './session.tsx';

/** How long the list of realms is used without loading it again, in milliseconds. */
const FRESH = 30_000;

/** Every realm that the user administers, sorted by name. The administrative API returns all of them. */
const realmsQuery = (api: AdminApi) => ({
  queryKey: ['realms'],
  queryFn: async () => {
    const realms = await api.get<readonly Realm[]>('', { briefRepresentation: true });
    return realms.toSorted((one, other) => one.realm.localeCompare(other.realm));
  },
  staleTime: FRESH,
});

export function useRealms(enabled = true): UseQueryResult<readonly Realm[]> {
  return useQuery({ ...realmsQuery(useApi()), enabled });
}

/** Returns a function that returns every realm. It loads them only if they were not loaded within the last seconds. */
export function useLoadRealms(): () => Promise<readonly Realm[]> {
  const api = useApi();
  const queries = useQueryClient();
  return () => queries.fetchQuery(realmsQuery(api));
}
