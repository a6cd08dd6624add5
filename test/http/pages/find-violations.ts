import axe from 'axe-core';
import type { Page } from 'playwright-core';

interface Violation {
  id: string;
  nodes: readonly { html: string; failureSummary?: string }[];
}

/** What axe-core finds wrong with a page as it stands: WCAG 2.2 AA and its best practices. */
export async function findViolations(page: Page): Promise<readonly string[]> {
  // Evaluated by the debugger, so the page's own policy stays in force.
  await page.evaluate(axe.source);
  const found = (await page.evaluate(
    "axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'], resultTypes: ['violations'] })",
  )) as { violations: readonly Violation[] };
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.html} ${node.failureSummary ?? ''}`),
  );
}
