import { Label } from '@patternfly/react-core/dist/dynamic/components/Label';
import { ToggleGroup, ToggleGroupItem } from '@patternfly/react-core/dist/dynamic/components/ToggleGroup';
import { useQuery } from '@tanstack/react-query';
import { useAddressQuery } from '../../address/address.ts';
import { path } from '../../api/admin-api.ts';
import type { Component, Keys } from '../../api/representations.ts';
import { Screen } from '../../components/frame.tsx';
import { PagedTable } from '../../components/paged-table.tsx';
import { useRights } from '../../components/rights.tsx';
import { useApi } from '../../components/session.tsx';
import { KeyActions } from './key-actions.tsx';

const COLORS: Readonly<Record<string, 'green' | 'blue' | 'grey'>> = { ACTIVE: 'green', PASSIVE: 'blue' };

/** A key with the component that contains it, if the user may see components. */
export interface RealmKey {
  key: Keys['keys'][number];
  component: Component | undefined;
  /** Whether the key signs or encrypts now. Another active key of its algorithm only waits. */
  isUsed: boolean;
}

/** The keys of a realm. Of each algorithm, the active key with the highest priority signs. Passive keys only verify. */
export function KeysScreen({ realm }: { realm: string }) {
  const api = useApi();
  const rights = useRights(realm);
  const [query, change] = useAddressQuery();
  const shown = query.get('state') ?? 'ACTIVE';
  const components = useQuery({
    queryKey: ['components', realm, 'keys'],
    queryFn: () =>
      api.get<readonly Component[]>(path`/${realm}/components`, { type: 'org.keycloak.keys.KeyProvider' }),
  });
  return (
    <Screen
      title="Keys"
      realm={realm}
      description="Of each algorithm, the active key with the highest priority is in use. Passive keys only verify what they signed before. Applications read the public keys by themselves."
    >
      <PagedTable<RealmKey>
        label="Keys"
        name={['keys', realm, shown, String(components.dataUpdatedAt)]}
        rowKey={({ key }) => `${key.providerId} ${key.kid}`}
        list={async ({ first, max }) => {
          const { active, keys } = await api.get<Keys>(path`/${realm}/keys`);
          return keys
            .filter(({ status }) => shown === 'all' || status === shown)
            .slice(first, first + max)
            .map((key) => ({
              key,
              component: components.data?.find(({ id }) => id === key.providerId),
              isUsed: Object.values(active).includes(key.kid),
            }));
        }}
        empty="No keys in this state"
        filters={
          <ToggleGroup aria-label="States of keys">
            {(['ACTIVE', 'PASSIVE', 'DISABLED', 'all'] as const).map((state) => (
              <ToggleGroupItem
                key={state}
                text={state[0]!.toUpperCase() + state.slice(1).toLowerCase()}
                buttonId={`state-${state}`}
                isSelected={shown === state}
                onChange={() => change({ state: state === 'ACTIVE' ? '' : state, page: '' })}
              />
            ))}
          </ToggleGroup>
        }
        columns={[
          { title: 'Algorithm', cell: ({ key }) => <span className="whole">{key.algorithm ?? ''}</span> },
          {
            title: 'Use',
            cell: ({ key }) => <span className="whole">{USES[key.use ?? ''] ?? key.use}</span>,
          },
          {
            title: 'State',
            cell: ({ key, isUsed }) => (
              <Label color={COLORS[key.status] ?? 'grey'}>
                {key.status === 'ACTIVE' ? (isUsed ? 'in use' : 'waiting') : key.status.toLowerCase()}
              </Label>
            ),
          },
          { title: 'Priority', cell: ({ key }) => String(key.providerPriority) },
          { title: 'Valid to', cell: ({ key }) => formatDate(key.validTo) },
          {
            title: 'Provider',
            cell: ({ key, component }) => component?.name ?? component?.providerId ?? key.type,
          },
          { title: 'Key id', cell: ({ key }) => <code>{key.kid}</code> },
          ...(rights.has('manage-realm')
            ? [
                {
                  title: '',
                  cell: (row: RealmKey) =>
                    row.component === undefined ? null : (
                      <KeyActions realm={realm} row={row} component={row.component} />
                    ),
                },
              ]
            : []),
        ]}
      />
    </Screen>
  );
}

const USES: Readonly<Record<string, string>> = { SIG: 'Signature', ENC: 'Encryption' };

/** @param milliseconds Unix time; missing for a key without a certificate */
function formatDate(milliseconds: number | undefined): string {
  if (milliseconds === undefined || milliseconds === 0) return '–';
  return new Date(milliseconds).toLocaleDateString(undefined, { dateStyle: 'medium' });
}
