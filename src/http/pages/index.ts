// Pages: the HTML of each page, its texts in every language, the stylesheet and the Content-Security-Policy.
// Not decided here: which page a request gets (src/browser), and its status and headers (../browser).
// Start at render.ts, which has the table of pages.
export { renderFormPost } from './form-post.ts';
export { safeLink } from './html.ts';
export type { PagePlace } from './layout.ts';
export { findTexts } from './messages/texts.ts';
export { type RenderedPage, renderPage, renderPlainError } from './render.ts';
export { RESOURCES, type Resource } from './resources.ts';
export { cookieSteps, loginStatusPage } from './session-pages.ts';
