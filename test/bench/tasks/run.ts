import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { launchBrowser } from '../../http/pages/chromium.ts';
import { logInToConsole } from '../../journey/console-screen.ts';
import { buildPackage } from '../package.ts';
import { makeDirectory, removeDirectory } from '../service.ts';
import { doInIdkitAdmin } from './idkit-admin.ts';
import { doInIdkitConsole } from './idkit-console.ts';
import { doInKcadm } from './kcadm.ts';
import { doInKeycloakConsole } from './keycloak-console.ts';
import { type Closing, type Place, startIdkitPlace, startKeycloakPlace } from './platforms.ts';
import { type Figures, type Needed, renderTable, WAYS, type WayName } from './table.ts';
import { FILE_USERS, REALM, seed, TASKS, type Task, type TaskName } from './tasks.ts';
import { BrowserHand, type Doings, type Hand } from './way.ts';

/** Number of users to whom Keycloak's console gives the role. The steps and seconds of all 200 are extrapolated. */
const BULK = 3;
/** Timeout of a step in a browser in milliseconds, also on a busy machine. */
const STEP_MS = 60_000;

/**
 * `npm run bench -- tasks [OPTION]…` does the tasks of an operator's day in idkit's console, with `idkit admin`, in
 * Keycloak's console and with kcadm.sh, checks each result through the administrative API, and prints a table with steps
 * and seconds. It needs Chromium and a distribution of Keycloak (`IDKIT_TEST_KEYCLOAK`).
 *
 * - `--way NAME`: only `console`, `admin`, `keycloak` or `kcadm`; several with commas
 * - `--task NAME`: only this task; several with commas
 * - `--json FILE`: also writes the figures to FILE
 *
 * The exit code is 1 if a task failed.
 */
export async function runTasks(argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...argv],
    options: { way: { type: 'string' }, task: { type: 'string' }, json: { type: 'string' } },
  });
  const ways = chosen('--way', values.way, WAYS);
  const tasks = chosen('--task', values.task, Object.keys(TASKS) as TaskName[]);
  const figures: Figures = {};
  const failures: string[] = [];
  const root = makeDirectory();
  const closers: (() => unknown)[] = [];
  const closing: Closing = { after: (close) => closers.push(close) };
  const measure = async (
    way: WayName,
    place: Place,
    hand: Hand,
    doings: Doings,
    open?: () => Promise<void>,
  ) => {
    const row: Partial<Record<TaskName, Needed>> = {};
    figures[way] = row;
    for (const name of tasks) {
      const doing = doings[name];
      process.stderr.write(`${way}: ${name}\n`);
      if (typeof doing === 'string') {
        row[name] = { impossible: doing };
        continue;
      }
      try {
        row[name] = await measureTask(TASKS[name], { place, hand, doing, open, isPart: isPart(way, name) });
      } catch (error) {
        failures.push(
          `${way}: ${name}: step ${hand.steps}: ${error instanceof Error ? error.message : error}`,
        );
      }
    }
  };
  try {
    if (ways.includes('console') || ways.includes('admin')) {
      const entry = await buildPackage();
      closing.after(() => entry.remove());
      const place = await startIdkitPlace(closing, root, entry);
      if (ways.includes('admin')) await measure('admin', place, place.shell, doInIdkitAdmin(place.shell));
      if (ways.includes('console')) {
        await seed(place.api);
        const { hand, open } = await openConsole(closing, place, 'Search by name or e-mail');
        await measure('console', place, hand, doInIdkitConsole(hand, place.dir), open);
      }
    }
    if (ways.includes('keycloak') || ways.includes('kcadm')) {
      const place = await startKeycloakPlace(closing, root);
      await seed(place.api);
      if (ways.includes('kcadm')) await measure('kcadm', place, place.shell, doInKcadm(place.shell));
      if (ways.includes('keycloak')) {
        await seed(place.api);
        const { hand, open } = await openConsole(closing, place, 'Search user');
        await measure('keycloak', place, hand, doInKeycloakConsole(hand, place.dir, BULK), open);
      }
    }
  } finally {
    for (const close of closers.reverse()) await close();
    removeDirectory(root);
  }
  const machine = `${cpus()[0]?.model ?? 'unknown processor'}, Node.js ${process.versions.node}`;
  console.log(`${machine}\n\n${renderTable(figures)}`);
  if (values.json !== undefined)
    writeFileSync(values.json, `${JSON.stringify({ machine, figures }, null, 2)}\n`);
  for (const failure of failures) console.error(`failed: ${failure}`);
  if (failures.length > 0) process.exitCode = 1;
}

const isPart = (way: WayName, name: TaskName): boolean => way === 'keycloak' && name === 'bulk';

async function measureTask(
  task: Task,
  {
    place,
    hand,
    doing,
    open,
    isPart,
  }: {
    place: Place;
    hand: Hand;
    doing: () => Promise<string>;
    open: (() => Promise<void>) | undefined;
    isPart: boolean;
  },
): Promise<Needed> {
  await task.prepare?.(place.api);
  await open?.();
  hand.steps = 0;
  const start = performance.now();
  const seen = await doing();
  const seconds = (performance.now() - start) / 1000;
  const { steps } = hand;
  if (!isPart) {
    await task.check(place.api, seen);
    return { steps, seconds };
  }
  const holders = await place.api.list(`/${REALM}/roles/auditor/users?max=500`);
  if (holders.length !== BULK) throw new Error(`${holders.length} users have the role, not ${BULK}`);
  const factor = FILE_USERS.length / BULK;
  return { steps: Math.round(steps * factor), seconds: seconds * factor, note: `from ${BULK} users` };
}

/** Logs the administrator in to a console, and returns how to open the list of users again. */
async function openConsole(
  closing: Closing,
  { api }: Place,
  search: string,
): Promise<{ hand: BrowserHand; open: () => Promise<void> }> {
  const browser = await launchBrowser();
  closing.after(() => browser.close());
  const context = await browser.newContext({
    reducedMotion: 'reduce',
    acceptDownloads: true,
    viewport: { width: 1280, height: 900 },
  });
  const page = await context.newPage();
  page.setDefaultTimeout(STEP_MS);
  const address = `${api.baseUrl}/admin/master/console/#/${REALM}/users`;
  await page.goto(address);
  await logInToConsole(page, api.administrator.password);
  const open = async () => {
    await page.goto('about:blank');
    await page.goto(address);
    await page.getByLabel(search).or(page.getByPlaceholder(search)).first().waitFor();
  };
  await open();
  return { hand: new BrowserHand(page), open };
}

/** @throws Error if the option names something unknown */
function chosen<Name extends string>(
  option: string,
  text: string | undefined,
  names: readonly Name[],
): readonly Name[] {
  if (text === undefined) return names;
  return text.split(',').map((word) => {
    const found = names.find((name) => name === word);
    if (found === undefined) throw new Error(`${option} must be one of ${names.join(', ')}, not ${word}`);
    return found;
  });
}
