import type { ServiceLog } from '../url-table/route.ts';
import type { Theme, ThemeProblem, ThemeReading } from './theme.ts';
import { renderProblem } from './theme.ts';
import { fingerprint, isThemeName, listThemeNames } from './theme-files.ts';

/** The themes of a platform directory. */
export interface Themes {
  /**
   * Returns a theme, or undefined if it does not exist or has an error. A changed file is used from the next call on.
   * Each problem is logged once for each version of the files.
   */
  find(name: string): Promise<Theme | undefined>;
  /** Reads a theme again, with its problems. */
  read(name: string): Promise<ThemeReading>;
  /** Lists the names of all themes, sorted. */
  list(): readonly string[];
}

/** A theme with its problems, for a report. */
export interface ThemeReport {
  name: string;
  usable: boolean;
  /** Whether the theme has its own logo, colours and so on. */
  has: readonly string[];
  problems: readonly ThemeProblem[];
}

/** Opens the themes of a platform directory. @param config its directory `config` */
export function openThemes(config: string, log?: ServiceLog): Themes {
  const known = new Map<string, { version: string; reading: Promise<ThemeReading> }>();
  const missing = new Set<string>();

  const logMissing = (name: string): void => {
    if (missing.has(name)) return;
    missing.add(name);
    log?.warn(
      { theme: name },
      `theme ${JSON.stringify(name)} does not exist in config/themes, so its realms have idkit's look`,
    );
  };
  const start = async (name: string): Promise<ThemeReading> => {
    const { readTheme } = await import('./read-theme.ts');
    const reading = await readTheme(config, name);
    if (reading.problems.length > 0) {
      const problems = reading.problems.map(renderProblem);
      const effect =
        reading.theme === undefined
          ? `theme ${name} has an error, so its realms have idkit's look`
          : `theme ${name} has a problem`;
      log?.warn({ theme: name, problems }, `${effect}: ${problems[0]}`);
    }
    return reading;
  };
  return {
    async find(name) {
      if (!isThemeName(name)) {
        logMissing(name.slice(0, 80));
        return undefined;
      }
      let version: string | undefined;
      try {
        version = fingerprint(config, name);
      } catch (error) {
        // The directory exists, but its files cannot be read. Reading it reports why.
        version = `unreadable ${(error as NodeJS.ErrnoException).code}`;
      }
      if (version === undefined) {
        known.delete(name);
        logMissing(name);
        return undefined;
      }
      missing.delete(name);
      let entry = known.get(name);
      if (entry?.version !== version) {
        entry = { version, reading: start(name) };
        known.set(name, entry);
      }
      return (await entry.reading).theme;
    },
    async read(name) {
      const { readTheme } = await import('./read-theme.ts');
      return readTheme(config, name);
    },
    list: () => listThemeNames(config),
  };
}

/** Loads the preview's code on first use. */
export function loadPreview(): Promise<typeof import('./preview-page.ts')> {
  return import('./preview-page.ts');
}

/** Reads every theme of a platform directory, and reports its problems. @param config its directory `config` */
export function checkThemes(config: string): Promise<readonly ThemeReport[]> {
  return reportThemes(openThemes(config));
}

/** Reads every theme again, and reports its problems. */
export async function reportThemes(themes: Themes): Promise<readonly ThemeReport[]> {
  const reports: ThemeReport[] = [];
  for (const name of themes.list()) {
    const { theme, problems } = await themes.read(name);
    const has = [
      ...(theme?.style === undefined ? [] : ['colors']),
      ...(theme?.logo === undefined ? [] : ['logo']),
      ...(theme?.darkLogo === undefined ? [] : ['dark logo']),
      ...(theme === undefined ? [] : Object.keys(theme.texts).map((locale) => `texts ${locale}`)),
      ...(theme === undefined || theme.footer.length === 0 ? [] : ['footer']),
    ];
    reports.push({ name, usable: theme !== undefined, has, problems });
  }
  return reports;
}
