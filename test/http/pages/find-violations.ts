import axe from 'axe-core';
import type { Page } from 'playwright-core';

interface Violation {
  id: string;
  nodes: readonly { html: string; failureSummary?: string }[];
}

/** Returns the violations of WCAG 2.2 AA and of best practices that axe-core finds on a page. */
export async function findViolations(page: Page): Promise<readonly string[]> {
  // The debugger evaluates the script, so the page's Content-Security-Policy remains active.
  await page.evaluate(axe.source);
  const found = (await page.evaluate(
    "axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'], resultTypes: ['violations'] })",
  )) as { violations: readonly Violation[] };
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.html} ${node.failureSummary ?? ''}`),
  );
}
