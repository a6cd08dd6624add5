import { buildProgram, readReference, renderReferenceMarkdown } from '../../src/cli/index.ts';
import { STATUS_NAMES, settingDocs } from '../../src/config/index.ts';
import { ERROR_CATALOGUE, EXIT_CODES } from '../../src/core/index.ts';
import {
  BACKUP_STEPS,
  DOCTOR_CHECKS,
  DRILL_STEPS,
  RESTORE_STEPS,
  VERIFY_STEPS,
} from '../../src/procedures/index.ts';
import { decidedIn, FILES_OF_PROGRAM, filesOfCommand, filesOfError, filesOfSetting } from './decided.ts';
import { administrationTable, urlTable } from './http-tables.ts';
import { code, escapePipes, head, row } from './markdown.ts';
import { SHOWN_EXAMPLES, showExample } from './shown-examples.ts';
import { STYLE_RULES } from './style-rules.ts';

// Generates parts of the pages from the program. parts.test.ts compares them with the pages line by line.

const reference = readReference(await buildProgram(() => async () => {}));

/** Lists every command with its flags, its examples and the source files that implement it. */
export function commandReference(): readonly string[] {
  const [index = '', ...sections] = renderReferenceMarkdown(reference)
    .trimEnd()
    .split(/\n(?=## )/);
  return [
    ...index.trimEnd().split('\n'),
    '',
    ...decidedIn(FILES_OF_PROGRAM['Commands and their flags']!),
    '',
    ...sections.flatMap((section) => {
      const heading = /^## (.*)/.exec(section)?.[1] ?? '';
      const files = FILES_OF_PROGRAM[heading] ?? filesOfCommand(heading.replace(/^idkit /, ''));
      return [...section.trimEnd().split('\n'), '', ...decidedIn(files), ''];
    }),
  ].slice(0, -1);
}

/** Lists the exit codes with their meanings. */
export function exitTable(): readonly string[] {
  return [
    ...head('code', 'meaning'),
    ...Object.entries(EXIT_CODES).map(([exit, meaning]) => row(exit, meaning)),
  ];
}

/** Describes each error in a section: when it occurs, what to do, and which files decide each of these. */
export function errorEntries(): readonly string[] {
  const sentence = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}.`;
  return Object.entries(ERROR_CATALOGUE).flatMap(([name, { exit, meaning, when, advice }], index) => [
    ...(index === 0 ? [] : ['']),
    `## ${name}`,
    '',
    `${sentence(meaning)} Exit code ${exit}.`,
    '',
    `- **When:** ${sentence(when)}`,
    `- **Do:** ${sentence(advice)}`,
    '',
    ...decidedIn(filesOfError(name)),
  ]);
}

/** Lists every setting with its default, the reason for the default, and the file that applies the setting. */
export function settingTable(): readonly string[] {
  const rows = settingDocs().map((setting) => {
    const given = [
      setting.env === undefined ? '' : code(setting.env),
      setting.flag === undefined ? '' : code(setting.flag),
    ];
    const fallback = setting.default === undefined ? 'none' : code(JSON.stringify(setting.default));
    return row(
      setting.environmentOnly ? '' : code(setting.name),
      given.filter((text) => text !== '').join(' '),
      fallback,
      escapePipes(`${setting.doc} (${setting.reason})`),
      filesOfSetting(setting.name),
    );
  });
  return [
    ...head('in `idkit.yaml`', 'variable, flag', 'default', 'meaning (reason for the default)', 'applied in'),
    ...rows,
  ];
}

/** Lists the steps of a runbook in the order in which the program runs them. */
export function runbook(name: 'backup' | 'verify' | 'drill'): readonly string[] {
  const steps = { backup: BACKUP_STEPS, verify: VERIFY_STEPS, drill: DRILL_STEPS }[name];
  return steps.map((step, index) => `${index + 1}. **${step.title}**: ${step.why}.`);
}

type RestoreStep = (typeof RESTORE_STEPS)[number];

const AFTER_FAILURE: Readonly<Record<RestoreStep['undo'], string>> = {
  'nothing to undo': 'nothing to undo',
  'roll back': 'idkit rolls back',
  'keep the restored state': 'the restored state stays',
};

const NO_RETURN: Readonly<Record<NonNullable<RestoreStep['pointOfNoReturn']>, string>> = {
  always: 'point of no return, unless a check failed',
  'with --in-place': 'with `--in-place`: point of no return',
};

const RESUMES: Readonly<Record<RestoreStep['resumesAfter'][number], string>> = {
  'nothing replaced': 'nothing was replaced yet',
  'database emptied': '`--in-place` had emptied the database',
  'swap begun': 'the swap had begun',
};

/** Lists the steps of a restore. For each step it names the result of a failure, and when `--resume` runs the step. */
export function restoreRunbook(): readonly string[] {
  const rows = RESTORE_STEPS.map(({ title, why, undo, pointOfNoReturn, resumesAfter }, index) => {
    const failure = [AFTER_FAILURE[undo], ...(pointOfNoReturn ? [NO_RETURN[pointOfNoReturn]] : [])];
    const isAlways = resumesAfter.length === Object.keys(RESUMES).length;
    const resumes = isAlways ? 'always' : resumesAfter.map((progress) => RESUMES[progress]).join(', or ');
    return row(String(index + 1), `**${title}**: ${why}`, failure.join('; '), resumes);
  });
  return [...head('', 'step', 'after a failure or an interrupt', '`--resume` runs it if'), ...rows];
}

/** Lists the phrases that the style test finds, and their replacements. */
export function replacementTable(): readonly string[] {
  return [
    ...head('avoid', 'write', 'before', 'after'),
    ...STYLE_RULES.map(({ avoid, instead, before, after }) => row(avoid, instead, before, after)),
  ];
}

/** Lists the names of the findings and warnings of `idkit status`. */
function statusNames(): readonly string[] {
  return [
    ...head('name', 'when'),
    ...Object.entries(STATUS_NAMES).map(([name, when]) => row(code(name), escapePipes(when))),
  ];
}

/** Lists the checks of `idkit doctor`. */
function doctorChecks(): readonly string[] {
  return [
    ...head('check', 'what it tests'),
    ...Object.entries(DOCTOR_CHECKS).map(([id, rule]) => row(code(id), escapePipes(rule))),
  ];
}

/** Maps the name in the markers of each generated part to its text. */
export const PARTS: Readonly<Record<string, () => readonly string[]>> = {
  'command reference': commandReference,
  exits: exitTable,
  'error entries': errorEntries,
  settings: settingTable,
  urls: urlTable,
  administration: administrationTable,
  'runbook backup': () => runbook('backup'),
  'runbook verify': () => runbook('verify'),
  'runbook restore': restoreRunbook,
  'runbook drill': () => runbook('drill'),
  replacements: replacementTable,
  ...Object.fromEntries(SHOWN_EXAMPLES.map((name) => [`example ${name}`, () => showExample(name)])),
  'status names': statusNames,
  'doctor checks': doctorChecks,
};
