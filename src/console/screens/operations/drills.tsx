import { Label } from '@patternfly/react-core/dist/dynamic/components/Label';
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table/dist/dynamic/components/Table';
import { formatAge, formatMilliseconds } from '../../components/units.ts';
import type { Operations } from './operations-data.ts';

/** The newest test restore of each kind of platform, with the file of its report. */
export function Drills({ state }: { state: Operations }) {
  const drills = state.backups.overview?.drills ?? [];
  if (drills.length === 0) return null;
  const now = Date.parse(state.at);
  return (
    <section aria-labelledby="drills-title">
      <h2 id="drills-title">Test restores</h2>
      <Table aria-label="Test restores" variant="compact">
        <Thead>
          <Tr>
            <Th>Platform</Th>
            <Th>Result</Th>
            <Th>Age</Th>
            <Th>Duration</Th>
            <Th>Set</Th>
            <Th>Report</Th>
          </Tr>
        </Thead>
        <Tbody>
          {drills.map(({ kind, outcome, startedAt, milliseconds, set, report }) => (
            <Tr key={kind}>
              <Td dataLabel="Platform">{kind}</Td>
              <Td dataLabel="Result">
                <Label color={outcome === 'passed' ? 'green' : 'red'}>
                  {outcome === 'passed' ? 'Passed' : 'Failed'}
                </Label>
              </Td>
              <Td dataLabel="Age">{formatAge(startedAt, now)}</Td>
              <Td dataLabel="Duration">{formatMilliseconds(milliseconds)}</Td>
              <Td dataLabel="Set">{set}</Td>
              <Td dataLabel="Report">{report === undefined ? 'not stored' : <code>{report}</code>}</Td>
            </Tr>
          ))}
        </Tbody>
      </Table>
    </section>
  );
}
