import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { useState } from 'react';
import { path } from '../../api/admin-api.ts';
import type { ProtocolMapper } from '../../api/representations.ts';
import { ConfirmButton } from '../../components/forms.tsx';
import { PagedTable } from '../../components/paged-table.tsx';
import { useChange } from '../../components/service-calls.tsx';
import { useApi } from '../../components/session.tsx';
import { MapperDialog } from './mapper-dialog.tsx';
import { TOKENS, typeTitle } from './mapper-types.ts';

/**
 * The protocol mappers of a client or a client scope.
 *
 * @param props `place` is the path of the client or the scope
 */
export function Mappers({ place }: { place: string }) {
  const api = useApi();
  const [open, setOpen] = useState<ProtocolMapper | 'new'>();
  const models = `${place}/protocol-mappers/models`;
  return (
    <>
      <PagedTable<ProtocolMapper>
        label="Mappers"
        name={['mappers', models]}
        rowKey={(mapper) => mapper.id}
        list={async ({ search, first, max }) => {
          const text = search.toLowerCase();
          const all = await api.get<readonly ProtocolMapper[]>(models);
          return all
            .filter(({ name, protocolMapper }) =>
              `${name} ${typeTitle(protocolMapper)}`.toLowerCase().includes(text),
            )
            .toSorted((one, other) => one.name.localeCompare(other.name))
            .slice(first, first + max);
        }}
        searchLabel="Search mappers"
        empty="No mappers: nothing is added to tokens here"
        actions={<Button onClick={() => setOpen('new')}>Add mapper</Button>}
        columns={[
          {
            title: 'Name',
            cell: (mapper) => (
              <Button variant="link" isInline onClick={() => setOpen(mapper)}>
                {mapper.name}
              </Button>
            ),
          },
          { title: 'Type', cell: ({ protocolMapper }) => typeTitle(protocolMapper) },
          { title: 'Claim', cell: ({ config }) => config['claim.name'] ?? '' },
          {
            title: 'Written to',
            cell: ({ config }) =>
              TOKENS.filter(([key]) => config[key] === 'true')
                .map(([, title]) => title)
                .join(', '),
          },
          { title: '', cell: (mapper) => <RemoveMapper models={models} mapper={mapper} /> },
        ]}
      />
      {open === undefined ? null : (
        <MapperDialog
          models={models}
          {...(open === 'new' ? {} : { mapper: open })}
          onClose={() => setOpen(undefined)}
        />
      )}
    </>
  );
}

function RemoveMapper({ models, mapper }: { models: string; mapper: ProtocolMapper }) {
  const api = useApi();
  const change = useChange(
    { done: `Mapper ${mapper.name} was deleted`, failed: 'The mapper was not deleted' },
    () => api.send('DELETE', models + path`/${mapper.id}`),
  );
  return (
    <ConfirmButton
      inline
      label="Delete"
      name={`Delete ${mapper.name}`}
      title={`Delete mapper ${mapper.name}?`}
      description="New tokens no longer contain what it writes."
      submit="Delete"
      change={change}
    />
  );
}
