import { TASKS, type TaskName } from './tasks.ts';

/** The ways to do a task, in the order of the table. */
export const WAYS = ['console', 'admin', 'keycloak', 'kcadm'] as const;
export type WayName = (typeof WAYS)[number];

const TITLES: Readonly<Record<WayName, string>> = {
  console: "idkit's console",
  admin: '`idkit admin`',
  keycloak: "Keycloak's console",
  kcadm: '`kcadm.sh`',
};

/** What a way needed for a task: steps and seconds, or why it cannot do it. */
export type Needed = { steps: number; seconds: number; note?: string } | { impossible: string };

/** The figures of a run. A way that was not measured is absent. */
export type Figures = Partial<Record<WayName, Partial<Record<TaskName, Needed>>>>;

/** Renders the figures as a table in Markdown. */
export function renderTable(figures: Figures): string {
  const ways = WAYS.filter((way) => figures[way] !== undefined);
  const lines = [
    `| task | ${ways.map((way) => TITLES[way]).join(' | ')} |`,
    `|---|${ways.map(() => '---').join('|')}|`,
  ];
  for (const name of Object.keys(TASKS) as TaskName[]) {
    const cells = ways.map((way) => renderCell(figures[way]?.[name]));
    lines.push(`| ${TASKS[name].title} | ${cells.join(' | ')} |`);
  }
  return lines.join('\n');
}

function renderCell(needed: Needed | undefined): string {
  if (needed === undefined) return '';
  if ('impossible' in needed) return `none: ${needed.impossible}`;
  const { steps, seconds, note } = needed;
  const time = seconds < 10 ? seconds.toFixed(1) : Math.round(seconds).toLocaleString('en');
  return `${steps.toLocaleString('en')}, ${time} s${note === undefined ? '' : ` (${note})`}`;
}
