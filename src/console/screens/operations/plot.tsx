import type { Minute } from './operations-data.ts';

/** Number of minutes in a plot. */
const SHOWN = 60;
const HEIGHT = 40;

type Count = Exclude<keyof Minute, 'at'>;

/** A small plot of the last hour: a bar for each minute, with the failures in another colour on top. */
export function Plot(props: { title: string; minutes: readonly Minute[]; good: Count; failed: Count }) {
  const { title, good, failed } = props;
  const minutes = props.minutes.slice(-SHOWN);
  const totals = minutes.map((minute) => minute[good] + minute[failed]);
  const most = Math.max(1, ...totals);
  const sum = (count: Count): number => minutes.reduce((all, minute) => all + minute[count], 0);
  const text = `${sum(good).toLocaleString()} succeeded and ${sum(failed).toLocaleString()} failed in the last ${
    minutes.length === 1 ? 'minute' : `${minutes.length} minutes`
  }`;
  const scale = HEIGHT / most;
  return (
    <figure className="plot">
      <figcaption>
        <strong>{title}</strong>
        <span className="subtle">at most {most.toLocaleString()} a minute</span>
      </figcaption>
      <svg
        viewBox={`0 0 ${SHOWN} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}: ${text}`}
      >
        <line className="axis" x1="0" x2={SHOWN} y1={HEIGHT} y2={HEIGHT} />
        {minutes.map((minute, place) => {
          const x = SHOWN - minutes.length + place + 0.1;
          const top = minute[failed] * scale;
          const whole = (minute[good] + minute[failed]) * scale;
          return (
            <g key={minute.at}>
              <title>{`${clock(minute.at)}: ${minute[good]} succeeded, ${minute[failed]} failed`}</title>
              <rect className="hit" x={x} y={0} width={0.8} height={HEIGHT} />
              <rect className="good" x={x} y={HEIGHT - whole + top} width={0.8} height={whole - top} />
              <rect className="failed" x={x} y={HEIGHT - whole} width={0.8} height={top} />
            </g>
          );
        })}
      </svg>
      <div className="scale subtle">
        <span>{clock((minutes.at(-1)?.at ?? 0) - (SHOWN - 1) * 60_000)}</span>
        <span>now</span>
      </div>
      <p className="subtle">{text}</p>
    </figure>
  );
}

function clock(time: number): string {
  return new Date(time).toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
}
