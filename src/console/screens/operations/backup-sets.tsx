import { Alert } from '@patternfly/react-core/dist/dynamic/components/Alert';
import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { EmptyState, EmptyStateBody } from '@patternfly/react-core/dist/dynamic/components/EmptyState';
import { Label } from '@patternfly/react-core/dist/dynamic/components/Label';
import { Modal, ModalBody, ModalHeader } from '@patternfly/react-core/dist/dynamic/components/Modal';
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table/dist/dynamic/components/Table';
import { type ReactNode, useState } from 'react';
import { formatTime } from '../../components/paged-table.tsx';
import { formatAge, formatBytes, formatMilliseconds } from '../../components/units.ts';
import type { BackupSet, Operations } from './operations-data.ts';

/** The sets in the backup root, the newest first. */
export function BackupSets({ state }: { state: Operations }) {
  const [shown, show] = useState<BackupSet>();
  const { overview, problem } = state.backups;
  const now = Date.parse(state.at);
  if (overview === undefined)
    return (
      <Alert
        isInline
        variant="danger"
        component="p"
        title={`The backup root cannot be read: ${problem ?? ''}`}
      />
    );
  if (overview.sets.length === 0)
    return (
      <EmptyState titleText="No backup sets" headingLevel="h3">
        <EmptyStateBody>
          <code>idkit backup</code> creates one, and <code>idkit schedule</code> prints its timers.
        </EmptyStateBody>
      </EmptyState>
    );
  return (
    <>
      <Table aria-label="Backup sets" variant="compact">
        <Thead>
          <Tr>
            <Th>Set</Th>
            <Th>Age</Th>
            <Th>Size</Th>
            <Th>Parts</Th>
            <Th>Verified</Th>
            <Th>Test restore</Th>
          </Tr>
        </Thead>
        <Tbody>
          {overview.sets.map((set) => (
            <Tr key={set.name}>
              <Td dataLabel="Set">
                <Button variant="link" isInline onClick={() => show(set)}>
                  {set.name}
                </Button>
              </Td>
              <Td dataLabel="Age">{formatAge(set.startedAt, now)}</Td>
              <Td dataLabel="Size">{formatBytes(set.bytes)}</Td>
              <Td dataLabel="Parts">{set.parts.length === 4 ? 'all' : set.parts.join(', ') || 'unknown'}</Td>
              <Td dataLabel="Verified">
                <Verdict set={set} />
              </Td>
              <Td dataLabel="Test restore">
                <Drilled set={set} />
              </Td>
            </Tr>
          ))}
        </Tbody>
      </Table>
      {overview.more > 0 ? (
        <p className="subtle">{overview.more.toLocaleString()} older sets are not shown.</p>
      ) : null}
      {overview.unfinished > 0 ? (
        <p className="subtle">{overview.unfinished} unfinished: a backup is running, or one was killed.</p>
      ) : null}
      {shown === undefined ? null : <SetReport set={shown} onClose={() => show(undefined)} />}
    </>
  );
}

function Verdict({ set }: { set: BackupSet }) {
  if (set.future) return <Label color="orange">Dated ahead</Label>;
  if (set.state === 'bad') return <Label color="red">Damaged</Label>;
  if (set.verified === undefined) return <Label>Never</Label>;
  const isGood = set.verified.verdict === 'good';
  return <Label color={isGood ? 'green' : 'orange'}>{isGood ? 'Good' : set.verified.verdict}</Label>;
}

function Drilled({ set }: { set: BackupSet }) {
  if (set.drill === undefined) return <Label>Never</Label>;
  const isGood = set.drill.outcome === 'passed';
  return <Label color={isGood ? 'green' : 'red'}>{isGood ? 'Passed' : 'Failed'}</Label>;
}

/** The reports of a set: its content, its verification and its test restore. */
function SetReport({ set, onClose }: { set: BackupSet; onClose: () => void }) {
  const { verified, drill } = set;
  return (
    <Modal variant="medium" isOpen onClose={onClose} aria-labelledby="set-report">
      <ModalHeader title={`Set ${set.name}`} labelId="set-report" />
      <ModalBody>
        <Part title="Content">
          <p>
            {formatBytes(set.bytes)}, {set.parts.join(', ') || 'unknown parts'}
            {set.sealed ? ', sealed' : ', not sealed'}
            {set.milliseconds === undefined ? '' : `, made in ${formatMilliseconds(set.milliseconds)}`}
          </p>
          {set.realms.length === 0 ? null : (
            <ul className="listed">
              {set.realms.map(({ realm, users }) => (
                <li key={realm}>
                  {realm}
                  {users === undefined ? '' : `: ${users.toLocaleString()} ${users === 1 ? 'user' : 'users'}`}
                </li>
              ))}
            </ul>
          )}
        </Part>
        <Part title="Verification">
          {verified === undefined ? (
            <p>
              Never verified, or changed since. Run <code>idkit verify</code>.
            </p>
          ) : (
            <>
              <p>
                {verified.verdict}, {formatTime(Date.parse(verified.at))}
                {verified.seal === undefined ? '' : `; seal: ${verified.seal}`}
              </p>
              <Problems of={verified.problems} />
            </>
          )}
        </Part>
        <Part title="Test restore">
          {drill === undefined ? (
            <p>
              Never restored for a test. Run <code>idkit drill</code>.
            </p>
          ) : (
            <>
              <p>
                {drill.outcome === 'passed' ? 'Passed' : 'Failed'} after{' '}
                {formatMilliseconds(drill.milliseconds)}, {formatTime(Date.parse(drill.startedAt))}
              </p>
              <Problems of={drill.problems} />
              <Table aria-label="Checklist of the test restore" variant="compact">
                <Thead>
                  <Tr>
                    <Th>Check</Th>
                    <Th>Result</Th>
                    <Th>Detail</Th>
                  </Tr>
                </Thead>
                <Tbody>
                  {drill.checklist.map(({ title, outcome, detail }) => (
                    <Tr key={title}>
                      <Td dataLabel="Check">{title}</Td>
                      <Td dataLabel="Result">{outcome}</Td>
                      <Td dataLabel="Detail" modifier="breakWord">
                        {detail}
                      </Td>
                    </Tr>
                  ))}
                </Tbody>
              </Table>
            </>
          )}
        </Part>
      </ModalBody>
    </Modal>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="report-part">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function Problems({ of }: { of: readonly string[] }) {
  if (of.length === 0) return null;
  return (
    <ul className="listed">
      {of.map((problem) => (
        <li key={problem}>{problem}</li>
      ))}
    </ul>
  );
}
