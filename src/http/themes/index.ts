// Themes: the logo, colours, texts and footer links of a realm's pages, from files in config/themes/ of the platform
// directory.
// Not decided here: which pages show a theme's parts (../pages), and which theme a realm has (src/browser).
// Start at read-theme.ts, then themes.ts.
export { findPageTheme } from './page-theme.ts';
export { renderProblem } from './theme.ts';
export { resolveInside } from './theme-files.ts';
export { themeRoutes } from './theme-routes.ts';
export {
  checkThemes,
  loadPreview,
  openThemes,
  reportThemes,
  type ThemeReport,
  type Themes,
} from './themes.ts';
