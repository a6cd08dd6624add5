import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { EmptyState } from '@patternfly/react-core/dist/dynamic/components/EmptyState';
import { SearchInput } from '@patternfly/react-core/dist/dynamic/components/SearchInput';
import { Toolbar, ToolbarContent, ToolbarItem } from '@patternfly/react-core/dist/dynamic/components/Toolbar';
import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import { Link } from 'wouter';
import { path } from '../../api/admin-api.ts';
import type { Group } from '../../api/representations.ts';
import { Screen } from '../../components/frame.tsx';
import { screenPath } from '../../components/links.ts';
import { PagedTable } from '../../components/paged-table.tsx';
import { useApi } from '../../components/session.tsx';
import { CreateGroup } from './create-group.tsx';
import { flattenGroups } from './group-choice.tsx';
import { GroupTree } from './group-tree.tsx';

/** The groups of a realm as a tree, or as a list while the user searches. */
export function GroupsScreen({ realm }: { realm: string }) {
  const api = useApi();
  const [typed, setTyped] = useState('');
  const search = useDeferredValue(typed.trim());
  const [creating, setCreating] = useState(false);
  const count = useQuery({
    queryKey: ['groups', realm, 'count'],
    queryFn: () => api.get<{ count: number }>(path`/${realm}/groups/count`),
  });
  const total = count.data?.count;
  return (
    <Screen title="Groups" realm={realm}>
      <p>{total === undefined ? ' ' : `${total.toLocaleString()} in total`}</p>
      <Toolbar>
        <ToolbarContent>
          <ToolbarItem className="search">
            <SearchInput
              aria-label="Search groups by name"
              placeholder="Search groups by name"
              value={typed}
              onChange={(_event, value) => setTyped(value)}
              onClear={() => setTyped('')}
            />
          </ToolbarItem>
          <ToolbarItem>
            <Button onClick={() => setCreating(true)}>Create group</Button>
          </ToolbarItem>
        </ToolbarContent>
      </Toolbar>
      {search === '' ? (
        total === 0 ? (
          <EmptyState titleText="No groups" headingLevel="h2" />
        ) : (
          <GroupTree realm={realm} />
        )
      ) : (
        <FoundGroups key={search} realm={realm} search={search} />
      )}
      {creating ? <CreateGroup realm={realm} onClose={() => setCreating(false)} /> : null}
    </Screen>
  );
}

function FoundGroups({ realm, search }: { realm: string; search: string }) {
  const api = useApi();
  const wanted = search.toLowerCase();
  return (
    <PagedTable<Group>
      label="Found groups"
      name={['groups', realm, 'found', search]}
      rowKey={(group) => group.id}
      list={async ({ first, max }) => {
        // The service returns a tree, whose pages are those of its top level. A page of matches is cut from it here.
        const tree = await api.get<readonly Group[]>(path`/${realm}/groups`, { search });
        return flattenGroups(tree)
          .filter(({ name }) => name.toLowerCase().includes(wanted))
          .slice(first, first + max);
      }}
      empty="No group has this name"
      columns={[
        {
          title: 'Group',
          cell: (group) => <Link href={screenPath(realm, 'groups', group.id)}>{group.name}</Link>,
        },
        { title: 'Path', cell: (group) => group.path },
      ]}
    />
  );
}
