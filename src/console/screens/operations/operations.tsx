import { Alert } from '@patternfly/react-core/dist/dynamic/components/Alert';
import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { Card, CardBody, CardTitle } from '@patternfly/react-core/dist/dynamic/components/Card';
import { ClipboardCopy } from '@patternfly/react-core/dist/dynamic/components/ClipboardCopy';
import {
  DescriptionList,
  DescriptionListDescription,
  DescriptionListGroup,
  DescriptionListTerm,
} from '@patternfly/react-core/dist/dynamic/components/DescriptionList';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Screen } from '../../components/frame.tsx';
import { Loaded } from '../../components/service-calls.tsx';
import { useApi } from '../../components/session.tsx';
import { formatAge, formatBytes } from '../../components/units.ts';
import { BackupSets } from './backup-sets.tsx';
import { Drills } from './drills.tsx';
import type { Operations } from './operations-data.ts';
import { Plot } from './plot.tsx';
import { Schedule } from './schedule.tsx';

/** Time in milliseconds between two readings. */
const INTERVAL = 15_000;

/** The state of the service, its database and its backups. It only reads. */
export function OperationsScreen() {
  const api = useApi();
  const found = useQuery({
    queryKey: ['operations'],
    queryFn: () => api.getOutside<Operations>('/operations'),
    refetchInterval: INTERVAL,
  });
  return (
    <Screen
      title="Operations"
      description="What the service knows about itself and its backups. This screen only reads; the commands of idkit change things."
      actions={
        <Button variant="secondary" isLoading={found.isFetching} onClick={() => void found.refetch()}>
          Refresh
        </Button>
      }
    >
      <Loaded of={found}>
        {(state) => (
          <div className="operations">
            <Alerts state={state} />
            <div className="cards">
              <ServiceCard state={state} />
              <DatabaseCard state={state} />
            </div>
            <section aria-labelledby="traffic-title">
              <h2 id="traffic-title">Refreshes and logins</h2>
              <div className="cards">
                <Plot title="Refreshes" minutes={state.traffic} good="renewals" failed="renewalFailures" />
                <Plot title="Logins" minutes={state.traffic} good="logins" failed="loginFailures" />
              </div>
              <p className="subtle">
                Counted by the process {state.service.pid} on {state.service.host}
                {state.replicas.length > 1
                  ? ', which is one of several. A metrics server adds up all of them'
                  : ''}
                . Counting began {formatAge(state.service.startedAt, Date.parse(state.at))}.
              </p>
            </section>
            <Schedule state={state} />
            <section aria-labelledby="sets-title">
              <h2 id="sets-title">Backup sets</h2>
              <p className="subtle">
                In <code>{state.backups.root}</code>, kept for {state.backups.keepDays} days
                {state.backups.mirror
                  ? ', with a mirror'
                  : ', without a mirror: the sets are on one machine only'}
              </p>
              {state.backups.restore === undefined ? null : (
                <div className="restore">
                  <p id="restore-title">To restore the newest good set, run on the machine of the service:</p>
                  <ClipboardCopy
                    isReadOnly
                    isCode
                    hoverTip="Copy"
                    clickTip="Copied"
                    textAriaLabel="Command that restores the newest good set"
                  >
                    {state.backups.restore}
                  </ClipboardCopy>
                </div>
              )}
              <BackupSets state={state} />
            </section>
            <Drills state={state} />
          </div>
        )}
      </Loaded>
    </Screen>
  );
}

function Alerts({ state: { alerts } }: { state: Operations }) {
  if (alerts.length === 0)
    return <Alert isInline variant="success" component="p" title="Nothing needs an operator now" />;
  return (
    <section aria-label="Alerts" className="alerts">
      {alerts.map(({ name, severity, summary, advice }) => (
        <Alert
          key={`${name} ${summary}`}
          isInline
          variant={severity === 'critical' ? 'danger' : 'warning'}
          component="p"
          title={capital(summary)}
        >
          {capital(advice)} <span className="subtle">({name})</span>
        </Alert>
      ))}
    </section>
  );
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function ServiceCard({ state }: { state: Operations }) {
  const { service, replicas } = state;
  const now = Date.parse(state.at);
  return (
    <Card>
      <CardTitle component="h2">Service</CardTitle>
      <CardBody>
        <Facts
          facts={[
            ['Version', service.version],
            ['Base URL', <code key="url">{service.baseUrl}</code>],
            ['Started', formatAge(service.startedAt, now)],
            [
              replicas.length === 1 ? 'Process' : `Processes (${replicas.length})`,
              <ul key="replicas">
                {replicas.map(({ name, since }) => (
                  <li key={name}>
                    {name.replace(/^idkit serve /, '')}
                    {since === undefined ? (
                      ''
                    ) : (
                      <span className="subtle"> since {formatAge(since, now)}</span>
                    )}
                  </li>
                ))}
              </ul>,
            ],
          ]}
        />
      </CardBody>
    </Card>
  );
}

function DatabaseCard({ state: { database } }: { state: Operations }) {
  const { figures, freeBytes, due, migrations } = database;
  const number = (value: number) => value.toLocaleString();
  return (
    <Card>
      <CardTitle component="h2">Database</CardTitle>
      <CardBody>
        <Facts
          facts={[
            ['Kind', database.kind === 'sqlite' ? 'SQLite, embedded' : 'Postgres'],
            ...(figures === undefined
              ? ([['State', 'Does not respond']] as const)
              : ([
                  [
                    'Size',
                    `${formatBytes(figures.bytes)}${freeBytes === undefined ? '' : `, ${formatBytes(freeBytes)} free`}`,
                  ],
                  ['Realms', number(figures.realms)],
                  ['Users', number(figures.users)],
                  [
                    'User sessions',
                    `${number(figures.userSessions)}, ${number(figures.offlineSessions)} offline`,
                  ],
                  ['Logins in progress', number(figures.openLogins)],
                ] as const)),
            ...(due.length === 0
              ? []
              : ([
                  [
                    'Expired, not removed yet',
                    due
                      .map(({ kind, records }) => `${kind} ${records >= 1000 ? 'over 1,000' : records}`)
                      .join(', '),
                  ],
                ] as const)),
            ...migrations.map(
              ({ title, handled, left }) =>
                [
                  'Migration',
                  `${title}: ${number(handled)} done${left === undefined ? '' : `, about ${number(left)} left`}`,
                ] as const,
            ),
          ]}
        />
      </CardBody>
    </Card>
  );
}

function Facts({ facts }: { facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <DescriptionList isHorizontal isCompact horizontalTermWidthModifier={{ default: '7rem', md: '12rem' }}>
      {facts.map(([name, value]) => (
        <DescriptionListGroup key={name}>
          <DescriptionListTerm>{name}</DescriptionListTerm>
          <DescriptionListDescription>{value}</DescriptionListDescription>
        </DescriptionListGroup>
      ))}
    </DescriptionList>
  );
}
