import { Radio } from '@patternfly/react-core/dist/dynamic/components/Radio';
import { SearchInput } from '@patternfly/react-core/dist/dynamic/components/SearchInput';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { path } from '../../api/admin-api.ts';
import type { Group } from '../../api/representations.ts';
import { Loaded } from '../../components/service-calls.tsx';
import { useApi } from '../../components/session.tsx';
import { useTypingPause } from '../../components/typing-pause.ts';

/** Maximum number of groups that the list shows. */
const SHOWN = 20;

/** Returns the groups of a search as a list. A search returns the matching groups below their parents. */
export function flattenGroups(groups: readonly Group[]): readonly Group[] {
  return groups.flatMap((group) => [group, ...flattenGroups(group.subGroups ?? [])]);
}

/** A search for groups on all levels, with a radio button for each. */
export function GroupChoice(props: {
  realm: string;
  chosen: Group | undefined;
  onChoose: (group: Group) => void;
  /** Whether the list leaves a group out. */
  isUnfit?: (group: Group) => boolean;
}) {
  const api = useApi();
  const [typed, setTyped] = useState('');
  const search = useTypingPause(typed.trim());
  const found = useQuery({
    queryKey: ['groups', props.realm, 'choice', search],
    queryFn: async () =>
      flattenGroups(
        await api.get<readonly Group[]>(path`/${props.realm}/groups`, { search, first: 0, max: SHOWN }),
      ),
    placeholderData: keepPreviousData,
  });
  return (
    <>
      <SearchInput
        aria-label="Search groups"
        placeholder="Search groups"
        value={typed}
        onChange={(_event, value) => setTyped(value)}
        onClear={() => setTyped('')}
      />
      <Loaded of={found}>
        {(groups) => {
          // A search also returns the groups above the matches.
          const wanted = search.toLowerCase();
          const fit = groups.filter(
            (group) => group.name.toLowerCase().includes(wanted) && props.isUnfit?.(group) !== true,
          );
          return (
            <>
              {fit.length === 0 ? <p>No groups to choose</p> : null}
              {fit.slice(0, SHOWN).map((group) => (
                <Radio
                  key={group.id}
                  id={`group-${group.id}`}
                  name="group"
                  label={group.path}
                  isChecked={props.chosen?.id === group.id}
                  onChange={() => props.onChoose(group)}
                />
              ))}
              {groups.length >= SHOWN || search === '' ? (
                <p>Search to find subgroups and further groups.</p>
              ) : null}
            </>
          );
        }}
      </Loaded>
    </>
  );
}
