import { isEnvironmentOnly, type SettingRow } from '../settings/row.ts';
import { SETTINGS } from '../settings/table.ts';

/**
 * Renders a new idkit.yaml. Settings with their default are comments; only other values are set.
 *
 * @param more values in YAML by the setting's dotted name
 */
export function renderDefaultYaml(
  runtime: string,
  service: string,
  more: Readonly<Record<string, string>> = {},
  rows: readonly SettingRow[] = SETTINGS,
): string {
  const lines = [
    '# The definition of this platform. It contains no secrets: they are in .env.',
    '# Every key is optional. The comments show the defaults.',
    '',
  ];
  const chosen: Record<string, string> = { runtime, service, ...more };
  const groupsSet = new Set(Object.keys(more).map((name) => name.split('.')[0]));
  const groups = new Set<string>();
  for (const row of rows) {
    if (isEnvironmentOnly(row)) continue;
    const [group = row.name, ...keys] = row.name.split('.');
    const value = chosen[row.name];
    const isDefault = value === undefined || value === row.default;
    const shown = isDefault ? renderDefault(row.default) : value;
    if (keys.length === 0) {
      lines.push(`${isDefault ? '# ' : ''}${row.name}: ${shown}  # ${row.doc}`);
      continue;
    }
    if (!groups.has(group)) lines.push(`${groupsSet.has(group) ? '' : '# '}${group}:`);
    groups.add(group);
    const [key, inner] = keys;
    if (inner !== undefined && !groups.has(`${group}.${key}`)) lines.push(`#   ${key}:`);
    groups.add(`${group}.${key}`);
    const indented = inner === undefined ? `  ${key}` : `    ${inner}`;
    lines.push(`${isDefault ? '# ' : ''}${indented}: ${shown}  # ${row.doc}`);
  }
  return `${lines.join('\n')}\n`;
}

/** Renders a default as YAML in one line. No default contains a comma or a quotation mark. */
function renderDefault(value: unknown): string {
  return JSON.stringify(value).replaceAll('":', '": ').replaceAll(',', ', ').replaceAll('"', '');
}
