import { Label } from '@patternfly/react-core/dist/dynamic/components/Label';
import { path } from '../../api/admin-api.ts';
import type { Keys } from '../../api/representations.ts';
import { Screen } from '../../components/frame.tsx';
import { formatTime, PagedTable } from '../../components/paged-table.tsx';
import { useApi } from '../../components/session.tsx';

const COLORS: Readonly<Record<string, 'green' | 'blue' | 'grey'>> = { ACTIVE: 'green', PASSIVE: 'blue' };

/** The keys of a realm. Active keys sign tokens, passive keys only verify them. */
export function KeysScreen({ realm }: { realm: string }) {
  const api = useApi();
  return (
    <Screen title="Keys" realm={realm}>
      <PagedTable<Keys['keys'][number]>
        label="Keys"
        name={['keys', realm]}
        rowKey={(key) => key.kid}
        list={async ({ first, max }) => {
          const { keys } = await api.get<Keys>(path`/${realm}/keys`);
          return keys.slice(first, first + max);
        }}
        empty="No keys"
        columns={[
          { title: 'Algorithm', cell: (key) => <span className="whole">{key.algorithm ?? ''}</span> },
          { title: 'Use', cell: (key) => <span className="whole">{key.use ?? ''}</span> },
          {
            title: 'State',
            cell: (key) => <Label color={COLORS[key.status] ?? 'grey'}>{key.status.toLowerCase()}</Label>,
          },
          { title: 'Type', cell: (key) => key.type },
          { title: 'Priority', cell: (key) => String(key.providerPriority) },
          { title: 'Valid to', cell: (key) => formatTime(key.validTo) },
          { title: 'Key id', cell: (key) => <code>{key.kid}</code> },
        ]}
      />
    </Screen>
  );
}
