import type { PageFrame } from '../../browser/index.ts';
import { PAGE_LOCALES } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import {
  findTexts,
  type HtmlValue,
  html,
  layout,
  pagePolicy,
  type RenderedPage,
  renderPage,
} from '../pages/index.ts';
import { pageTheme } from './page-theme.ts';
import { previewPages } from './preview-samples.ts';
import { renderProblem, type ThemeReading } from './theme.ts';

/** What a preview shows. */
export interface Preview {
  configuration: RealmConfiguration;
  theme: string;
  reading: ThemeReading;
  /** The URL of the preview's list of pages, without a trailing slash. */
  index: string;
  locale: string;
  basePath: string;
}

/**
 * The policy of a preview: that of the page, and no form can be sent.
 *
 * @param policy the policy of the page
 */
function inert(policy: string): string {
  return `${policy}; form-action 'none'`;
}

/** Renders the list of the preview's pages, with the problems of the theme. The preview is in English, as the console. */
export function renderPreviewIndex(preview: Preview): RenderedPage {
  const { configuration, theme, reading, index, basePath } = preview;
  const { problems } = reading;
  const texts = findTexts('en');
  const body: HtmlValue = [
    html`<p>This is how the pages of the realm ${configuration.realm.name} look with the theme ${theme}. The preview does not change what users see.</p>
`,
    problems.length > 0 &&
      html`<div class="alert alert-${reading.theme === undefined ? 'error' : 'warning'}" role="status">
${reading.theme === undefined ? html`<p>The theme has an error. The preview and the realms with this theme show idkit’s look.</p>` : undefined}<ul>
${problems.map(
  (problem) => html`<li>${renderProblem(problem)}</li>
`,
)}</ul></div>
`,
    html`<ul class="list">
${previewPages(index).map(
  ({ name, title }) => html`<li><a href="${index}/${name}">${title}</a></li>
`,
)}</ul>
`,
  ];
  const place = {
    basePath,
    ...(reading.theme === undefined ? {} : { theme: pageTheme(reading.theme, basePath) }),
  };
  const brand = texts.stored(configuration.realm.settings.displayName || configuration.realm.name);
  const markup = layout(
    { heading: `Preview of the theme ${theme}`, body, wide: true },
    { texts, place, brand },
  );
  return { markup, policy: inert(pagePolicy()) };
}

/** Renders a page of the preview. Returns undefined if the preview has no page of that name. */
export function renderPreviewPage(preview: Preview, name: string): RenderedPage | undefined {
  const { configuration, reading, index, locale, basePath } = preview;
  const found = previewPages(index).find((page) => page.name === name);
  if (found === undefined) return undefined;
  const { name: realm, settings } = configuration.realm;
  const own = settings.kept['localizationTexts'] as
    | Record<string, Record<string, unknown>>
    | null
    | undefined;
  const ownTexts = own?.[locale];
  const frame: PageFrame = {
    realm: { name: realm, displayName: settings.displayName || realm },
    locale,
    languages: PAGE_LOCALES.map((one) => ({ locale: one, url: `${index}/${name}?kc_locale=${one}` })),
    ...(ownTexts ? { ownTexts } : {}),
    ...(found.message === undefined ? {} : { message: found.message }),
  };
  const { markup, policy } = renderPage(frame, found.page, {
    basePath,
    ...(reading.theme === undefined ? {} : { theme: pageTheme(reading.theme, basePath) }),
    above: html`<aside class="preview" lang="en">Preview of the theme ${preview.theme}. The forms do not work. <a href="${index}">All pages</a></aside>`,
  });
  return { markup, policy: inert(policy) };
}
