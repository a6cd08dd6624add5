// Pages: the HTML of each page, its texts in every language, the stylesheet and the Content-Security-Policy.
// Not decided here: which page a request gets (src/browser), and its status and headers (../browser).
// Start at render.ts, which has the table of pages.
export { renderFormPost } from './form-post.ts';
export { type HtmlValue, html, safeLink } from './html.ts';
export { type FooterLink, layout, type PageContent, type PagePlace, type PageTheme } from './layout.ts';
export { findTextPlaceholders, findTexts, loadTexts, type OwnTexts } from './messages/texts.ts';
export { pagePolicy } from './page-scripts.ts';
export { type RenderedPage, renderPage, renderPlainError, textsOf } from './render.ts';
export { RESOURCES, type Resource } from './resources.ts';
export { cookieSteps, loginStatusPage } from './session-pages.ts';
