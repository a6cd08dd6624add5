import { MenuSearch, MenuSearchInput } from '@patternfly/react-core/dist/dynamic/components/Menu';
import {
  MenuToggle,
  type MenuToggleElement,
} from '@patternfly/react-core/dist/dynamic/components/MenuToggle';
import { SearchInput } from '@patternfly/react-core/dist/dynamic/components/SearchInput';
import { Select, SelectList, SelectOption } from '@patternfly/react-core/dist/dynamic/components/Select';
import { type Ref, useState } from 'react';
import { useLocation } from 'wouter';
import { useRealms } from '../components/realms.ts';

import { SCREENS, type ScreenRow } from '../screens/table.ts';
import { addressOf } from './screen-address.ts';

/** Maximum number of realms in the menu. The search finds the others. */
const SHOWN = 12;

/** A value that no realm has as its name. */
const ALL = '/';

/** Switches to another realm, and stays on the same list if there is one. */
export function RealmSwitcher(props: { realm: string | undefined; row: ScreenRow | undefined }) {
  const [open, setOpen] = useState(false);
  const [search, setSearch] = useState('');
  const [, navigate] = useLocation();
  const realms = useRealms(open);
  const text = search.toLowerCase();
  const found = (realms.data ?? []).filter(({ realm, displayName = '' }) =>
    `${realm} ${displayName}`.toLowerCase().includes(text),
  );
  const change = (next: boolean): void => {
    setOpen(next);
    setSearch('');
  };
  return (
    <Select
      isOpen={open}
      selected={props.realm ?? ALL}
      onOpenChange={change}
      onOpenChangeKeys={['Escape']}
      // Inside the header, so that screen readers find the menu in a landmark.
      popperProps={{ appendTo: 'inline', preventOverflow: true }}
      onSelect={(_event, value) => {
        change(false);
        navigate(value === ALL ? '/' : addressOf(listOf(props.row), String(value)));
      }}
      toggle={(toggle: Ref<MenuToggleElement>) => (
        <MenuToggle
          ref={toggle}
          className="realm-switcher"
          isExpanded={open}
          aria-label={`${props.realm ?? 'All realms'}: switch to another realm`}
          onClick={() => change(!open)}
        >
          {props.realm ?? 'All realms'}
        </MenuToggle>
      )}
    >
      <MenuSearch>
        <MenuSearchInput>
          <SearchInput
            aria-label="Find a realm"
            placeholder="Find a realm"
            value={search}
            onChange={(_event, value) => setSearch(value)}
            onClear={() => setSearch('')}
          />
        </MenuSearchInput>
      </MenuSearch>
      <SelectList aria-label="Realms">
        <SelectOption value={ALL}>All realms</SelectOption>
        {found.slice(0, SHOWN).map(({ realm, displayName }) => (
          <SelectOption key={realm} value={realm} description={displayName}>
            {realm}
          </SelectOption>
        ))}
        {found.length > SHOWN ? (
          <SelectOption isDisabled value="">
            {found.length - SHOWN} more, type to find them
          </SelectOption>
        ) : null}
        {found.length === 0 ? (
          <SelectOption isDisabled value="">
            {realms.isPending ? 'Loading' : (realms.error?.message ?? 'No realm matches')}
          </SelectOption>
        ) : null}
      </SelectList>
    </Select>
  );
}

/** Returns the screen of the same kind that every realm has: the list of users for a user. */
function listOf(row: ScreenRow | undefined): ScreenRow {
  const first = SCREENS.find(({ group }) => group === 'realm')!;
  if (row === undefined || !row.address.startsWith('/:realm/')) return first;
  const section = row.address.split('/')[2];
  return (
    SCREENS.find(({ group, address }) => group !== undefined && address.split('/')[2] === section) ?? first
  );
}
