import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import axe from 'axe-core';
import fc from 'fast-check';
import { RESOURCES, renderPage } from '../../../src/http/pages/index.ts';
import { accountSamples } from './account-samples.ts';
import { launchBrowser, missingBrowser } from './chromium.ts';
import { readElements, shapeOf } from './read-page.ts';
import { PLAIN, type Texts } from './samples.ts';

const skip = missingBrowser();
const place = { basePath: '' };

const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom('<', '>', '"', "'", '&', '`', '=', '/', '${', '}', '{count}', '\0', '\n', ' '),
      fc.constantFrom('<script>alert(1)</script>', '"><img src=x onerror=alert(1)>', "' onfocus='alert(1)"),
      fc.constantFrom('javascript:alert(1)', '</h2>', '</dl>', '</form>', '<!--', '&lt;', '<svg/onload=x>'),
      fc.string({ unit: 'binary', maxLength: 4 }),
    ),
    { minLength: 1, maxLength: 8 },
  )
  .map((parts) => parts.join(''))
  .filter((text) => text.trim() !== '');

const hostileTexts = fc.record(
  Object.fromEntries(Object.keys(PLAIN).map((key) => [key, hostile])) as Record<
    keyof Texts,
    fc.Arbitrary<string>
  >,
);

test('no stored or submitted text changes the elements of an account page (XSS)', () => {
  const shapes = new Map(
    accountSamples().map(({ name, frame, page }) => [name, shapeOf(renderPage(frame, page, place).markup)]),
  );
  fc.assert(
    fc.property(hostileTexts, (texts) => {
      for (const { name, frame, page } of accountSamples(texts)) {
        const { markup } = renderPage(frame, page, place);
        assert.deepEqual(shapeOf(markup), shapes.get(name), name);
        for (const { attributes } of readElements(markup))
          assert.doesNotMatch(attributes['href'] ?? '', /^\s*javascript:/i);
      }
    }),
    { numRuns: 60 },
  );
});

test('links to the home page of a client only if its URL is http or https', () => {
  const sample = accountSamples({ ...PLAIN, value: 'javascript:alert(1)' }).find(
    ({ name }) => name === 'applications',
  )!;
  const links = readElements(renderPage(sample.frame, sample.page, place).markup)
    .filter(({ tag }) => tag === 'a')
    .map(({ attributes }) => attributes['href']);
  assert.ok(links.includes('https://orders.example/'));
  assert.ok(!links.includes('javascript:alert(1)'));
});

test('every form of an account page has the state checker and posts to an account page (CSRF)', () => {
  for (const { name, frame, page } of accountSamples()) {
    const { markup, policy } = renderPage(frame, page, place);
    assert.match(
      policy,
      /^default-src 'none'; style-src 'self'; img-src 'self'; (script-src 'sha256-[^']+'; )?frame-ancestors 'self'/,
    );
    const forms = markup.split('<form').slice(1);
    assert.ok(forms.length > 0, name);
    for (const form of forms) {
      assert.match(form, /^[^>]* action="\/realms\/acme\/account\/[a-z/-]*" method="post"/, name);
      const inside = form.slice(0, form.indexOf('</form>'));
      assert.match(inside, /<input type="hidden" name="stateChecker" value="state">/, name);
    }
  }
});

test('a user with only view rights sees no form except the sign-out form', () => {
  for (const { name, frame, page } of accountSamples().filter((one) => one.name.endsWith('read-only'))) {
    const forms = readElements(renderPage(frame, page, place).markup).filter(({ tag }) => tag === 'form');
    assert.deepEqual(
      forms.map(({ attributes }) => attributes['id']),
      ['kc-account-logout'],
      name,
    );
  }
});

test('shows times in the reader’s language and with their time zone', () => {
  const devices = (locale: string) => {
    const { frame, page } = accountSamples(PLAIN, locale).find(({ name }) => name === 'devices')!;
    return readElements(renderPage(frame, page, place).markup).find(({ tag }) => tag === 'time')!;
  };
  assert.deepEqual(devices('en'), {
    tag: 'time',
    attributes: { datetime: '2027-01-15T08:00:00.000Z' },
    text: 'Jan 15, 2027, 08:00 UTC',
  });
  assert.match(devices('de').text, /^15\. Jan\. 2027, 08:00 UTC$/);
});

test('account pages pass axe’s accessibility checks, in light and dark mode and on a phone', {
  skip,
}, async (t) => {
  const pages = new Map<string, { markup: string; policy: string }>();
  for (const locale of ['en', 'de', 'fr', 'ja'])
    for (const { name, frame, page } of accountSamples(undefined, locale))
      pages.set(`/${locale}/${encodeURIComponent(name)}`, renderPage(frame, page, place));
  const server = createServer((request, response) => {
    const resource = RESOURCES.find(({ path }) => path === request.url);
    const page = pages.get(request.url!);
    response.setHeader('content-type', resource?.contentType ?? 'text/html;charset=utf-8');
    if (page !== undefined) response.setHeader('content-security-policy', page.policy);
    response.end(resource?.content ?? page?.markup ?? '');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const browser = await launchBrowser();
  t.after(() => browser.close());
  const problems: string[] = [];
  for (const [colorScheme, width, language] of [
    ['light', 1280, 'en'],
    ['dark', 1280, 'de'],
    ['light', 390, 'de'],
    ['dark', 390, 'en'],
    ['light', 320, 'fr'],
    ['dark', 1280, 'ja'],
  ] as const) {
    const context = await browser.newContext({ colorScheme, viewport: { width, height: 720 } });
    const page = await context.newPage();
    page.on('console', (message) => problems.push(`${page.url()}: ${message.text()}`));
    for (const path of [...pages.keys()].filter((one) => one.startsWith(`/${language}/`))) {
      await page.goto(origin + path);
      await page.evaluate(axe.source);
      const found = (await page.evaluate(
        "axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })",
      )) as {
        violations: readonly { id: string; nodes: readonly { html: string; failureSummary?: string }[] }[];
      };
      for (const { id, nodes } of found.violations)
        for (const node of nodes)
          problems.push(`${colorScheme} ${width} ${path}: ${id}: ${node.html} ${node.failureSummary ?? ''}`);
      const overflow = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'));
      if (overflow > 0) problems.push(`${width} ${path}: ${overflow} px wider than the window`);
    }
    await context.close();
  }
  assert.ok(pages.size > 10);
  assert.deepEqual(problems, []);
});
