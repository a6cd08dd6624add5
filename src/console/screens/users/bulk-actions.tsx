import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import {
  Dropdown,
  DropdownItem,
  DropdownList,
} from '@patternfly/react-core/dist/dynamic/components/Dropdown';
import { MenuToggle } from '@patternfly/react-core/dist/dynamic/components/MenuToggle';
import { useState } from 'react';
import type { User } from '../../api/representations.ts';
import { BulkDialog } from './bulk-dialog.tsx';

/** The actions for several users, in the order of the menu. */
export const BULK_ACTIONS = {
  enable: 'Enable',
  disable: 'Disable',
  logout: 'Sign out everywhere',
  group: 'Add to a group',
  role: 'Give a role',
  delete: 'Delete',
} as const;

export type BulkAction = keyof typeof BULK_ACTIONS;

/** A menu of actions for the chosen users. Each action shows which users it changed. */
export function BulkActions(props: { realm: string; users: readonly User[]; onClear: () => void }) {
  const [open, setOpen] = useState(false);
  const [action, setAction] = useState<BulkAction>();
  return (
    <>
      <Dropdown
        isOpen={open}
        popperProps={{ appendTo: 'inline' }}
        onOpenChange={setOpen}
        onSelect={(_event, value) => {
          setAction(value as BulkAction);
          setOpen(false);
        }}
        toggle={(ref) => (
          <MenuToggle ref={ref} isExpanded={open} onClick={() => setOpen(!open)}>
            {props.users.length === 1 ? '1 user chosen' : `${props.users.length} users chosen`}
          </MenuToggle>
        )}
      >
        <DropdownList>
          {Object.entries(BULK_ACTIONS).map(([name, title]) => (
            <DropdownItem key={name} value={name} isDanger={name === 'delete'}>
              {title}
            </DropdownItem>
          ))}
        </DropdownList>
      </Dropdown>
      <Button variant="link" onClick={props.onClear}>
        Choose none
      </Button>
      {action === undefined ? null : (
        <BulkDialog
          realm={props.realm}
          action={action}
          users={props.users}
          onClose={(deleted) => {
            setAction(undefined);
            if (deleted) props.onClear();
          }}
        />
      )}
    </>
  );
}
