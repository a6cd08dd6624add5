import { path } from '../../api/admin-api.ts';
import type { Client } from '../../api/representations.ts';
import { type Change, useChange } from '../../components/service-calls.tsx';
import { useApi } from '../../components/session.tsx';

/**
 * Saves some fields of a client. All other fields and attributes stay as they are stored now.
 *
 * @param fields an attribute that is empty is removed
 */
export function useSaveClient(realm: string, id: string, fields: Partial<Client>): Change {
  const api = useApi();
  return useChange({ done: 'The client was saved', failed: 'The client was not saved' }, async () => {
    const place = path`/${realm}/clients/${id}`;
    const stored = await api.get<Client>(place);
    await api.send('PUT', place, {
      ...stored,
      ...fields,
      attributes: { ...stored.attributes, ...fields.attributes },
    });
  });
}
