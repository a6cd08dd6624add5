import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { initPlatform } from '../../src/config/index.ts';
import { type Ended, runIdkit } from '../journey/idkit.ts';
import type { TestEngine, TestedService } from './engines.ts';
import { adapt, findPorts } from './walk-through.ts';

/** A container platform in a temporary directory. */
export interface ContainerPlatform {
  dir: string;
  project: string;
  /** The ports of the proxy, the service and the application, and the management port if the service has one. */
  ports: readonly number[];
  /** Runs an idkit command on the platform. */
  run(argv: readonly string[], env?: NodeJS.ProcessEnv): Promise<Ended>;
  /** Replaces text in a file of the platform directory. */
  edit(file: string, from: string, to: string): void;
}

let projects = 0;

/**
 * Creates a container platform with `idkit init --runtime compose`, and sets the test's images and ports. The platform
 * and its containers are removed when the test ends.
 */
export async function makePlatform(
  t: TestContext,
  engine: TestEngine,
  proxy: 'caddy' | 'nginx' = 'caddy',
  service: TestedService = 'idkit',
): Promise<ContainerPlatform> {
  const dir = join(mkdtempSync(join(tmpdir(), 'idkit-containers-')), 'idkit');
  const project = `idkit-test-${process.pid}-${++projects}`;
  const ports = await findPorts(service === 'keycloak' ? 4 : 3);
  const run: ContainerPlatform['run'] = (argv, env = {}) =>
    runIdkit([...argv, '--dir', dir], { cwd: tmpdir(), env: { ...engine.env, ...env } });
  t.after(async () => {
    rmSync(join(dir, '..'), { recursive: true, force: true });
    // If the engine has already ended, everything in it was removed.
    if (!engine.runs()) return;
    const filter = ['--filter', `label=com.docker.compose.project=${project}`];
    const list = async (args: readonly string[]) =>
      (await engine.call([...args, ...filter])).split('\n').filter((name) => name !== '');
    const containers = await list(['ps', '-aq']);
    if (containers.length > 0) await engine.call(['rm', '-f', ...containers]);
    const volumes = await list(['volume', 'ls', '-q']);
    if (volumes.length > 0) await engine.call(['volume', 'rm', '-f', ...volumes]);
  });
  initPlatform(dir, { runtime: 'compose', service, proxy, env: {} });
  adapt(dir, engine, ports);
  const yaml = join(dir, 'idkit.yaml');
  const text = readFileSync(yaml, 'utf8');
  writeFileSync(
    yaml,
    text.replace(/^# compose:/m, 'compose:').replace(/^# {3}project: idkit/m, `  project: ${project}`),
  );
  const edit: ContainerPlatform['edit'] = (file, from, to) => {
    const path = join(dir, file);
    const text = readFileSync(path, 'utf8');
    if (!text.includes(from)) throw new Error(`${file} does not hold ${from}`);
    writeFileSync(path, text.replaceAll(from, to));
  };
  return { dir, project, ports, run, edit };
}
