import { html } from './html.ts';
import type { PagePlace } from './layout.ts';
import type { Texts } from './messages/texts.ts';
import { pagePolicy, submitScript } from './page-scripts.ts';
import type { RenderedPage } from './render.ts';
import { stylesheet } from './resources.ts';

/**
 * The page that posts a response to the client automatically (Form Post Response Mode §2). Only browsers that do not
 * run scripts display it, so only they load the stylesheet.
 */
export function renderFormPost(
  answer: { to: string; fields: readonly (readonly [name: string, value: string])[] },
  texts: Texts,
  place: PagePlace,
): RenderedPage {
  const title = texts.text('formPostTitle');
  const { markup } = html`<!DOCTYPE html>
<html lang="${texts.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<noscript><link rel="stylesheet" href="${place.basePath}${stylesheet.path}"></noscript>
</head>
<body>
<form method="post" action="${answer.to}">
${answer.fields.map(
  ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">
`,
)}<noscript><main class="card"><h1>${title}</h1><p>${texts.text('formPostMessage')}</p><div class="buttons"><button class="button main">${texts.text('doContinue')}</button></div></main></noscript>
</form>
${submitScript.element}
</body>
</html>
`;
  return { markup, policy: pagePolicy({ script: submitScript }) };
}
