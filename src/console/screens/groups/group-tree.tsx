import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { address } from '../../address/address.ts';
import { path } from '../../api/admin-api.ts';
import type { Group } from '../../api/representations.ts';
import { LoadedPages } from '../../components/loaded-pages.tsx';
import { useApi } from '../../components/session.tsx';

/** Groups of one level that are loaded together. */
const LEVEL = 50;

/** The groups below `parent`, or the top-level groups. Each level is loaded in pages, when it is opened. */
export function GroupTree({ realm, parent }: { realm: string; parent?: Group }) {
  const api = useApi();
  const place = parent === undefined ? path`/${realm}/groups` : path`/${realm}/groups/${parent.id}/children`;
  const level = useInfiniteQuery({
    queryKey: ['groups', place, 'tree'],
    queryFn: ({ pageParam: first }) =>
      api.get<readonly Group[]>(place, { briefRepresentation: true, first, max: LEVEL + 1 }),
    initialPageParam: 0,
    getNextPageParam: (page, _pages, first) => (page.length > LEVEL ? first + LEVEL : undefined),
  });
  return (
    <LoadedPages of={level}>
      {(pages) => {
        const groups = pages.flatMap((page) => page.slice(0, LEVEL));
        return (
          <ul className="tree" aria-label={parent === undefined ? 'Groups' : `Groups below ${parent.path}`}>
            {groups.map((group) => (
              <Branch key={group.id} realm={realm} group={group} />
            ))}
            {level.hasNextPage ? (
              <li>
                <Button
                  variant="link"
                  isInline
                  isLoading={level.isFetchingNextPage}
                  onClick={() => void level.fetchNextPage()}
                >
                  Show more groups
                </Button>
              </li>
            ) : null}
          </ul>
        );
      }}
    </LoadedPages>
  );
}

function Branch({ realm, group }: { realm: string; group: Group }) {
  const [open, setOpen] = useState(false);
  const count = group.subGroupCount ?? 0;
  return (
    <li>
      <span className="branch">
        {count === 0 ? (
          <span className="twig" />
        ) : (
          <Button
            variant="plain"
            size="sm"
            aria-expanded={open}
            aria-label={`${open ? 'Close' : 'Open'} ${group.name}`}
            onClick={() => setOpen(!open)}
          >
            <span aria-hidden className={open ? 'arrow open' : 'arrow'} />
          </Button>
        )}
        <Link href={address`/${realm}/groups/${group.id}`}>{group.name}</Link>
        {count === 0 ? null : <span className="subtle">{count}</span>}
      </span>
      {open ? <GroupTree realm={realm} parent={group} /> : null}
    </li>
  );
}
