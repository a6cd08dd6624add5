import type { Component, PlatformInfo } from '../../platform/index.ts';
import type { ComponentRole } from '../../platform/open.ts';
import type { SmokeCheck } from '../smoke/options.ts';
import type { ChecklistRow } from './options.ts';

/** A row of the post-restore checklist and its evidence. */
interface Row {
  id: string;
  title: string;
  /** Ids of smoke checks. Every check that applies must have passed. */
  provenBy: readonly string[];
  /** Roles of the platform's parts. Each role must have at least one part, and all of them must be UP. */
  provenByParts?: readonly ComponentRole[];
  /** The reason why the row does not apply to a kind of platform. */
  absentOn?: Partial<Record<PlatformInfo['runtime'], string>>;
}

const ROWS: readonly Row[] = [
  {
    id: 'containers',
    title: 'the database and service containers are healthy',
    provenBy: [],
    provenByParts: ['database', 'service'],
    absentOn: {
      embedded:
        'the embedded platform has no containers; the readiness check covers the service and the database',
    },
  },
  { id: 'readiness', title: 'readiness reports status UP', provenBy: ['readiness'] },
  {
    id: 'proxy',
    title: 'the proxy is up',
    provenBy: [],
    provenByParts: ['proxy'],
    absentOn: { embedded: 'the embedded platform does not run a proxy' },
  },
  { id: 'discovery', title: 'discovery works for every realm', provenBy: ['discovery'] },
  { id: 'console-login', title: 'an admin console login works', provenBy: ['console-login'] },
  { id: 'm2m-token', title: 'an M2M token is obtained', provenBy: ['client-credentials'] },
  {
    id: 'protected-apis',
    title: 'protected APIs accept a valid token',
    provenBy: ['application-protected'],
  },
  { id: 'user-counts', title: 'user counts per realm match expectations', provenBy: ['user-count'] },
];

/** Judges every row. `unchecked` is the reason for a row without any evidence. */
export function makeChecklist(
  platform: PlatformInfo,
  checks: readonly SmokeCheck[],
  parts: readonly Component[],
  unchecked = 'this platform has no check for this',
): readonly ChecklistRow[] {
  return ROWS.map((row) => {
    const { id, title } = row;
    const absent = row.absentOn?.[platform.runtime];
    if (absent !== undefined) return { id, title, outcome: 'does not apply', detail: absent };
    if (row.provenByParts !== undefined) return { id, title, ...judgeParts(parts, row.provenByParts) };
    const proofs = checks.filter((check) => row.provenBy.includes(check.id));
    const failed = proofs.filter(({ outcome }) => outcome === 'failed');
    if (failed.length > 0) return { id, title, outcome: 'failed', detail: listDetails(failed) };
    const passed = proofs.filter(({ outcome }) => outcome === 'passed');
    if (passed.length > 0) return { id, title, outcome: 'done', detail: listDetails(passed) };
    const why = proofs.length === 0 ? unchecked : listDetails(proofs);
    return { id, title, outcome: 'does not apply', detail: why };
  });
}

function judgeParts(
  parts: readonly Component[],
  roles: readonly ComponentRole[],
): Pick<ChecklistRow, 'outcome' | 'detail'> {
  const own = parts.filter(({ role }) => roles.includes(role));
  const missing = roles.filter((role) => !own.some((part) => part.role === role));
  const bad = own.filter(({ health }) => health === 'DOWN');
  if (missing.length > 0) return { outcome: 'failed', detail: `no ${missing.join(' and no ')} was found` };
  const render = ({ name, image, state, detail }: Component) =>
    detail === undefined ? `${name} ${state} (${image})` : `${name}: ${detail}`;
  return bad.length > 0
    ? { outcome: 'failed', detail: bad.map(render).join('; ') }
    : { outcome: 'done', detail: own.map(render).join('; ') };
}

function listDetails(checks: readonly SmokeCheck[]): string {
  const details = checks.map(({ subject, detail }) =>
    subject === undefined ? detail : `${subject}: ${detail}`,
  );
  return [...new Set(details)].join('; ');
}
