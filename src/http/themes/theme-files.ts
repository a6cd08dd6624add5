import { constants, readdirSync, realpathSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join, sep } from 'node:path';

/** The shape of a theme's name, which is the name of its directory. It cannot lead out of `config/themes`. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** The files of a theme. All other files of its directory are ignored. */
export const THEME_FILES = ['theme.yaml', 'logo.svg', 'logo.png', 'logo-dark.svg', 'logo-dark.png'] as const;

/** The fault of a symbolic link that leads out of `config`. */
export const LEAVES_CONFIG = 'is a link that leaves config/, so it is not read';

export type ThemeFileName = (typeof THEME_FILES)[number];

/** Whether a text can be the name of a theme. */
export function isThemeName(name: string): boolean {
  return NAME.test(name);
}

/** Returns the directory of a theme. @param config the directory `config` of the platform directory */
export function themeDirectory(config: string, name: string): string {
  return join(config, 'themes', name);
}

/** Lists the names of the directories in `config/themes`, sorted. */
export function listThemeNames(config: string): readonly string[] {
  return orAbsent(() => readdirSync(join(config, 'themes'), { withFileTypes: true }), [])
    .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
    .map(({ name }) => name)
    .sort();
}

/**
 * Returns the path of a file or directory below `config` without its symbolic links. Undefined if it does not exist,
 * `outside` if a link leads out of `config`.
 */
export function resolveInside(config: string, path: string): string | 'outside' | undefined {
  const root = orAbsent(() => realpathSync(config), undefined);
  const real = orAbsent(() => realpathSync(path), undefined);
  if (root === undefined || real === undefined) return undefined;
  return real.startsWith(root + sep) ? real : 'outside';
}

/** Lists the names of the files in the directory of a theme. */
export function listFileNames(config: string, theme: string): readonly string[] {
  return orAbsent(() => readdirSync(themeDirectory(config, theme)), []);
}

/**
 * Returns a text that changes whenever a file of the theme changes. Undefined if the theme has no directory. The call is
 * synchronous, because looking up a few local files asynchronously would take longer.
 */
export function fingerprint(config: string, theme: string): string | undefined {
  const directory = themeDirectory(config, theme);
  const own = orAbsent(() => statSync(directory), undefined);
  if (!own?.isDirectory()) return undefined;
  return ['', ...THEME_FILES]
    .map((file) => {
      const stats = orAbsent(() => statSync(join(directory, file)), undefined);
      return stats === undefined
        ? '-'
        : `${stats.dev}.${stats.ino}.${stats.size}.${stats.mtimeMs}.${stats.ctimeMs}`;
    })
    .join(' ');
}

/** A file of a theme, or the reason why it cannot be used. Undefined if it does not exist. */
export type ReadFile = { content: Buffer } | { fault: string } | undefined;

/**
 * Reads a file of a theme. Symbolic links are followed if they stay inside `config`, as in a backup.
 *
 * @param most the maximum size in bytes
 */
export async function readThemeFile(
  config: string,
  theme: string,
  file: ThemeFileName,
  most: number,
): Promise<ReadFile> {
  const path = resolveInside(config, join(themeDirectory(config, theme), file));
  if (path === undefined) return undefined;
  if (path === 'outside') return { fault: LEAVES_CONFIG };
  // Without O_NONBLOCK, opening a FIFO would wait for a writer.
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) return { fault: 'is not a file' };
    if (stats.size > most) return { fault: `has ${stats.size} bytes, but at most ${most} are allowed` };
    return { content: await handle.readFile() };
  } finally {
    await handle.close();
  }
}

/** Returns the result of `read`, or `otherwise` if the file or directory does not exist or cannot be reached. */
function orAbsent<Result>(read: () => Result, otherwise: Result): Result {
  try {
    return read();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ENAMETOOLONG' || code === 'ELOOP')
      return otherwise;
    throw error;
  }
}
