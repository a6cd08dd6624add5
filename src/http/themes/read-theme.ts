import { createHash } from 'node:crypto';
import { errorMessage } from '../../core/index.ts';
import { type GivenColors, type Mode, renderColors } from './colors.ts';
import { checkPng, checkSvg, MOST_LOGO_BYTES } from './logo-file.ts';
import { parseThemeYaml } from './parse-theme.ts';
import type { Theme, ThemeFile, ThemeProblem, ThemeReading } from './theme.ts';
import {
  fingerprint,
  isThemeName,
  LEAVES_CONFIG,
  listFileNames,
  readThemeFile,
  resolveInside,
  THEME_FILES,
  type ThemeFileName,
  themeDirectory,
} from './theme-files.ts';

/** Maximum size of `theme.yaml` in bytes. */
const MOST_YAML_BYTES = 65_536;

/**
 * Reads and checks a theme. Reports every problem. A theme with an error is not returned, so its realms show idkit's own
 * look (docs/operate/themes.md).
 *
 * @param config the directory `config` of the platform directory
 */
export async function readTheme(config: string, name: string): Promise<ThemeReading> {
  const directory = `config/themes/${name}`;
  const error = (place: string, message: string, hint?: string): ThemeReading => ({
    problems: [{ kind: 'error', place, message, ...(hint === undefined ? {} : { hint }) }],
  });
  if (!isThemeName(name))
    return error(directory, 'is not the name of a theme', 'use letters, digits, ".", "_" and "-"');
  try {
    if (fingerprint(config, name) === undefined)
      return error(directory, 'does not exist', 'create the directory with a theme.yaml');
    // Otherwise the report of unused files would list the files of a directory that is not part of the platform.
    if (resolveInside(config, themeDirectory(config, name)) === 'outside')
      return error(directory, LEAVES_CONFIG);
    return await readFiles(config, name, directory);
  } catch (fault) {
    return error(directory, `cannot be read: ${errorMessage(fault)}`);
  }
}

async function readFiles(config: string, name: string, directory: string): Promise<ThemeReading> {
  const problems: ThemeProblem[] = [];
  const yaml = await readThemeFile(config, name, 'theme.yaml', MOST_YAML_BYTES);
  if (yaml !== undefined && 'fault' in yaml)
    problems.push({ kind: 'error', place: `${directory}/theme.yaml`, message: yaml.fault });
  const content = yaml !== undefined && 'content' in yaml ? yaml.content : Buffer.alloc(0);
  const parsed = await parseThemeYaml(content, `${directory}/theme.yaml`);
  problems.push(...parsed.problems);
  const logo = await readLogo(config, name, 'logo', problems);
  const darkLogo = await readLogo(config, name, 'logo-dark', problems);
  if (darkLogo !== undefined && logo === undefined)
    problems.push({
      kind: 'warning',
      place: directory,
      message: 'has a logo for dark pages, but no other logo, so it is not used',
    });
  for (const file of listFileNames(config, name))
    if (!THEME_FILES.some((known) => known === file) && !file.startsWith('.'))
      problems.push({
        kind: 'warning',
        place: `${directory}/${file}`,
        message: 'is not used',
        hint: `a theme consists of ${THEME_FILES.join(', ')}`,
      });
  const style = renderStyle(parsed.colors, `${directory}/theme.yaml`, problems);
  if (problems.some(({ kind }) => kind === 'error')) return { problems };
  const theme: Theme = {
    name,
    texts: parsed.texts,
    footer: parsed.footer,
    ...(style === undefined ? {} : { style }),
    ...(logo === undefined ? {} : { logo }),
    ...(logo === undefined || darkLogo === undefined ? {} : { darkLogo }),
  };
  return { theme, problems };
}

function renderStyle(
  colors: Readonly<Record<Mode, GivenColors>>,
  place: string,
  problems: ThemeProblem[],
): ThemeFile | undefined {
  const { style, weak } = renderColors(colors);
  for (const { mode, key, what, color, ground, contrast, needed } of weak)
    problems.push({
      kind: 'warning',
      place,
      message: `colors.${mode}.${key}: ${what} (${color} on ${ground}) have a contrast of ${contrast.toFixed(1)}:1, but readers need ${needed}:1`,
    });
  return style === '' ? undefined : themeFile(Buffer.from(style), 'text/css;charset=utf-8');
}

async function readLogo(
  config: string,
  theme: string,
  name: 'logo' | 'logo-dark',
  problems: ThemeProblem[],
): Promise<ThemeFile | undefined> {
  for (const [extension, contentType, check] of [
    ['svg', 'image/svg+xml', checkSvg],
    ['png', 'image/png', checkPng],
  ] as const) {
    const file: ThemeFileName = `${name}.${extension}`;
    const place = `config/themes/${theme}/${file}`;
    const found = await readThemeFile(config, theme, file, MOST_LOGO_BYTES);
    if (found === undefined) continue;
    if ('fault' in found) {
      problems.push({ kind: 'error', place, message: found.fault });
      return undefined;
    }
    problems.push(...check(found.content).map((fault) => ({ ...fault, place })));
    return themeFile(found.content, contentType);
  }
  return undefined;
}

function themeFile(content: Buffer, contentType: string): ThemeFile {
  const version = createHash('sha256').update(content).digest('hex').slice(0, 16);
  return { content, contentType, version };
}
