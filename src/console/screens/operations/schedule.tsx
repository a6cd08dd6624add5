import { Label } from '@patternfly/react-core/dist/dynamic/components/Label';
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table/dist/dynamic/components/Table';
import { formatDuration } from '../../components/duration-field.tsx';
import { formatAge, formatMilliseconds, formatMoment } from '../../components/units.ts';
import type { Operations } from './operations-data.ts';

const OUTCOMES = {
  good: { color: 'green', text: 'Good' },
  findings: { color: 'orange', text: 'With findings' },
  failed: { color: 'red', text: 'Failed' },
} as const;

/** The jobs of the schedule, with their last results and next times. */
export function Schedule({ state }: { state: Operations }) {
  const now = Date.parse(state.at);
  return (
    <section aria-labelledby="schedule-title">
      <h2 id="schedule-title">Schedule</h2>
      <p className="subtle">
        The jobs that <code>idkit schedule run</code> or its timers run. The service does not run them; it
        shows their last results.
      </p>
      <Table aria-label="Schedule" variant="compact">
        <Thead>
          <Tr>
            <Th>Job</Th>
            <Th>Every</Th>
            <Th>Last</Th>
            <Th>Took</Th>
            <Th>Next</Th>
            <Th>Result</Th>
          </Tr>
        </Thead>
        <Tbody>
          {state.schedule.map(({ id, title, everySeconds, last, next, late }) => (
            <Tr key={id}>
              <Td dataLabel="Job">{title}</Td>
              <Td dataLabel="Every">{formatDuration(everySeconds).replace(/^1 /, '')}</Td>
              <Td dataLabel="Last">
                {last === undefined ? 'Never' : formatAge(last.at, now)}{' '}
                {late ? <Label color="orange">Late</Label> : null}
              </Td>
              <Td dataLabel="Took">
                {last?.milliseconds === undefined ? '–' : formatMilliseconds(last.milliseconds)}
              </Td>
              <Td dataLabel="Next">{next === undefined ? '–' : formatMoment(next)}</Td>
              <Td dataLabel="Result" modifier="breakWord">
                {last === undefined ? (
                  '–'
                ) : (
                  <>
                    <Label color={OUTCOMES[last.outcome].color}>{OUTCOMES[last.outcome].text}</Label>
                    {last.messages.length === 0 ? null : <p className="subtle">{last.messages.join('. ')}</p>}
                  </>
                )}
              </Td>
            </Tr>
          ))}
        </Tbody>
      </Table>
    </section>
  );
}
