import assert from 'node:assert/strict';
import { type AdminRow, adminRows } from '../../../../src/http/admin/index.ts';
import { type AdminApi, adminApi } from '../../administrator.ts';
import { login, type TestService } from '../../service.ts';
import { KINDS, type PairKind, type Place, realmOf, type Sample } from './place.ts';
import { SAMPLES } from './samples.ts';

/** Number of pairs that run in parallel. Each pair changes its own record. */
const AT_ONCE = 6;

/** Routes that write records which their path does not name. moves.ts tests them. */
const APART: ReadonlySet<string> = new Set(['PUT  client', 'DELETE  client', 'DELETE  role']);

/** A route that writes records of a kind, with a sample request for it. */
interface Writer {
  row: AdminRow;
  sample: Sample;
}

/** Returns every administrative route that writes records of the kind. Fails for a route without a sample. */
function writersOf(kind: PairKind): Writer[] {
  return adminRows.flatMap((row) => {
    const name = `${row.method} ${row.path}`;
    if (!('writes' in row) || !row.writes.some((written) => written.kind === kind)) return [];
    if (APART.has(`${name} ${kind}`)) return [];
    const sample = SAMPLES[`${name} ${kind}`] ?? SAMPLES[name];
    assert.ok(sample, `no sample of ${name}, which writes records of kind ${kind}`);
    return [{ row, sample }];
  });
}

function ownerIn({ path }: AdminRow): Place['owner'] | undefined {
  if (path.startsWith('/clients/:client/roles')) return 'client';
  return path.startsWith('/roles/') ? 'realm' : undefined;
}

interface Pair {
  writers: readonly [Writer, Writer];
  owner: Place['owner'];
}

function pairsOf(kind: PairKind): Pair[] {
  const writers = writersOf(kind);
  return writers.flatMap((one, index) =>
    writers.slice(index).flatMap((other): Pair[] => {
      const owners = [ownerIn(one.row), ownerIn(other.row)].filter((owner) => owner !== undefined);
      // A role belongs either to the realm or to a client, so a route for each kind cannot form a pair.
      if (kind === 'role' && new Set(owners).size > 1) return [];
      return [{ writers: [one, other], owner: kind === 'role' ? (owners[0] ?? 'realm') : 'realm' }];
    }),
  );
}

/** Returns the path of a route below the realm, with the ids of the place's records. */
function pathOf({ row, sample }: Writer, place: Place): string {
  const role = place.owner === 'realm' ? place.the : `owner-${place.the}`;
  const params: Record<string, string> = {
    id: place.kind === 'role' ? role : place.the,
    client: place.kind === 'role' ? 'owner' : place.the,
    scope: place.the,
    name: role,
    ...sample.params?.(place),
  };
  return row.path.replace(/:(\w+)/g, (_, name: string) => params[name]!);
}

/**
 * Runs every pair of the kind, calls the two routes of a pair at different services, and checks that no change is lost.
 */
async function runKind(kind: PairKind, services: readonly TestService[]): Promise<number> {
  const token = (await login(services[0]!))['access_token']!;
  const apis = [services[0]!, services.at(-1)!].map((service) => adminApi(service, token));
  const pairs = pairsOf(kind);
  const places = await prepare(kind, pairs, apis);
  const waiting = [...pairs.entries()];
  const run = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop())
      await runPair(next[1], places[next[0]]!);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, run));
  // Delete the realm, because the records of the next kind have the same ids.
  if (kind !== 'realm') await apis[0]!('DELETE', `/pairs-of-${kind}`);
  return pairs.length;
}

async function prepare(
  kind: PairKind,
  pairs: readonly Pair[],
  apis: readonly AdminApi[],
): Promise<Place[][]> {
  const [api] = apis as [AdminApi];
  const realms = kind === 'realm' ? pairs.map((_, index) => `pair-${index}`) : [`pairs-of-${kind}`];
  for (const realm of realms) {
    const made = await api('POST', '', realmOf(kind, realm, pairs.length));
    assert.equal(made.status, 201, JSON.stringify(made.json));
  }
  return Promise.all(
    pairs.map(async ({ owner }, index) => {
      const realm = realms[index] ?? realms[0]!;
      const the = kind === 'component' ? await makeComponent(api, realm) : `the-${index}`;
      return (['a', 'b'] as const).map(
        (side, at): Place => ({
          kind,
          side,
          the,
          owner,
          call: (method, path, body) => apis[at]!(method, `/${realm}${path}`, body),
        }),
      );
    }),
  );
}

async function makeComponent(api: AdminApi, realm: string): Promise<string> {
  const made = await api('POST', `/${realm}/components`, { name: 'key', providerId: 'hmac-generated' });
  assert.equal(made.status, 201, JSON.stringify(made.json));
  return made.headers.get('location')!.split('/').at(-1)!;
}

/** The statuses that a route may return if the other route makes its change impossible. */
const REFUSED: ReadonlySet<number> = new Set([404, 409, 503]);

async function runPair({ writers }: Pair, places: readonly Place[]): Promise<void> {
  for (const [at, { sample }] of writers.entries()) await sample.prepare?.(places[at]!);
  const answers = await Promise.all(
    writers.map((writer, at) =>
      places[at]!.call(writer.row.method, pathOf(writer, places[at]!), writer.sample.body?.(places[at]!)),
    ),
  );
  const statuses = answers.map(({ status }) => status);
  const title = `${writers.map(({ row }) => `${row.method} ${row.path}`).join(' × ')}: ${statuses}`;
  for (const { status, json } of answers)
    assert.ok(status < 300 || REFUSED.has(status), `${title} ${JSON.stringify(json)}`);
  const done = statuses.map((status) => status < 300);
  assert.ok(done.includes(true), title);
  const seen = await Promise.all(writers.map(({ sample }, at) => sample.seen(places[at]!)));
  checkSeen(
    writers.map(({ sample }) => sample),
    done,
    seen,
    title,
  );
}

function checkSeen(samples: readonly Sample[], done: boolean[], seen: boolean[], title: string): void {
  const [one, other] = samples as [Sample, Sample];
  const outcome = `${title}, seen ${seen}`;
  if (one.ends || other.ends) {
    const makesAgain = one.replaces || other.replaces;
    const ended = samples.some(({ ends }, at) => ends === true && done[at] && seen[at]);
    assert.ok(makesAgain || ended || !samples.some(({ ends }, at) => ends === true && done[at]), outcome);
    return;
  }
  if ((one.field !== undefined && one.field === other.field) || (one.replaces && other.replaces)) {
    assert.ok(
      seen.some((is, at) => is && done[at]),
      outcome,
    );
    return;
  }
  for (const [at] of samples.entries())
    if (done[at] && samples[1 - at]!.replaces !== true) assert.ok(seen[at], outcome);
}

/**
 * Runs every pair of every kind and returns the number of pairs. Checks that no record was changed without its lock.
 */
export async function runEveryPair(services: readonly TestService[]): Promise<number> {
  let pairs = 0;
  for (const kind of KINDS) pairs += await runKind(kind, services);
  const outside = services.flatMap(({ log }) =>
    log.filter(
      ({ message, fields }) => message.startsWith('retrying a change') && isShared(String(fields['id'])),
    ),
  );
  assert.deepEqual(outside, []);
  return pairs;
}

/** Whether the paths of both routes name the record. Only changes of other records may be retried. */
function isShared(id: string): boolean {
  return id.startsWith('the-') || id.startsWith('owner-the-');
}
