import { renderCount } from '../../core/index.ts';
import { DRILL_LIMITS, type DrillResult } from './options.ts';

/** The style of the page, for a screen and for paper. It loads nothing. */
const STYLE = `
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; margin: 0 auto; max-width: 62rem; padding: 2rem 1.5rem; }
h1 { font-size: 1.7rem; margin: 0; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; border-bottom: 2px solid #d4d4d4; padding-bottom: .25rem; }
.verdict { display: inline-block; margin: .75rem 0; padding: .35rem .9rem; border: 2px solid; border-radius: .35rem; font-weight: 700; }
.passed { color: #12602f; } .failed { color: #a31515; } .none { color: #555; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem .35rem 0; border-bottom: 1px solid #e2e2e2; overflow-wrap: anywhere; }
th { font-weight: 600; }
td.number, th.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; padding-right: 1rem; }
table.facts th { width: 13rem; }
td.outcome { white-space: nowrap; font-weight: 600; width: 8.5rem; }
.bar { height: .6rem; background: #e7e7e7; width: 100%; min-width: 6rem; margin-top: .4rem; }
.bar span { display: block; height: 100%; background: #2f6fb2; min-width: 1px; }
.sign { display: flex; gap: 3rem; margin-top: 3rem; break-inside: avoid; }
.sign div { flex: 1; border-top: 1px solid #1a1a1a; padding-top: .3rem; font-size: .85rem; }
footer { margin-top: 2rem; font-size: .85rem; color: #444; }
code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere; }
@page { size: A4; margin: 16mm 15mm; }
@media print {
  body { max-width: none; padding: 0; font-size: 10pt; }
  h2 { break-after: avoid; margin-top: 1.2rem; }
  tr, .verdict { break-inside: avoid; }
  thead { display: table-header-group; }
  .bar, .bar span { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
}`;

/** Renders the report as one page that needs no other file, no script and no network. */
export function renderHtmlReport(result: DrillResult): string {
  const { source, outcome, milliseconds } = result;
  const name = source.set.split('/').at(-1) ?? source.set;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Restore drill of ${escapeHtml(name)}: ${outcome}</title>
<style>${STYLE}
</style>
</head>
<body>
<h1>Restore drill of ${escapeHtml(name)}</h1>
<p class="verdict ${outcome}">${outcome === 'passed' ? 'Passed' : 'Failed'} after ${seconds(milliseconds)}</p>
${renderProblems(result)}
<h2>What was restored</h2>
${facts(sourceFacts(result))}
${renderRealms(result)}
<h2>How long it took</h2>
${renderPhases(result)}
<h2>Checklist after the restore</h2>
${rows(result.checklist.map(({ outcome, title, detail }) => [mark(outcome), escapeHtml(title), escapeHtml(detail)]))}
<h2>Every check</h2>
${rows(result.checks.map(({ outcome, title, subject, detail }) => [mark(outcome), `${escapeHtml(title)}${subject === undefined ? '' : ` <code>${escapeHtml(subject)}</code>`}`, escapeHtml(detail)]))}
<h2>The live database</h2>
${renderLive(result)}
<h2>Differences and notes</h2>
${result.differences.length === 0 ? '<p>None.</p>' : `<ul>${result.differences.map((one) => `<li>${escapeHtml(one)}</li>`).join('')}</ul>`}
<div class="sign"><div>Reviewed by</div><div>Date</div><div>Signature</div></div>
<footer>Made by idkit ${escapeHtml(result.by.idkitVersion)} on ${escapeHtml(result.by.host)}. If the report has a <code>seal.gpg</code>, <code>sha256sum -c checksums.sha256 &amp;&amp; gpg --decrypt seal.gpg | sha256sum -c</code> with the passphrase of the backups shows whether a file was changed.</footer>
</body>
</html>
`;
}

function renderProblems({ failure, findings }: DrillResult): string {
  const problems = [...(failure === undefined ? [] : [failure]), ...findings].map(
    ({ code, message }) => `<li><code>${escapeHtml(code)}</code> ${escapeHtml(message)}</li>`,
  );
  return problems.length === 0 ? '' : `<ul class="failed">${problems.join('')}</ul>`;
}

function sourceFacts({
  source,
  startedAt,
  place,
  kind,
}: DrillResult): readonly (readonly [string, string | undefined])[] {
  return [
    ['Set', source.set],
    ['Restored moment', source.moment],
    ['Last transaction', source.restoredTo],
    ['Made at', source.madeAt],
    ['By', source.idkitVersion === undefined ? undefined : `idkit ${source.idkitVersion}`],
    ['Service', source.service],
    ['Database', source.database],
    [
      'Size',
      source.bytes === undefined
        ? undefined
        : `${megabytes(source.bytes)} compressed, ${megabytes(source.sqlBytes ?? 0)} of SQL`,
    ],
    [
      'Seal',
      source.seal === 'holds' ? 'valid: the set was made with the passphrase and is unchanged' : source.seal,
    ],
    ['Kind of platform', kind],
    ['Restored into', place],
    ['Started at', startedAt],
  ];
}

function renderRealms({ source }: DrillResult): string {
  const { realms = [] } = source;
  if (realms.length === 0) return '';
  const lines = realms.map(
    ({ realm, users }) =>
      `<tr><td>${escapeHtml(realm)}</td><td class="number">${users === undefined ? 'unknown' : users}</td></tr>`,
  );
  return `<h2>Realms</h2><table><thead><tr><th>Realm</th><th class="number">Users</th></tr></thead><tbody>${lines.join('')}</tbody></table>`;
}

function renderPhases({ phases, milliseconds }: DrillResult): string {
  const longest = Math.max(1, ...phases.map((phase) => phase.milliseconds));
  const lines = [...phases, { id: 'total', milliseconds }].map(({ id, milliseconds: taken }) => {
    const limit = limitOf(id);
    const late = limit !== undefined && taken > limit;
    const bar =
      id === 'total'
        ? ''
        : `<div class="bar"><span style="width:${((taken / longest) * 100).toFixed(1)}%"></span></div>`;
    return `<tr><td>${escapeHtml(id)}</td><td class="number">${seconds(taken)}</td><td class="number${late ? ' failed' : ''}">${limit === undefined ? '' : seconds(limit)}</td><td>${bar}</td></tr>`;
  });
  return `<table><thead><tr><th>Phase</th><th class="number">Duration</th><th class="number">Limit</th><th></th></tr></thead><tbody>${lines.join('')}</tbody></table>`;
}

function limitOf(phase: string): number | undefined {
  return (DRILL_LIMITS as Readonly<Record<string, number>>)[phase];
}

function renderLive({ live }: DrillResult): string {
  const { before = {}, after = {}, outcome, detail } = live;
  const names = Object.keys({ ...before, ...after });
  const head = `<p><strong class="${outcome === 'not checked' ? 'none' : outcome}">${escapeHtml(outcome)}</strong>: ${escapeHtml(detail)}</p>`;
  if (names.length === 0) return head;
  const lines = names.map(
    (name) =>
      `<tr><th>${escapeHtml(name)}</th><td>${escapeHtml(before[name] ?? '')}</td><td>${escapeHtml(after[name] ?? '')}</td></tr>`,
  );
  return `${head}<table class="facts"><thead><tr><th></th><th>Before</th><th>After</th></tr></thead><tbody>${lines.join('')}</tbody></table>`;
}

function facts(entries: readonly (readonly [string, string | undefined])[]): string {
  const lines = entries.flatMap(([name, value]) =>
    value === undefined ? [] : [`<tr><th>${escapeHtml(name)}</th><td>${escapeHtml(value)}</td></tr>`],
  );
  return `<table class="facts"><tbody>${lines.join('')}</tbody></table>`;
}

function rows(lines: readonly (readonly [string, string, string])[]): string {
  if (lines.length === 0) return '<p>No check ran.</p>';
  const body = lines.map(
    ([outcome, title, detail]) =>
      `<tr><td class="outcome">${outcome}</td><td>${title}</td><td>${detail}</td></tr>`,
  );
  return `<table><thead><tr><th>Outcome</th><th>Check</th><th>Evidence</th></tr></thead><tbody>${body.join('')}</tbody></table>`;
}

function mark(outcome: string): string {
  const kind =
    outcome === 'done' || outcome === 'passed' ? 'passed' : outcome === 'failed' ? 'failed' : 'none';
  const sign = { passed: '✓', failed: '✗', none: '–' }[kind];
  return `<span class="${kind}">${sign} ${escapeHtml(outcome.replace('-', ' '))}</span>`;
}

function seconds(milliseconds: number): string {
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(2)} s`;
  const minutes = Math.floor(milliseconds / 60_000);
  const rest = Math.round((milliseconds % 60_000) / 1000);
  return rest === 0 ? `${minutes} min` : `${minutes} min ${rest} s`;
}

function megabytes(bytes: number): string {
  return bytes < 1_000_000 ? renderCount(bytes, 'byte') : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Names of realms, users and files come from the set, which may be hostile. */
function escapeHtml(text: string): string {
  // Control characters and marks of direction could make a line look like another one.
  return text
    .replaceAll(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '\ufffd')
    .replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign);
}
