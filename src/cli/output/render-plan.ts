import { renderCount } from '../../core/index.ts';
import type { RestorePlan } from '../../procedures/index.ts';
import { wrapWords } from './display-width.ts';
import { renderBytes } from './render-units.ts';

type Effect = RestorePlan['brings'][number];

/** The kinds of effects, the most dangerous first. */
const KINDS: readonly Effect['kind'][] = ['command', 'address', 'image', 'data', 'file'];

/** Width of the left column, including the space after it. */
const NAME_WIDTH = 10;
/** The number of realms that the short plan names. */
const MOST_REALMS = 5;
/** Rows of the short plan: with two finished steps and the question, it fits a screen of 24 rows. */
const MOST_ROWS = 20;

/** The short plan fits a screen of 80 columns and 24 rows. The full plan leaves nothing out. */
export type PlanDetail = 'short' | 'full' | 'full with reasons';

/**
 * Renders the changes that a restore is about to make.
 *
 * @param options.width the width of the terminal in characters, or Infinity to wrap no line
 */
export function renderPlan(plan: RestorePlan, options: { detail: PlanDetail; width: number }): string {
  const { detail, width } = options;
  const full = detail !== 'short';
  const row = (name: string, text: string): readonly string[] => {
    const [first = '', ...rest] = wrapWords(text, width - NAME_WIDTH);
    return [name.padEnd(NAME_WIDTH) + first, ...rest.map((line) => ' '.repeat(NAME_WIDTH) + line)];
  };
  const head = [
    ...row('set', plan.set),
    ...row('target', plan.target),
    ...row('database', plan.database),
    ...(plan.moment === undefined ? [] : row('moment', new Date(plan.moment).toISOString())),
    ...row('realms', renderRealms(plan, full)),
    ...row('space', `${renderBytes(plan.neededBytes)} needed, ${renderBytes(plan.freeBytes)} free`),
  ];
  const warnings = [
    ...plan.unasked.flatMap((what) =>
      row(
        'unchecked',
        `${what}, because only the set contains the addresses of the database and the service`,
      ),
    ),
    ...(plan.inPlace
      ? row(
          'in place',
          'the live database is EMPTIED before the set is loaded; if loading fails, the old data is lost',
        )
      : []),
  ];
  const steps = full
    ? plan.steps.flatMap(({ title, why }, index) =>
        wrapWords(detail === 'full' ? title : `${title}: ${why}`, width - 4).map(
          (line, part) => `${part === 0 ? `${String(index + 1).padStart(2)}. ` : '    '}${line}`,
        ),
      )
    : row('steps', `${plan.steps.map(({ id }) => id).join(', ')}; --verbose explains them`);
  const effects = plan.brings
    .toSorted((one, other) => KINDS.indexOf(one.kind) - KINDS.indexOf(other.kind))
    .map(({ kind, from, what }) => row(kind, `${from}: ${what}`));
  const room = full ? Number.POSITIVE_INFINITY : MOST_ROWS - head.length - warnings.length - steps.length;
  return [...head, ...fit(effects, room, row), ...warnings, ...steps].join('\n');
}

function renderRealms({ realms }: RestorePlan, full: boolean): string {
  const shown = full ? realms : realms.slice(0, MOST_REALMS);
  const more = realms.length - shown.length;
  return [
    ...shown.map(({ realm, users }) => `${realm} (${renderCount(users, 'user')})`),
    ...(more > 0 ? [`and ${more} more`] : []),
  ].join(', ');
}

/** Returns the rows of the first effects, and the number of the others if there is no room for all. */
function fit(
  effects: readonly (readonly string[])[],
  room: number,
  row: (name: string, text: string) => readonly string[],
): readonly string[] {
  if (effects.flat().length <= room) return effects.flat();
  const shown: string[] = [];
  for (const [index, lines] of effects.entries()) {
    if (shown.length + lines.length > room - 1)
      return [...shown, ...row('', `and ${effects.length - index} more; --verbose prints everything`)];
    shown.push(...lines);
  }
  return shown;
}
