import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { FormSelect, FormSelectOption } from '@patternfly/react-core/dist/dynamic/components/FormSelect';
import { Label } from '@patternfly/react-core/dist/dynamic/components/Label';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { address, useAddressQuery } from '../../address/address.ts';
import { path } from '../../api/admin-api.ts';
import type { User } from '../../api/representations.ts';
import { Screen } from '../../components/frame.tsx';
import { PagedTable } from '../../components/paged-table.tsx';
import { useApi } from '../../components/session.tsx';
import { BulkActions } from './bulk-actions.tsx';
import { ChooseFromFile } from './choose-from-file.tsx';
import { CreateUser } from './create-user.tsx';

/** The users of a realm, with a search and actions for several users. */
export function UsersScreen({ realm }: { realm: string }) {
  const api = useApi();
  const [creating, setCreating] = useState(false);
  const [reading, setReading] = useState(false);
  const [query, changeQuery] = useAddressQuery();
  const enabled = query.get('enabled') ?? '';
  const [chosen, setChosen] = useState<ReadonlyMap<string, User>>(new Map());
  const count = useQuery({
    queryKey: ['users', realm, 'count'],
    queryFn: () => api.get<number>(path`/${realm}/users/count`),
  });
  return (
    <Screen title="Users" realm={realm}>
      <p>{count.data === undefined ? ' ' : `${count.data.toLocaleString()} in total`}</p>
      <PagedTable<User>
        label="Users"
        name={['users', realm, enabled]}
        inAddress
        rowKey={(user) => user.id}
        list={(page) => api.get(path`/${realm}/users`, { ...page, enabled, briefRepresentation: true })}
        searchLabel="Search by name or e-mail"
        empty="No users"
        selection={{ chosen, onChoose: setChosen, nameOf: ({ username }) => username }}
        filters={
          <FormSelect
            aria-label="State of the users"
            value={enabled}
            onChange={(_event, value) => changeQuery({ enabled: value, page: '' })}
          >
            <FormSelectOption value="" label="All users" />
            <FormSelectOption value="true" label="Enabled users" />
            <FormSelectOption value="false" label="Disabled users" />
          </FormSelect>
        }
        actions={
          chosen.size === 0 ? (
            <>
              <Button onClick={() => setCreating(true)}>Create user</Button>
              <Button variant="secondary" onClick={() => setReading(true)}>
                Choose from a file
              </Button>
            </>
          ) : (
            <BulkActions realm={realm} users={[...chosen.values()]} onClear={() => setChosen(new Map())} />
          )
        }
        columns={[
          {
            title: 'Username',
            cell: (user) => <Link href={address`/${realm}/users/${user.id}`}>{user.username}</Link>,
          },
          { title: 'Name', cell: (user) => [user.firstName, user.lastName].filter(Boolean).join(' ') },
          { title: 'E-mail', cell: (user) => user.email ?? '' },
          {
            title: 'State',
            cell: (user) =>
              user.enabled ? <Label color="green">Enabled</Label> : <Label color="red">Disabled</Label>,
          },
        ]}
      />
      {reading ? (
        <ChooseFromFile
          realm={realm}
          onChoose={(users) => setChosen(new Map(users.map((user) => [user.id, user])))}
          onClose={() => setReading(false)}
        />
      ) : null}
      {creating ? <CreateUser realm={realm} onClose={() => setCreating(false)} /> : null}
    </Screen>
  );
}
