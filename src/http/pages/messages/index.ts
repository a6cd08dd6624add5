// Texts of the pages, a file per language.
// Start at texts.ts; en.ts says which texts there are.
export type { MessageKey } from './en.ts';
export { findTexts, LANGUAGES, type Texts } from './texts.ts';
