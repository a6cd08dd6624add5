import { decryptEnvironment, type PrivateKeys, SET_FILES } from '../../backupset/index.ts';
import type { AdminClient } from '../../client/index.ts';
import { checkMasterKey, parseEnvContent, type Settings } from '../../config/index.ts';
import { IdkitError, isJsonObject, Secret } from '../../core/index.ts';
import { type ItemExcerpt, type ItemName, openExcerpt } from '../../platform/open.ts';
import { isTrusted, untrustedSet } from '../restore/verified-set.ts';
import {
  beginRun,
  checkInterrupted,
  type Finding,
  type ProcedureOptions,
  type ProcedureResult,
} from '../run.ts';
import { dumpProgress, type InspectedSet, inspectSet } from './open-set.ts';

/** The steps of `backups restore-item`, for progress and logs. */
export const RESTORE_ITEM_STEPS = [
  { id: 'find', title: 'Find the record in the dump', why: 'the other records of the set are not needed' },
  {
    id: 'read',
    title: 'Read the record from the dump',
    why: 'its secrets are decrypted with the master key of the set',
  },
  {
    id: 'plan',
    title: 'Plan the changes',
    why: 'clashes with current records are found before anything changes',
  },
  {
    id: 'put back',
    title: 'Put the record back',
    why: 'the running service checks the rights of the administrator and encrypts the secrets again',
  },
] as const;

export interface RestoreItemOptions extends ProcedureOptions {
  /** The directory of the set. */
  set: string;
  item: ItemName;
  /** Opens the seal, and the environment of the set, which contains its master key. */
  passphrase?: Secret | undefined;
  /** Decrypts sets that are encrypted to public keys. */
  privateKeys?: PrivateKeys;
  trustUnsealed?: boolean;
  /** Plans and changes nothing. */
  dryRun?: boolean;
  /** Also returns existing records to their state in the set. */
  overwrite?: boolean;
  /** The running service. */
  admin: AdminClient;
  /** Asks for confirmation. Default: no question. */
  confirm?: (plan: ItemPlan) => Promise<boolean>;
}

/** What happens to one record. */
export interface ItemOutcome {
  action: 'created' | 'changed' | 'kept';
  kind: string;
  name: string;
  id: string;
}

/** What a put-back changes. It contains no secrets. */
export interface ItemPlan {
  set: string;
  realm: string;
  results: readonly ItemOutcome[];
  /** Current records that prevent the return. */
  clashes: readonly { kind: string; name: string; what: string }[];
  /** What is lost, because other records do not exist any more. */
  notes: readonly string[];
  /** Number of further requests, with up to 1,000 users each, that the plan does not contain. */
  further: number;
}

export interface RestoreItemResult extends ProcedureResult, ItemPlan {
  outcome: 'planned' | 'restored' | 'declined';
}

/**
 * Puts one realm, client, user or group of a set back into the running platform, through its administrative API.
 *
 * @throws IDKIT_NOT_FOUND, IDKIT_DAMAGED, IDKIT_CREDENTIALS, IDKIT_UNSEALED, IDKIT_MASTER_KEY_WRONG, IDKIT_VERSION;
 * IDKIT_FAILED if a current record clashes, and then nothing is changed
 */
export async function restoreItem(
  settings: Settings,
  options: RestoreItemOptions,
): Promise<RestoreItemResult> {
  const { reporter, signal, item } = options;
  const inspected = await inspectSet(options.set, options);
  const { set, seal } = inspected;
  if (!isTrusted({ seal }, options, undefined)) throw untrustedSet(set.name, seal, 'restore');
  const run = beginRun(RESTORE_ITEM_STEPS, options, (id) => options.dryRun !== true || id !== 'put back');
  const excerpt = await openExcerpt(set, item, {
    ...(await findMasterKeys(inspected, settings, options.passphrase)),
    signal,
    around: (id, work) => run.step(id, () => work(dumpProgress(reporter, id))),
  });
  try {
    const plan = await run.step('plan', () => planItem(set.name, excerpt, options));
    for (const note of plan.notes) reporter.note(note);
    for (const { what } of plan.clashes) run.finding('CLASH', what);
    const findings: readonly Finding[] = run.findings;
    if (options.dryRun === true) return { outcome: 'planned', ...plan, findings };
    if (plan.clashes.length > 0)
      throw new IdkitError(
        'IDKIT_FAILED',
        `nothing was put back: ${plan.clashes.map(({ what }) => what).join('; ')}`,
        {
          hints: ['--dry-run prints the whole plan'],
        },
      );
    if (options.confirm !== undefined && !(await options.confirm(plan)))
      return { outcome: 'declined', ...plan, findings };
    const results = await run.step('put back', () => putBackItem(excerpt, options));
    return { outcome: 'restored', ...plan, ...results, further: 0, findings };
  } finally {
    await excerpt.close();
  }
}

/** Returns the master keys with which the set was made: from its environment, else those of this platform. */
async function findMasterKeys(
  inspected: InspectedSet,
  settings: Settings,
  passphrase: Secret | undefined,
): Promise<{ masterKey: Secret; masterKeyOld?: Secret | undefined }> {
  const environment = await findEnvironment(inspected, passphrase);
  if (environment !== undefined) {
    const values = parseEnvContent(environment, SET_FILES.environment);
    const [own, old] = [values.get('IDKIT_MASTER_KEY'), values.get('IDKIT_MASTER_KEY_OLD')];
    const masterKeyOld = old === undefined || old === '' ? undefined : new Secret(old);
    if (own !== undefined && own !== '') return { masterKey: checkMasterKey(new Secret(own)), masterKeyOld };
  }
  return { masterKey: checkMasterKey(settings.masterKey), masterKeyOld: settings.masterKeyOld };
}

async function findEnvironment(
  { set, isEncrypted }: InspectedSet,
  passphrase: Secret | undefined,
): Promise<Uint8Array | undefined> {
  if (!set.names.includes(SET_FILES.environment)) return undefined;
  if (isEncrypted) return set.read(SET_FILES.environment);
  if (passphrase === undefined) return undefined;
  const opened = await decryptEnvironment(await set.read(SET_FILES.environment), passphrase);
  if (opened.outcome === 'wrong passphrase')
    throw new IdkitError('IDKIT_CREDENTIALS', `${SET_FILES.environment} does not open with this passphrase`);
  return opened.outcome === 'opened' ? opened.bytes : undefined;
}

async function planItem(set: string, excerpt: ItemExcerpt, options: RestoreItemOptions): Promise<ItemPlan> {
  const { item, admin } = options;
  const empty = { set, realm: item.realm, results: [], clashes: [], notes: [], further: 0 };
  const current = await findRealm(admin, item.realm);
  if (excerpt.realm === undefined && current === undefined)
    throw new IdkitError('IDKIT_NOT_FOUND', `the service has no realm ${item.realm}`, {
      hints: [`put the whole realm back with --realm ${item.realm} alone`],
    });
  if (excerpt.realm !== undefined && current === undefined) {
    const users = await countUsers(excerpt);
    const results = [
      { action: 'created' as const, kind: 'realm', name: item.realm, id: excerpt.realmId },
      ...users.map((user): ItemOutcome => ({ action: 'created', kind: 'user', ...user })),
    ];
    const note = `administrators of master who had roles for realm ${item.realm} only must get them again`;
    return { ...empty, results, notes: [note] };
  }
  if (excerpt.realm !== undefined && current !== excerpt.realmId) {
    const what = `realm ${item.realm} exists with another id; rename or delete it, and put the realm back again`;
    return { ...empty, clashes: [{ kind: 'realm', name: item.realm, what }] };
  }
  let plan: ItemPlan = empty;
  if (excerpt.realm !== undefined)
    plan = { ...plan, results: [{ action: 'kept', kind: 'realm', name: item.realm, id: excerpt.realmId }] };
  let requests = 0;
  for await (const body of excerpt.bodies()) {
    checkInterrupted(options.signal);
    requests += 1;
    // The members of later requests have roles and groups that the first request creates.
    if (requests > 1 && excerpt.realm === undefined) continue;
    plan = joined(plan, await send(options, body, true));
  }
  return { ...plan, further: excerpt.realm === undefined ? Math.max(0, requests - 1) : 0 };
}

async function putBackItem(
  excerpt: ItemExcerpt,
  options: RestoreItemOptions,
): Promise<Pick<ItemPlan, 'results' | 'notes'>> {
  const { admin, item } = options;
  let plan: ItemPlan = { set: '', realm: item.realm, results: [], clashes: [], notes: [], further: 0 };
  if (excerpt.realm !== undefined) {
    const exists = (await findRealm(admin, item.realm)) !== undefined;
    if (!exists) await admin.call('POST', '', await excerpt.realm());
    const outcome = { kind: 'realm', name: item.realm, id: excerpt.realmId };
    plan = { ...plan, results: [{ action: exists ? 'kept' : 'created', ...outcome }] };
  }
  for await (const body of excerpt.bodies()) {
    checkInterrupted(options.signal);
    plan = joined(plan, await send(options, body, false));
  }
  return { results: plan.results, notes: plan.notes };
}

/** Returns the names of the users of a realm's excerpt. */
async function countUsers(excerpt: ItemExcerpt): Promise<{ name: string; id: string }[]> {
  const users: { name: string; id: string }[] = [];
  for await (const { records } of excerpt.bodies()) {
    const list = isJsonObject(records) ? records['users'] : undefined;
    for (const user of Array.isArray(list) ? (list as unknown[]) : [])
      if (isJsonObject(user)) users.push({ name: String(user['username']), id: String(user['id']) });
  }
  return users;
}

/** Returns the id of a realm, or undefined if the service does not have it. */
async function findRealm(admin: AdminClient, realm: string): Promise<string | undefined> {
  const response = await admin.request({ method: 'GET', path: `/admin/realms/${encodeURIComponent(realm)}` });
  if (response.status === 404) return undefined;
  const record = await admin.getRealm(realm);
  return String(record['id']);
}

async function send(
  { admin, item, overwrite }: RestoreItemOptions,
  body: Record<string, unknown>,
  dryRun: boolean,
): Promise<Pick<ItemPlan, 'results' | 'clashes' | 'notes'>> {
  const query = `?dryRun=${dryRun}&overwrite=${overwrite === true}`;
  const { body: plan } = await admin.call(
    'POST',
    `/${encodeURIComponent(item.realm)}/put-back${query}`,
    body,
  );
  if (!isJsonObject(plan)) throw new IdkitError('IDKIT_FAILED', 'the service did not return a plan');
  const list = (name: string) => (Array.isArray(plan[name]) ? plan[name] : []) as never[];
  return { results: list('results'), clashes: list('clashes'), notes: list('notes') };
}

function joined(plan: ItemPlan, more: Pick<ItemPlan, 'results' | 'clashes' | 'notes'>): ItemPlan {
  return {
    ...plan,
    results: [...plan.results, ...more.results],
    clashes: [...plan.clashes, ...more.clashes],
    notes: [...new Set([...plan.notes, ...more.notes])],
  };
}
