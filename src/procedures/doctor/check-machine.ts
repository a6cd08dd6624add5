import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, constants, fsyncSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { platformPaths } from '../../config/index.ts';
import { findEntry } from '../../files/index.ts';
import { parseLocation } from '../../target/index.ts';
import { DoesNotApply } from '../smoke/check.ts';
import type { SmokeCheck } from '../smoke/options.ts';
import { fault, type Patient } from './patient.ts';

/** Checks the files, disks, programs, clock and ports of this machine. */
export async function checkMachine(patient: Patient): Promise<readonly SmokeCheck[]> {
  const { settings } = patient;
  const { data } = platformPaths(settings.dir);
  const disks = [...new Set([data, settings.backup.root])];
  return [
    await patient.check('file-modes', () => checkModes(patient)),
    ...(await Promise.all(
      disks.map((dir) => patient.check('disk-speed', () => checkDisk(dir, patient), dir)),
    )),
    await patient.check('programs', () => checkPrograms(patient)),
    await patient.check('clock', checkSynchronized),
    ...(await checkPorts(patient)),
  ];
}

/** The bits of a mode that let the group and other users read or write. */
const OTHERS = 0o077;
/** The bits of a mode that let the group and other users write. */
const OTHERS_WRITE = 0o022;

async function checkModes({ settings, rootResponds }: Patient): Promise<string> {
  const { dir, env, data, import: imported, config } = platformPaths(settings.dir);
  const { tlsKey } = settings.listen;
  const { database, backup } = settings;
  const file = database.kind === 'sqlite' ? [database.file, `${database.file}-wal`] : [];
  const root = rootResponds ? [backup.root] : [];
  const secret = [env, data, imported, ...root, ...file, ...(tlsKey === null ? [] : [tlsKey])];
  const faults: string[] = [];
  let checked = 0;
  for (const [paths, bits, verb] of [
    [secret, OTHERS, 'read'],
    [[dir, config, join(dir, 'idkit.yaml')], OTHERS_WRITE, 'write'],
  ] as const)
    for (const path of paths) {
      const entry = findEntry(path);
      if (entry === undefined || entry.isSymbolicLink()) continue;
      checked += 1;
      const mode = entry.mode & 0o777;
      if ((mode & bits) === 0) continue;
      const right = (mode & ~bits).toString(8).padStart(4, '0');
      faults.push(
        `other users can ${verb} ${path} (mode ${mode.toString(8).padStart(4, '0')}); run chmod ${right} ${path}`,
      );
    }
  const owner = findEntry(dir)?.uid;
  const user = process.getuid?.();
  if (owner !== undefined && user !== undefined && user !== 0 && owner !== user)
    faults.push(`${dir} belongs to user ${owner}, but this command runs as user ${user}`);
  if (faults.length > 0) throw fault(faults.join('; '));
  return `${checked} files and directories`;
}

const PROBES = 20;
const PROBE_BYTES = 4096;
/** Median duration of one synced write in milliseconds from which every login is slow. */
const SLOW = 30;

/** Writes and syncs a small file several times, as a database does for each commit. */
async function checkDisk(dir: string, { settings, rootResponds }: Patient): Promise<string> {
  if (dir === settings.backup.root && !rootResponds)
    throw fault('the file system does not respond; check the mount and the server that it comes from');
  if (findEntry(dir) === undefined) throw new DoesNotApply(`${dir} does not exist yet`);
  const file = join(dir, `.doctor-${process.pid}-${randomBytes(4).toString('hex')}`);
  const block = Buffer.alloc(PROBE_BYTES, 1);
  const times: number[] = [];
  const descriptor = openSync(file, 'wx', 0o600);
  try {
    for (let probe = 0; probe < PROBES; probe++) {
      const began = performance.now();
      writeSync(descriptor, block, 0, PROBE_BYTES, 0);
      fsyncSync(descriptor);
      times.push(performance.now() - began);
    }
  } finally {
    closeSync(descriptor);
    rmSync(file, { force: true });
  }
  times.sort((one, other) => one - other);
  const median = times[PROBES / 2]!;
  const text = `a synced write of ${PROBE_BYTES / 1024} KiB takes ${median.toFixed(1)} ms, at most ${times.at(-1)!.toFixed(1)} ms`;
  if (median > SLOW)
    throw fault(`${text}; above ${SLOW} ms, logins wait for the disk: use a local disk for ${dir}`);
  return text;
}

async function checkPrograms({ settings, options }: Patient): Promise<string> {
  const { database, runtime, backup, compose } = settings;
  const needed: (readonly [names: readonly string[], why: string])[] = [];
  if (runtime === 'compose')
    needed.push([compose.engine === null ? ['docker', 'podman'] : [compose.engine], 'runtime: compose']);
  else if (database.kind === 'postgres') needed.push([['psql'], 'database'], [['pg_dump'], 'database']);
  const mirror = backup.mirror === null ? undefined : parseLocation(backup.mirror).kind;
  if (mirror === 'ssh' || mirror === 'rclone') needed.push([[mirror], 'backup.mirror']);
  if (needed.length === 0) return 'no other program is needed';
  const found: string[] = [];
  for (const [names, why] of needed) {
    const program = await findProgram(names, options.env);
    if (program === undefined)
      throw fault(
        `${names.join(' or ')} is not in PATH, but the setting ${why} needs it; install it, or add it to the PATH of the timers too`,
      );
    found.push(program);
  }
  return found.join(', ');
}

async function findProgram(names: readonly string[], env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const postgres = '/usr/lib/postgresql';
  const versions = findEntry(postgres) === undefined ? [] : readdirSync(postgres);
  const dirs = [
    ...(env['PATH'] ?? '').split(delimiter).filter((dir) => dir !== ''),
    ...versions.map((version) => join(postgres, version, 'bin')),
  ];
  for (const name of names)
    for (const dir of dirs) {
      const path = join(dir, name);
      const isThere = await access(path, constants.X_OK).then(
        () => true,
        () => false,
      );
      if (isThere) return path;
    }
  return undefined;
}

/** Asks the system whether the clock is synchronized with a time server. */
async function checkSynchronized(): Promise<string> {
  let text: string;
  try {
    text = (await promisify(execFile)('timedatectl', ['show'], { timeout: 5_000 })).stdout;
  } catch {
    throw new DoesNotApply('timedatectl is not available, so the state of the clock is unknown');
  }
  if (/^NTPSynchronized=no$/m.test(text))
    throw fault('the clock is not synchronized with a time server; run timedatectl set-ntp true');
  if (!/^NTPSynchronized=yes$/m.test(text)) throw new DoesNotApply('timedatectl does not report the state');
  return 'synchronized with a time server';
}

async function checkPorts(patient: Patient): Promise<readonly SmokeCheck[]> {
  const { settings, serviceUrl } = patient;
  const { host, port, managementHost, managementPort } = settings.listen;
  const places = [
    ['listen.port', host, port],
    ['listen.managementPort', managementHost, managementPort === null ? 9000 : managementPort],
  ] as const;
  const checks: SmokeCheck[] = [];
  for (const [name, address, number] of places) {
    const test = async (): Promise<string> => {
      if (settings.runtime === 'compose' || settings.service === 'keycloak')
        throw new DoesNotApply('idkit serve does not listen on this machine');
      if (number === 'off' || number === 0) return `${name} is ${number}`;
      const isFree = await canListen(address, number);
      if (isFree) return `${address}:${number} is free`;
      if (serviceUrl !== undefined) return `${address}:${number} is in use while the service is running`;
      // By default, serve runs without this listener.
      if (name === 'listen.managementPort' && managementPort === null)
        throw new DoesNotApply(
          `another program uses ${address}:${number}, so serve runs without metrics; set ${name} to another port`,
        );
      throw fault(
        `another program uses ${address}:${number}, so idkit serve cannot; set ${name}, or stop that program`,
      );
    };
    checks.push(await patient.check('ports', test, name));
  }
  return checks;
}

function canListen(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
