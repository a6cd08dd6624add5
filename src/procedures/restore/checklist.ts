import type { PlatformDescription } from '../../runtime/index.ts';
import type { SmokeCheck } from '../smoke/contract.ts';
import type { ChecklistRow } from './contract.ts';

/** A row of the specification's post-restore checklist and the smoke checks that prove it. */
interface Row {
  id: string;
  title: string;
  /** Ids of smoke checks; all that apply must have passed. */
  provenBy: readonly string[];
  /** Why it does not apply on a platform of that kind. */
  absentOn?: Partial<Record<PlatformDescription['runtime'], string>>;
}

/** Spec "Post-restore checklist", row by row. */
const ROWS: readonly Row[] = [
  {
    id: 'containers',
    title: 'the database and service containers are healthy',
    provenBy: [],
    absentOn: { embedded: 'the embedded platform has no containers; readiness covers service and database' },
  },
  { id: 'readiness', title: 'readiness answers status UP', provenBy: ['readiness'] },
  {
    id: 'proxy',
    title: 'the proxy is up',
    provenBy: [],
    absentOn: { embedded: 'the embedded platform runs no proxy of its own' },
  },
  { id: 'discovery', title: 'discovery works for every realm', provenBy: ['discovery'] },
  { id: 'console-login', title: 'an admin console login works', provenBy: ['console-login'] },
  { id: 'm2m-token', title: 'an M2M token is obtained', provenBy: ['client-credentials'] },
  {
    id: 'protected-apis',
    title: 'protected APIs answer with a valid token',
    provenBy: ['application-protected'],
  },
  { id: 'user-counts', title: 'user counts per realm match expectations', provenBy: ['user-count'] },
];

/** Every row with done, failed, or why it does not apply. */
export function makeChecklist(
  platform: PlatformDescription,
  checks: readonly SmokeCheck[],
): readonly ChecklistRow[] {
  return ROWS.map((row) => {
    const { id, title } = row;
    const absent = row.absentOn?.[platform.runtime];
    if (absent !== undefined) return { id, title, outcome: 'does not apply', detail: absent };
    const proofs = checks.filter((check) => row.provenBy.includes(check.id));
    const failed = proofs.filter(({ outcome }) => outcome === 'failed');
    if (failed.length > 0) return { id, title, outcome: 'failed', detail: listDetails(failed) };
    const passed = proofs.filter(({ outcome }) => outcome === 'passed');
    if (passed.length > 0) return { id, title, outcome: 'done', detail: listDetails(passed) };
    const why = proofs.length === 0 ? 'nothing checks it on this platform' : listDetails(proofs);
    return { id, title, outcome: 'does not apply', detail: why };
  });
}

function listDetails(checks: readonly SmokeCheck[]): string {
  const told = checks.map(({ subject, detail }) =>
    subject === undefined ? detail : `${subject}: ${detail}`,
  );
  return [...new Set(told)].join('; ');
}
