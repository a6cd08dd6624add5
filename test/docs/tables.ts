import { buildProgram, readReference, renderReferenceMarkdown } from '../../src/cli/index.ts';
import { settingDocs } from '../../src/config/index.ts';
import { ERROR_CATALOGUE, EXIT_CODES } from '../../src/core/index.ts';
import { BACKUP_STEPS, DRILL_STEPS, RESTORE_STEPS, VERIFY_STEPS } from '../../src/procedures/index.ts';
import { administrationTable, urlTable } from './http-tables.ts';
import { code, escapePipes, head, row } from './markdown.ts';
import { STYLE_RULES } from './style-rules.ts';

// The generated parts of the pages as the program has them; parts.test.ts compares them line by line.

const reference = readReference(await buildProgram(() => async () => {}));

/** Every command with its flags and examples. */
export function commandReference(): readonly string[] {
  return renderReferenceMarkdown(reference).trimEnd().split('\n');
}

/** Exit codes and their meaning. */
export function exitTable(): readonly string[] {
  return [
    ...head('code', 'meaning'),
    ...Object.entries(EXIT_CODES).map(([exit, meaning]) => row(exit, meaning)),
  ];
}

/** A heading, the circumstances and the advice for every error. */
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
  ]);
}

/** Every setting with its default and why. */
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
    );
  });
  return [
    ...head('in `idkit.yaml`', 'variable, flag', 'default', 'meaning (reason for the default)'),
    ...rows,
  ];
}

/** The steps of a runbook, as the program runs them. */
export function runbook(name: 'backup' | 'verify' | 'restore' | 'drill'): readonly string[] {
  const steps = { backup: BACKUP_STEPS, verify: VERIFY_STEPS, restore: RESTORE_STEPS, drill: DRILL_STEPS }[
    name
  ];
  return steps.map((step, index) => `${index + 1}. **${step.title}**: ${step.why}.`);
}

/** The phrases that the style test finds, and what to write. */
export function replacementTable(): readonly string[] {
  return [
    ...head('avoid', 'write', 'before', 'after'),
    ...STYLE_RULES.map(({ avoid, instead, before, after }) => row(avoid, instead, before, after)),
  ];
}

/** Every generated part of the pages by the name in its markers. */
export const PARTS: Readonly<Record<string, () => readonly string[]>> = {
  'command reference': commandReference,
  exits: exitTable,
  'error entries': errorEntries,
  settings: settingTable,
  urls: urlTable,
  administration: administrationTable,
  'runbook backup': () => runbook('backup'),
  'runbook verify': () => runbook('verify'),
  'runbook restore': () => runbook('restore'),
  'runbook drill': () => runbook('drill'),
  replacements: replacementTable,
};
