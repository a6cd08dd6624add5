import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { Label } from '@patternfly/react-core/dist/dynamic/components/Label';
import {
  Modal,
  ModalBody,
  ModalFooter,
  ModalHeader,
} from '@patternfly/react-core/dist/dynamic/components/Modal';
import { Progress } from '@patternfly/react-core/dist/dynamic/components/Progress';
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table/dist/dynamic/components/Table';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useId, useRef, useState } from 'react';
import { type AdminApi, path } from '../../api/admin-api.ts';
import type { Group, User } from '../../api/representations.ts';
import { useRights } from '../../components/rights.tsx';
import { useApi } from '../../components/session.tsx';
import { GroupChoice } from '../groups/group-choice.tsx';
import { mappingPath } from '../roles/owned-role.ts';
import { type ChosenRoles, RoleChoice } from '../roles/role-choice.tsx';
import { BULK_ACTIONS, type BulkAction } from './bulk-actions.tsx';
import { type Outcome, runForEach } from './bulk-run.ts';

const QUESTIONS: Readonly<Record<BulkAction, string>> = {
  enable: 'The users can sign in again.',
  disable: 'The users can neither sign in nor renew their tokens until they are enabled again.',
  logout: 'Every session of the users ends.',
  group: 'The users become members of the group and get its roles.',
  role: 'The users get the roles directly.',
  delete: 'This deletes the users with all credentials and sessions.',
};

/** What an action needs besides the users. */
interface Choice {
  group: Group | undefined;
  roles: ChosenRoles;
}

function actionOf(api: AdminApi, realm: string, action: BulkAction, { group, roles }: Choice) {
  return async (user: User): Promise<unknown> => {
    const place = path`/${realm}/users/${user.id}`;
    switch (action) {
      case 'enable':
        return api.send('PUT', place, { enabled: true });
      case 'disable':
        return api.send('PUT', place, { enabled: false });
      case 'logout':
        return api.send('POST', `${place}/logout`);
      case 'delete':
        return api.send('DELETE', place);
      case 'group':
        return api.send('PUT', place + path`/groups/${group!.id}`);
      case 'role':
        for (const owned of roles.values())
          await api.send('POST', mappingPath(`${place}/role-mappings`, owned), [owned.role]);
        return undefined;
    }
  };
}

/** Confirms an action for several users, runs it, and reports the outcome for each user. */
export function BulkDialog(props: {
  realm: string;
  action: BulkAction;
  users: readonly User[];
  onClose: (deleted: boolean) => void;
}) {
  const { realm, action } = props;
  const api = useApi();
  const { undo } = useRights(realm);
  const queries = useQueryClient();
  const title = useId();
  // The report stays as it is, although the caller's list changes when users are deleted.
  const [users] = useState(props.users);
  const [choice, setChoice] = useState<Choice>({ group: undefined, roles: new Map() });
  const [outcomes, setOutcomes] = useState<ReadonlyMap<string, Outcome>>(new Map());
  const [step, setStep] = useState<'ask' | 'run' | 'report'>('ask');
  const stopping = useRef(new AbortController());
  useEffect(() => {
    stopping.current = new AbortController();
    return () => stopping.current.abort();
  }, []);
  const ended = outcomes.size;
  const failed = users.filter(({ id }) => outcomes.get(id)?.state === 'failed');
  const run = async (rows: readonly User[]) => {
    setStep('run');
    setOutcomes((all) => new Map([...all].filter(([, { state }]) => state === 'done')));
    await runForEach(
      rows,
      actionOf(api, realm, action, choice),
      (user, outcome) => setOutcomes((all) => new Map(all).set(user.id, outcome)),
      stopping.current.signal,
    );
    setStep('report');
    await queries.invalidateQueries();
  };
  const close = () => props.onClose(action === 'delete' && ended > 0);
  const ready =
    (action !== 'group' || choice.group !== undefined) && (action !== 'role' || choice.roles.size > 0);
  const count = users.length === 1 ? '1 user' : `${users.length} users`;
  return (
    <Modal variant="medium" isOpen onClose={close} aria-labelledby={title}>
      <ModalHeader title={`${BULK_ACTIONS[action]}: ${count}`} labelId={title} />
      <ModalBody>
        {step === 'ask' ? (
          <>
            <p>{action === 'delete' ? `${QUESTIONS.delete} ${undo}` : QUESTIONS[action]}</p>
            {action === 'group' ? (
              <GroupChoice
                realm={realm}
                chosen={choice.group}
                onChoose={(group) => setChoice({ ...choice, group })}
              />
            ) : null}
            {action === 'role' ? (
              <RoleChoice
                realm={realm}
                chosen={choice.roles}
                onChoose={(roles) => setChoice({ ...choice, roles })}
              />
            ) : null}
          </>
        ) : (
          <Progress
            value={ended}
            max={users.length}
            measureLocation="outside"
            label={`${ended} of ${users.length}`}
            title={step === 'run' ? 'Running' : failed.length === 0 ? 'Done' : `${failed.length} failed`}
            {...(failed.length === 0 ? {} : { variant: 'danger' as const })}
          />
        )}
        <Table aria-label="Chosen users" variant="compact">
          <Thead>
            <Tr>
              <Th>Username</Th>
              <Th>Result</Th>
            </Tr>
          </Thead>
          <Tbody>
            {users.map((user) => (
              <Tr key={user.id}>
                <Td dataLabel="Username">{user.username}</Td>
                <Td dataLabel="Result" modifier="breakWord">
                  <Result outcome={outcomes.get(user.id)} />
                </Td>
              </Tr>
            ))}
          </Tbody>
        </Table>
      </ModalBody>
      <ModalFooter>
        {step === 'ask' ? (
          <Button
            variant={action === 'delete' ? 'danger' : 'primary'}
            isDisabled={!ready}
            onClick={() => void run(users)}
          >
            {BULK_ACTIONS[action]}
          </Button>
        ) : null}
        {step === 'report' && failed.length > 0 ? (
          <Button onClick={() => void run(failed)}>Try the failed users again</Button>
        ) : null}
        <Button variant="link" onClick={close}>
          {step === 'report' ? 'Close' : step === 'run' ? 'Stop' : 'Cancel'}
        </Button>
      </ModalFooter>
    </Modal>
  );
}

function Result({ outcome }: { outcome: Outcome | undefined }) {
  if (outcome === undefined) return null;
  if (outcome.state === 'done') return <Label color="green">Done</Label>;
  return (
    <div>
      <Label color="red">Failed</Label> {outcome.reason}
    </div>
  );
}
