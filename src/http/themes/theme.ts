import type { FooterLink, OwnTexts } from '../pages/index.ts';

/** A theme that was read and checked. */
export interface Theme {
  name: string;
  /** The stylesheet with the theme's colours, which overrides idkit's. Absent if the theme changes no colour. */
  style?: ThemeFile;
  logo?: ThemeFile;
  /** The logo for dark pages. Only with `logo`. */
  darkLogo?: ThemeFile;
  /** Texts by language and key. */
  texts: Readonly<Record<string, OwnTexts>>;
  footer: readonly FooterLink[];
}

/** A file that pages load. */
export interface ThemeFile {
  content: Buffer;
  contentType: string;
  /** A text that changes whenever the content changes. */
  version: string;
}

/** What is wrong with a theme. With an error, the theme is not used. */
export interface ThemeProblem {
  kind: 'error' | 'warning';
  /** The file and the line, or the directory of the theme, below the platform directory. */
  place: string;
  message: string;
  hint?: string;
}

/** The result of reading a theme. */
export interface ThemeReading {
  /** Absent if the theme has an error. */
  theme?: Theme;
  problems: readonly ThemeProblem[];
}

/** Returns a problem as one line. */
export function renderProblem({ place, message, hint }: ThemeProblem): string {
  return `${place}: ${message}${hint === undefined ? '' : ` (${hint})`}`;
}
