import { Checkbox } from '@patternfly/react-core/dist/dynamic/components/Checkbox';
import { SearchInput } from '@patternfly/react-core/dist/dynamic/components/SearchInput';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Loaded } from '../../components/service-calls.tsx';
import { useApi } from '../../components/session.tsx';
import { useTypingPause } from '../../components/typing-pause.ts';
import { descriptionOf, findRoles, keyOf, type OwnedRole, titleOf } from './owned-role.ts';

/** Maximum number of roles that the list shows. */
const SHOWN = 20;

/** The chosen roles by their ids. */
export type ChosenRoles = ReadonlyMap<string, OwnedRole>;

/** A search for roles of the realm and of its clients, with a check box for each. */
export function RoleChoice(props: {
  realm: string;
  chosen: ChosenRoles;
  onChoose: (chosen: ChosenRoles) => void;
  /** The ids of roles that the list leaves out. */
  held?: ReadonlySet<string>;
}) {
  const api = useApi();
  const [typed, setTyped] = useState('');
  const search = useTypingPause(typed.trim());
  const found = useQuery({
    queryKey: ['assignable', props.realm, search],
    queryFn: () => findRoles(api, props.realm, search, SHOWN),
    placeholderData: keepPreviousData,
  });
  return (
    <>
      <SearchInput
        aria-label="Search roles; client:role finds a role of a client"
        placeholder="role, or client:role"
        value={typed}
        onChange={(_event, value) => setTyped(value)}
        onClear={() => setTyped('')}
      />
      <Loaded of={found}>
        {(roles) => {
          const free = roles.filter((owned) => props.held?.has(keyOf(owned)) !== true);
          return (
            <>
              {free.length === 0 ? <p>No roles to assign</p> : null}
              {free.map((owned) => (
                <Checkbox
                  key={keyOf(owned)}
                  id={`role-${keyOf(owned)}`}
                  label={titleOf(owned)}
                  description={descriptionOf(owned.role)}
                  isChecked={props.chosen.has(keyOf(owned))}
                  onChange={(_event, checked) => {
                    const next = new Map(props.chosen);
                    if (checked) next.set(keyOf(owned), owned);
                    else next.delete(keyOf(owned));
                    props.onChoose(next);
                  }}
                />
              ))}
              {roles.length === SHOWN ? <p>There are more roles. Search to find them.</p> : null}
            </>
          );
        }}
      </Loaded>
    </>
  );
}
