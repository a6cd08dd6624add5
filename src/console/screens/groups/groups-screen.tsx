import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { EmptyState, EmptyStateBody } from '@patternfly/react-core/dist/dynamic/components/EmptyState';
import { SearchInput } from '@patternfly/react-core/dist/dynamic/components/SearchInput';
import { Toolbar, ToolbarContent, ToolbarItem } from '@patternfly/react-core/dist/dynamic/components/Toolbar';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { address } from '../../address/address.ts';
import { path } from '../../api/admin-api.ts';
import type { Group } from '../../api/representations.ts';
import { Screen } from '../../components/frame.tsx';
import { LoadedPages } from '../../components/loaded-pages.tsx';
import { useApi } from '../../components/session.tsx';
import { useTypingPause } from '../../components/typing-pause.ts';
import { CreateGroup } from './create-group.tsx';
import { flattenGroups } from './group-choice.tsx';
import { GroupTree } from './group-tree.tsx';

/** The groups of a realm as a tree, or as a list while the user searches. */
export function GroupsScreen({ realm }: { realm: string }) {
  const api = useApi();
  const [typed, setTyped] = useState('');
  const search = useTypingPause(typed.trim());
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

/** Top-level groups with matches that are loaded together. */
const LEVEL = 50;
/** Found groups that are added to the list together. One top-level group can have thousands of matches. */
const SHOWN = 200;

/** The groups of all levels whose names contain the text. */
function FoundGroups({ realm, search }: { realm: string; search: string }) {
  const api = useApi();
  const wanted = search.toLowerCase();
  const [most, setMost] = useState(SHOWN);
  const found = useInfiniteQuery({
    queryKey: ['groups', realm, 'found', search],
    // The service returns a tree of the matches and their parents. Its pages are those of the top level.
    queryFn: ({ pageParam: first }) =>
      api.get<readonly Group[]>(path`/${realm}/groups`, { search, first, max: LEVEL + 1 }),
    initialPageParam: 0,
    getNextPageParam: (page, _pages, first) => (page.length > LEVEL ? first + LEVEL : undefined),
  });
  return (
    <LoadedPages of={found}>
      {(pages) => {
        const groups = pages
          .flatMap((page) => flattenGroups(page.slice(0, LEVEL)))
          .filter(({ name }) => name.toLowerCase().includes(wanted));
        if (groups.length === 0)
          return (
            <EmptyState titleText="No groups" headingLevel="h2">
              <EmptyStateBody>Nothing matches “{search}”.</EmptyStateBody>
            </EmptyState>
          );
        return (
          <>
            <ul className="tree" aria-label="Found groups">
              {groups.slice(0, most).map((group) => (
                <li key={group.id} className="branch">
                  <Link href={address`/${realm}/groups/${group.id}`}>{group.path}</Link>
                </li>
              ))}
            </ul>
            {groups.length > most || found.hasNextPage ? (
              <Button
                variant="link"
                isInline
                isLoading={found.isFetchingNextPage}
                onClick={() => {
                  setMost(most + SHOWN);
                  if (groups.length <= most + SHOWN && found.hasNextPage) void found.fetchNextPage();
                }}
              >
                Show more groups
              </Button>
            ) : null}
          </>
        );
      }}
    </LoadedPages>
  );
}
