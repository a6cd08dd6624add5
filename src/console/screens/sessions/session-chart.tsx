import { Button } from '@patternfly/react-core/dist/dynamic/components/Button';
import { Title } from '@patternfly/react-core/dist/dynamic/components/Title';
import { useState } from 'react';
import type { ClientSessionStats } from '../../api/representations.ts';

/** Clients that the picture shows at first. */
const SHOWN = 8;

interface Chosen {
  id: string;
  offline: boolean;
}

/**
 * A bar for each client, as long as its number of sessions. Offline sessions follow in another colour. A click on a
 * number chooses these sessions.
 *
 * @param props `stats` is sorted, the client with most sessions first
 */
export function SessionChart(props: {
  stats: readonly ClientSessionStats[];
  chosen: Chosen;
  onChoose: (chosen: Chosen) => void;
}) {
  const { stats, chosen, onChoose } = props;
  const [all, setAll] = useState(false);
  const most = Math.max(1, ...stats.map(({ active, offline }) => Number(active) + Number(offline)));
  const number = (of: ClientSessionStats, offline: boolean) => {
    const count = Number(offline ? of.offline : of.active);
    if (count === 0) return null;
    const text = `${count.toLocaleString()} ${offline ? 'offline' : 'signed in'}`;
    return (
      <Button
        variant="link"
        isInline
        aria-pressed={chosen.id === of.id && chosen.offline === offline}
        aria-label={`${of.clientId}: ${text}`}
        onClick={() => onChoose({ id: of.id, offline })}
      >
        {text}
      </Button>
    );
  };
  return (
    <section className="chart" aria-labelledby="chart-title">
      <Title id="chart-title" headingLevel="h2" size="md">
        Sessions by client
      </Title>
      <ul>
        {stats.slice(0, all ? undefined : SHOWN).map((one) => {
          const [active, offline] = [Number(one.active), Number(one.offline)].map(
            (count) => (count / most) * 100,
          ) as [number, number];
          return (
            <li key={one.id} className={chosen.id === one.id ? 'chosen' : undefined}>
              <span className="whose">{one.clientId}</span>
              <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
                <rect className="active" width={active} height="8" />
                <rect className="offline" x={active} width={offline} height="8" />
              </svg>
              <span className="numbers">
                {number(one, false)}
                {number(one, true)}
              </span>
            </li>
          );
        })}
      </ul>
      {!all && stats.length > SHOWN ? (
        <Button variant="link" isInline onClick={() => setAll(true)}>
          Show all {stats.length} clients
        </Button>
      ) : null}
    </section>
  );
}
