import { Alert, AlertActionCloseButton } from '@patternfly/react-core/dist/dynamic/components/Alert';
import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { useState } from 'react';
import { type AdminApi, path } from '../../api/admin-api.ts';
import { ConfirmButton, FormDialog, TextField } from '../../components/forms.tsx';
import { Screen } from '../../components/frame.tsx';
import { formatTime, PagedTable } from '../../components/paged-table.tsx';
import { useRights } from '../../components/rights.tsx';
import { useChange } from '../../components/service-calls.tsx';
import { useApi } from '../../components/session.tsx';

/** A deleted record, as the administrative API lists it. */
interface DeletedRecord {
  id: string;
  kind: 'realm' | 'user' | 'client' | 'group';
  name: string;
  deletedAt: number;
  expiresAt: number;
  unfinished?: 'deleting' | 'restoring';
}

interface Restored {
  /** The links that were left out. */
  dropped: readonly { what: string; id: string; name?: string }[];
}

/** How a screen reads and changes its deleted records. */
interface Bin {
  key: string;
  list(query: { search: string; first: number; max: number }): Promise<readonly DeletedRecord[]>;
  restore(id: string, body: { name?: string }): Promise<Restored>;
  erase(id: string): Promise<unknown>;
}

/** The deleted users, clients and groups of a realm. */
export function DeletedRecordsScreen({ realm }: { realm: string }) {
  const api = useApi();
  const place = `${path`/${realm}`}/trash`;
  return (
    <Deleted
      title="Deleted records"
      description="Deleted users, clients and groups can be restored with everything that belonged to them, apart from sessions."
      bin={{
        key: realm,
        list: (query) => api.get<readonly DeletedRecord[]>(place, query),
        restore: (id, body) => api.ask<Restored>(`${place}${path`/${id}/restore`}`, body),
        erase: (id) => api.send('DELETE', `${place}${path`/${id}`}`),
      }}
    />
  );
}

/** The deleted realms. */
export function DeletedRealmsScreen() {
  const api = useApi();
  return (
    <Deleted
      title="Deleted realms"
      description="A deleted realm can be restored with its users, clients, groups, roles and keys. Sessions and events are not restored."
      bin={binOfRealms(api)}
    />
  );
}

function binOfRealms(api: AdminApi): Bin {
  return {
    key: '',
    list: ({ search, first, max }) => {
      const query = new URLSearchParams({ search, first: String(first), max: String(max) });
      return api.getOutside<readonly DeletedRecord[]>(`/trash?${query}`);
    },
    restore: (id, body) => api.askOutside<Restored>(`/trash${path`/${id}/restore`}`, body),
    erase: (id) => api.sendOutside('DELETE', `/trash${path`/${id}`}`),
  };
}

function Deleted({ title, description, bin }: { title: string; description: string; bin: Bin }) {
  const [restoring, setRestoring] = useState<DeletedRecord>();
  const [leftOut, setLeftOut] = useState<string>();
  const { keepsDeleted } = useRights(undefined);
  return (
    <Screen
      title={title}
      description={
        keepsDeleted
          ? description
          : 'Every deletion is final, because trashDays is 0 in idkit.yaml. Records that were deleted before are listed until they expire.'
      }
    >
      {leftOut === undefined ? null : (
        <Alert
          isInline
          variant="warning"
          component="p"
          className="apart"
          title={leftOut}
          actionClose={<AlertActionCloseButton onClose={() => setLeftOut(undefined)} />}
        />
      )}
      <PagedTable<DeletedRecord>
        label={title}
        name={['trash', bin.key]}
        inAddress
        rowKey={({ id }) => id}
        list={bin.list}
        searchLabel="Search by name"
        empty={keepsDeleted ? 'Nothing was deleted' : 'No deleted records are kept'}
        columns={[
          { title: 'Kind', cell: ({ kind }) => KINDS[kind] },
          {
            title: 'Name',
            cell: (record) =>
              record.unfinished === undefined
                ? record.name
                : `${record.name} (${UNFINISHED[record.unfinished]})`,
          },
          { title: 'Deleted', cell: ({ deletedAt }) => formatTime(deletedAt) },
          { title: 'Kept until', cell: ({ expiresAt }) => formatTime(expiresAt) },
          {
            title: '',
            cell: (record) => (
              <div className="buttons">
                <Button
                  variant="link"
                  isInline
                  aria-label={`Restore ${record.kind} ${record.name}`}
                  onClick={() => setRestoring(record)}
                >
                  Restore
                </Button>
                <Erase bin={bin} record={record} />
              </div>
            ),
          },
        ]}
      />
      {restoring === undefined ? null : (
        <Restore
          bin={bin}
          record={restoring}
          onRestored={setLeftOut}
          onClose={() => setRestoring(undefined)}
        />
      )}
    </Screen>
  );
}

const KINDS: Readonly<Record<DeletedRecord['kind'], string>> = {
  realm: 'Realm',
  user: 'User',
  client: 'Client',
  group: 'Group',
};

const UNFINISHED = { deleting: 'not completely deleted', restoring: 'not completely restored' } as const;

function Restore(props: {
  bin: Bin;
  record: DeletedRecord;
  /** Called with a text about what was left out, or undefined if nothing was. */
  onRestored: (leftOut: string | undefined) => void;
  onClose: () => void;
}) {
  const { bin, record } = props;
  const [name, setName] = useState(record.name);
  const kind = KINDS[record.kind];
  const change = useChange(
    { done: `${kind} ${name} was restored`, failed: `The ${record.kind} was not restored` },
    async () => {
      const body = name === record.name ? {} : { name };
      const { dropped } = await bin.restore(record.id, body);
      const what = dropped.map((one) => `${one.what} ${one.name ?? one.id}`).join(', ');
      props.onRestored(
        dropped.length === 0 ? undefined : `Restored ${name} without what does not exist any more: ${what}`,
      );
    },
  );
  return (
    <FormDialog
      title={`Restore ${record.name}?`}
      description={
        record.kind === 'realm'
          ? 'The realm returns with all users, clients, groups, roles and keys. Its users have to log in again.'
          : 'The record returns with its id and everything that belonged to it. Sessions and tokens do not return. If the name is used by another record now, choose another one.'
      }
      submit="Restore"
      disabled={name === ''}
      change={change}
      onClose={props.onClose}
    >
      {record.kind === 'realm' ? null : <TextField label="Name" required value={name} onChange={setName} />}
    </FormDialog>
  );
}

function Erase({ bin, record }: { bin: Bin; record: DeletedRecord }) {
  const change = useChange(
    { done: `${KINDS[record.kind]} ${record.name} was erased`, failed: `The ${record.kind} was not erased` },
    () => bin.erase(record.id),
  );
  return (
    <ConfirmButton
      label="Erase"
      name={`Erase ${record.kind} ${record.name}`}
      inline
      title={`Erase ${record.name} for good?`}
      description="Then only a backup has it."
      submit="Erase"
      change={change}
    />
  );
}
