import { createHash } from 'node:crypto';

/** The part of the stylesheet for the account pages. */
const ACCOUNT_STYLES = `
.wide { place-content: start center; grid-template-columns: minmax(0, 46rem); }
.wide .field, .wide .buttons { max-width: 27rem; }
.wide .card > :last-child { margin-bottom: 0; }
.pages { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem; margin: 0 0 1rem; font-size: .9375rem; }
.pages a { padding: .5rem .75rem; border-radius: .6rem; color: inherit; font-weight: 550; text-decoration: none; }
.pages a:hover { color: var(--accent); }
.pages [aria-current] { background: var(--card); box-shadow: inset 0 0 0 1px var(--line); }
.pages form { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem .75rem; margin-left: auto; }
.button.small { flex: none; min-width: 0; min-height: 2.25rem; padding: .25rem .8rem; font-size: .875rem; }
.items { margin: 0 0 1.25rem; padding: 0; list-style: none; }
.item { display: flex; flex-wrap: wrap; align-items: start; justify-content: space-between; gap: .75rem 1rem; padding: 1rem 0; border-top: 1px solid var(--line); }
.item > div { flex: 1 1 16rem; min-width: 0; }
dl { display: grid; gap: .15rem; margin: 0; font-size: .9375rem; }
dl div { display: flex; flex-wrap: wrap; gap: 0 .5rem; }
dt { color: var(--quiet); }
dd { min-width: 0; margin: 0; }
.item p { margin: 0 0 .5rem; }
.badge { display: inline-block; padding: .05rem .5rem; border-radius: 1rem; background: var(--note-ground); color: var(--note); font-size: .8125rem; font-weight: 550; }
@media (max-width: 30rem) {
  .pages { margin: 0 -.5rem 1.5rem; padding: 0 0 1rem; border-bottom: 1px solid var(--line); }
  .pages a { padding: .5rem; }
  .pages form { flex: 1 1 100%; justify-content: space-between; margin: .25rem 0 0; padding: 0 .5rem; }
  .pages [aria-current] { text-decoration: underline; box-shadow: none; }
}
`;

/**
 * The stylesheet of all pages: light and dark, for widths from 280 px, without fonts or images. Every text has a
 * contrast of at least 4.5:1 to its background. Every edge and focus ring of a control has at least 3:1 (WCAG 2.2
 * §1.4.3, §1.4.11). test/http/pages/browser.test.ts measures that with axe. The submit button ignores a second click,
 * because a double click would send the form twice and the second request would be outdated.
 */
const SOURCE = `
:root {
  color-scheme: light dark;
  --ground: #eef1f6;
  --glow: #dfe7f7;
  --card: #fff;
  --line: #e1e5ec;
  --edge: #838c9b;
  --text: #171b23;
  --quiet: #545d6c;
  --accent: #2450c8;
  --strong: #1b3fa3;
  --on-accent: #fff;
  --bad: #b3261e;
  --bad-ground: #fdeeec;
  --note: #1f4fae;
  --note-ground: #ebf1fd;
  --good: #17663a;
  --good-ground: #e8f5ed;
  --warn: #7d4e00;
  --warn-ground: #fdf3df;
  --shade: 0 1px 2px #10182814, 0 12px 32px #1018281a;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0e1116;
    --glow: #17202f;
    --card: #181c23;
    --line: #2a303a;
    --edge: #737d8c;
    --text: #eef1f5;
    --quiet: #a8b1bf;
    --accent: #8fb0ff;
    --strong: #b0c8ff;
    --on-accent: #0b1530;
    --bad: #ffb4ab;
    --bad-ground: #3a1a18;
    --note: #a9c4ff;
    --note-ground: #182544;
    --good: #8fdbab;
    --good-ground: #14301f;
    --warn: #f4c875;
    --warn-ground: #362812;
    --shade: 0 1px 2px #0006, 0 16px 40px #0007;
  }
}
*, ::before, ::after { box-sizing: border-box; }
[hidden] { display: none !important; }
html { min-height: 100%; -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  display: grid;
  place-content: center;
  grid-template-columns: minmax(0, 27rem);
  min-height: 100vh;
  min-height: 100svh;
  margin: 0;
  padding: 2rem 1rem;
  background: radial-gradient(60rem 30rem at 50% -8rem, var(--glow), transparent) no-repeat, var(--ground);
  color: var(--text);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif;
  overflow-wrap: anywhere;
}
.brand {
  display: flex;
  align-items: center;
  justify-content: center;
  gap: .65rem;
  margin: 0 0 1.25rem;
  font-size: 1.0625rem;
  font-weight: 600;
  letter-spacing: -.005em;
}
.brand img { max-width: 100%; max-height: 3.5rem; }
.mark {
  display: grid;
  flex: none;
  place-content: center;
  width: 2rem;
  height: 2rem;
  border-radius: .55rem;
  background: var(--accent);
  color: var(--on-accent);
  font-weight: 700;
}
.card {
  padding: 2rem;
  border: 1px solid var(--line);
  border-radius: 1rem;
  background: var(--card);
  box-shadow: var(--shade);
}
h1 { margin: 0 0 1.25rem; font-size: 1.5rem; font-weight: 650; letter-spacing: -.015em; line-height: 1.25; text-wrap: balance; }
h2 { margin: 0 0 .5rem; font-size: 1rem; font-weight: 600; }
p { margin: 0 0 1rem; }
.quiet { color: var(--quiet); font-size: .9375rem; }
.alert {
  margin: 0 0 1.25rem;
  padding: .7rem .9rem;
  border-left: .25rem solid;
  border-radius: .5rem;
  font-size: .9375rem;
}
.alert-error { background: var(--bad-ground); color: var(--bad); }
.alert-info { background: var(--note-ground); color: var(--note); }
.alert-success { background: var(--good-ground); color: var(--good); }
.alert-warning { background: var(--warn-ground); color: var(--warn); }
form { margin: 0; }
.field { margin: 0 0 1.125rem; }
.field label, legend { display: block; margin: 0 0 .35rem; padding: 0; font-size: .9375rem; font-weight: 550; }
.star { color: var(--bad); }
.field input {
  width: 100%;
  height: 2.875rem;
  padding: 0 .85rem;
  border: 1px solid var(--edge);
  border-radius: .6rem;
  background: var(--card);
  color: inherit;
  font: inherit;
}
.field input:hover { border-color: var(--accent); }
.field input[readonly] { border-style: dashed; color: var(--quiet); }
.field input[aria-invalid] { border-color: var(--bad); box-shadow: inset 0 0 0 1px var(--bad); }
.field .fault { margin: .35rem 0 0; color: var(--bad); font-size: .875rem; }
.control { position: relative; }
.control input { padding-right: 3rem; }
.reveal { position: absolute; inset: 0 0 0 auto; display: grid; place-content: center; width: 2.875rem; border: 0; border-radius: .6rem; background: none; color: var(--quiet); cursor: pointer; }
.reveal:hover { color: var(--accent); }
.reveal svg { width: 1.35rem; fill: none; stroke: currentColor; stroke-width: 1.75; }
.reveal .slash { display: none; }
.reveal.shown .slash { display: inline; }
.rules p { margin: 0 0 .25rem; }
.rules ul, .alert ul { margin: 0; padding-left: 1.2rem; }
.rules { margin: 0 0 1rem; }
.broken { color: var(--bad); }
details p { margin: .35rem 0 1rem; }
summary { cursor: pointer; }
.preview { margin: 0 0 1.25rem; padding: .6rem .9rem; border: 1px dashed var(--edge); border-radius: .6rem; font-size: .9375rem; }
.field .code { font-size: 1.25rem; font-variant-numeric: tabular-nums; letter-spacing: .2em; }
:focus-visible { outline: .1875rem solid var(--accent); outline-offset: .125rem; }
.choice { display: flex; align-items: center; gap: .6rem; min-height: 2.75rem; font-size: .9375rem; }
.choice input { flex: none; width: 1.15rem; height: 1.15rem; margin: 0; accent-color: var(--accent); }
fieldset { min-width: 0; margin: 0 0 1rem; padding: 0; border: 0; }
.buttons { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: 1.5rem; }
.button {
  display: grid;
  flex: 1 1 0;
  min-width: fit-content;
  place-content: center;
  min-height: 2.875rem;
  padding: .5rem 1rem;
  border: 1px solid var(--edge);
  border-radius: .6rem;
  background: transparent;
  color: inherit;
  font: inherit;
  font-weight: 600;
  text-align: center;
  text-decoration: none;
  white-space: normal;
  cursor: pointer;
}
.button:hover { border-color: var(--accent); color: var(--accent); }
.button.main { border-color: transparent; background: var(--accent); color: var(--on-accent); }
.button.main:hover { background: var(--strong); }
form .button:focus:not(:focus-visible, :active) { pointer-events: none; }
a { color: var(--accent); text-underline-offset: .2em; }
a:hover { color: var(--strong); }
.more { margin: 1.25rem 0 0; font-size: .9375rem; text-align: center; }
.list { margin: 0 0 1.25rem; padding: 0; list-style: none; }
.list li { display: flex; gap: .7rem; padding: .6rem 0; border-top: 1px solid var(--line); }
.list li:last-child { border-bottom: 1px solid var(--line); }
.list li::before { content: ""; flex: none; width: .5rem; height: .5rem; margin-top: .5rem; border-radius: 50%; background: var(--accent); }
.languages { display: flex; flex-wrap: wrap; justify-content: center; gap: .25rem .5rem; margin-top: 1.25rem; font-size: .875rem; }
.languages a { padding: .25rem .5rem; }
.languages [aria-current] { color: var(--text); font-weight: 600; text-decoration: none; }
@media (max-width: 30rem) {
  body { place-content: start stretch; grid-template-columns: minmax(0, 1fr); padding: 1.25rem 1.25rem 2rem; background: var(--card); }
  .brand { justify-content: start; }
  .card { padding: 0; border: 0; border-radius: 0; box-shadow: none; }
  .languages { justify-content: start; margin-left: -.5rem; }
}
${ACCOUNT_STYLES}
@media (forced-colors: active) {
  .mark { border: 1px solid; }
}
`;

/** The stylesheet without optional whitespace. */
const STYLESHEET = SOURCE.replace(/\s*\n\s*/g, '').replace(/\s*([{};,])\s*|(:) (?=[^ ])/g, '$1$2');

/** A file that pages load. Its name contains a hash of its content, so browsers may cache it forever. */
export interface Resource {
  /** The path below the base URL, beginning with `/resources/`. */
  path: string;
  contentType: string;
  content: string;
}

/** The icon of the browser's tab: a key in the accent colour. */
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#2450c8"/>' +
  '<path d="M20 7a6 6 0 0 0-5.7 7.9L7 22.2V26h3.8v-2.6h2.6v-2.6H16l1.1-1.1A6 6 0 1 0 20 7Zm1.6 6a1.6 1.6 0 1 1 0-3.2 1.6 1.6 0 0 1 0 3.2Z" fill="#fff"/></svg>';

export const stylesheet = resource('pages', 'css', 'text/css;charset=utf-8', STYLESHEET);
export const icon = resource('icon', 'svg', 'image/svg+xml', ICON);

/** Every file that the pages load. */
export const RESOURCES: readonly Resource[] = [stylesheet, icon];

function resource(name: string, extension: string, contentType: string, content: string): Resource {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 16);
  return { path: `/resources/${name}-${hash}.${extension}`, contentType, content };
}
