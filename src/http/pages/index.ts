// Pages: what people see in a browser, as text of HTML that works without scripts.
// Owns: templates, texts in every language, the stylesheet, the pages' Content-Security-Policy.
// Must not know: requests, replies, the rules that choose a page.
// Start at render.ts.
export { renderFormPost } from './form-post.ts';
export { safeLink } from './html.ts';
export type { PagePlace } from './layout.ts';
export { findTexts } from './messages/texts.ts';
export { type RenderedPage, renderPage, renderPlainError } from './render.ts';
export { RESOURCES, type Resource } from './resources.ts';
export { cookieSteps, loginStatusPage } from './session-pages.ts';
