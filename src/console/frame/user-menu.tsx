import { Divider } from '@patternfly/react-core/dist/dynamic/components/Divider';
import {
  Dropdown,
  DropdownItem,
  DropdownList,
} from '@patternfly/react-core/dist/dynamic/components/Dropdown';
import {
  MenuToggle,
  type MenuToggleElement,
} from '@patternfly/react-core/dist/dynamic/components/MenuToggle';
import { type Ref, useState } from 'react';
import { useAdministration } from '../components/session.tsx';

/** The menu of the user who is logged in. */
export function UserMenu() {
  const { session, place, logOut } = useAdministration();
  const [open, setOpen] = useState(false);
  const { state } = session;
  const name = state.name === 'logged_in' ? String(state.user['preferred_username'] ?? '') : '';
  return (
    <Dropdown
      isOpen={open}
      onSelect={() => setOpen(false)}
      onOpenChange={setOpen}
      popperProps={{ position: 'right', appendTo: 'inline', preventOverflow: true }}
      toggle={(toggle: Ref<MenuToggleElement>) => (
        <MenuToggle
          ref={toggle}
          variant="plainText"
          isExpanded={open}
          aria-label={`Menu of ${name}`}
          onClick={() => setOpen(!open)}
        >
          <Person />
          <span className="user-name">{name}</span>
        </MenuToggle>
      )}
    >
      <DropdownList>
        <DropdownItem
          to={`${place.baseUrl}/realms/${encodeURIComponent(place.realm)}/account/`}
          description={`${name} in realm ${place.realm}`}
        >
          Your account
        </DropdownItem>
        <Divider component="li" />
        <DropdownItem onClick={() => void logOut()}>Sign out</DropdownItem>
      </DropdownList>
    </Dropdown>
  );
}

/** Stands for the name where there is no room for it. */
function Person() {
  return (
    <svg className="person" viewBox="0 0 16 16" width="1.25em" height="1.25em" aria-hidden="true">
      <circle cx="8" cy="4.5" r="3.5" fill="currentColor" />
      <path d="M1 16a7 6.5 0 0 1 14 0z" fill="currentColor" />
    </svg>
  );
}
