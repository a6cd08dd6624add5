import type { SmokeCheck, SmokeResult } from './options.ts';

/** Renders the checks of `idkit COMMAND` as JUnit XML for CI servers. Times are in seconds. */
export function renderJunit(
  command: 'smoke' | 'doctor',
  result: Pick<SmokeResult, 'checks' | 'failed' | 'notApplicable'>,
): string {
  const milliseconds = result.checks.reduce((sum, check) => sum + check.milliseconds, 0);
  const suite = [
    `name="idkit ${command}"`,
    `tests="${result.checks.length}"`,
    `failures="${result.failed}"`,
    `errors="0"`,
    `skipped="${result.notApplicable}"`,
    `time="${toSeconds(milliseconds)}"`,
  ].join(' ');
  const cases = result.checks.map((check) => renderCase(command, check)).join('');
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n  <testsuite ${suite}>\n${cases}  </testsuite>\n</testsuites>\n`;
}

function renderCase(command: string, check: SmokeCheck): string {
  const name = check.subject === undefined ? check.title : `${check.title} (${check.subject})`;
  const head = `    <testcase classname="idkit.${command}.${escapeXml(check.id)}" name="${escapeXml(name)}" time="${toSeconds(check.milliseconds)}"`;
  const detail = escapeXml(check.detail);
  switch (check.outcome) {
    case 'passed':
      return `${head}/>\n`;
    case 'failed':
      return `${head}>\n      <failure message="${detail}"/>\n    </testcase>\n`;
    case 'not-applicable':
      return `${head}>\n      <skipped message="does not apply: ${detail}"/>\n    </testcase>\n`;
  }
}

function toSeconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(3);
}

/**
 * Escapes text for XML. Control characters are replaced, because XML 1.0 §2.2 allows only tab, LF and CR, even if they
 * are escaped.
 */
function escapeXml(text: string): string {
  return text
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
    .replace(/[&<>"\t\r\n]/g, (character) => ENTITIES[character] ?? character);
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#9;',
  '\r': '&#13;',
  '\n': '&#10;',
};
