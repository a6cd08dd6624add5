import type { RequestListener } from 'node:http';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { BrowserContext, Page } from 'playwright-core';
import { fillLogin } from '../../examples/shop.ts';

const MARKUP = `<!doctype html><html lang="en"><title>client</title><p id="status" role="status"></p>
<button id="login">Log in</button><button id="renew">Renew</button><button id="logout">Log out</button>
<script type="module" src="/page.js"></script>`;

/**
 * Returns a listener that serves a page in `pages/` with the library that the page imports. It calls `config` whenever
 * the page requests its configuration.
 */
export async function pageListener(file: string, config: () => unknown): Promise<RequestListener> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(`pages/${file}`, import.meta.url))],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2022',
  });
  const script = outputFiles[0]!.text;
  return (request, response) => {
    const { pathname } = new URL(request.url!, 'http://127.0.0.1');
    const [type, text] =
      pathname === '/page.js'
        ? ['text/javascript', script]
        : pathname === '/config.json'
          ? ['application/json', JSON.stringify(config())]
          : ['text/html', MARKUP];
    response.setHeader('content-type', `${type}; charset=utf-8`).end(text);
  };
}

/** Resolves when the page's status line has this text. */
export async function says(page: Page, text: string): Promise<void> {
  await page.getByRole('status').getByText(text, { exact: true }).waitFor({ timeout: 30_000 });
}

/** Opens the page in a new tab. */
export async function openTab(context: BrowserContext, origin: string): Promise<Page> {
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  await page.goto(origin);
  return page;
}

/** Starts a login on the page and logs alice in. */
export async function logIn(page: Page): Promise<void> {
  await page.click('#login');
  await fillLogin(page);
}
