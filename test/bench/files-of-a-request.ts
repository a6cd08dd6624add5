import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Inspector, type ScriptCoverage } from './inspector.ts';
import { stop } from './measure.ts';
import { administratorToken, freePort, logIn, makeRealms, untilReady } from './service.ts';

// Counts the files of src/ that take part in a request: every file with a function that was called between two
// snapshots, in the service's main thread or in a worker thread. Files that only declare types or only re-export do not
// count. Each request is sent twice before it is counted, so that work which the service does only once is left out.
//
//   node test/bench/files-of-a-request.ts          the counts of a refresh, a login page, a PUT of a client, a backup
//   node test/bench/files-of-a-request.ts --list   the files too
//   node test/bench/files-of-a-request.ts --most 36   exits 1 if a refresh runs through more files

const root = fileURLToPath(new URL('../../', import.meta.url));
const source = new URL('../../src/', import.meta.url).href;
const idkit = join(root, 'bin', 'idkit.js');

/** Returns the files of src/ in which a function was called. The body of a module does not count as a function. */
function calledFiles(scripts: readonly ScriptCoverage[]): readonly string[] {
  const files = scripts
    .filter(({ url }) => url.startsWith(source))
    .filter(({ functions }) =>
      functions.some(
        ({ ranges: [whole] }) => whole !== undefined && whole.count > 0 && whole.startOffset > 0,
      ),
    )
    .map(({ url }) => url.slice(source.length));
  return [...new Set(files)].sort();
}

/** Returns a function for each kind of request that is measured. The function sends one such request. */
async function prepareRequests(port: number): Promise<Readonly<Record<string, () => Promise<void>>>> {
  const origin = `http://127.0.0.1:${port}`;
  await makeRealms(port);
  let [refreshToken = ''] = await logIn(port, 'rs', 1);
  const headers = {
    authorization: `Bearer ${await administratorToken(port)}`,
    'content-type': 'application/json',
  };
  const send = async (path: string, init?: RequestInit): Promise<string> => {
    const response = await fetch(`${origin}${path}`, init);
    const body = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${body}`);
    return body;
  };
  const [client] = JSON.parse(await send('/admin/realms/rs/clients?clientId=web', { headers }));
  const query = new URLSearchParams({
    client_id: 'web',
    redirect_uri: 'http://app.example.test/cb',
    response_type: 'code',
    scope: 'openid',
  });
  return {
    'a refresh': async () => {
      const body = new URLSearchParams({
        grant_type: 'refresh_token',
        client_id: 'web',
        refresh_token: refreshToken,
      });
      const answer = await send('/realms/rs/protocol/openid-connect/token', { method: 'POST', body });
      refreshToken = JSON.parse(answer).refresh_token;
    },
    'a login page': async () => {
      await send(`/realms/rs/protocol/openid-connect/auth?${query}`);
    },
    'a PUT of a client': async () => {
      const body = JSON.stringify(client);
      await send(`/admin/realms/rs/clients/${client.id}`, { method: 'PUT', headers, body });
    },
  };
}

async function measureRequests(dir: string): Promise<Map<string, readonly string[]>> {
  const port = await freePort();
  const child = spawn(
    process.execPath,
    [
      '--inspect=127.0.0.1:0',
      idkit,
      'serve',
      '--dir',
      dir,
      '--port',
      String(port),
      '--management-port',
      'off',
    ],
    {
      env: { ...process.env, IDKIT_ADMIN_USERNAME: 'admin', IDKIT_ADMIN_PASSWORD: 'Bench-Admin-1' },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  try {
    const inspector = await Inspector.connect(child);
    await untilReady(port, child);
    await inspector.startCoverage();
    const files = new Map<string, readonly string[]>();
    for (const [name, send] of Object.entries(await prepareRequests(port))) {
      await send();
      await send();
      await inspector.takeCoverage();
      await send();
      files.set(name, calledFiles(await inspector.takeCoverage()));
    }
    inspector.close();
    return files;
  } finally {
    await stop(child);
  }
}

/**
 * Returns the files in which a backup calls a function. A backup is a separate process, so all calls from its start to
 * its end count, including those in its threads.
 */
async function measureBackup(dir: string): Promise<readonly string[]> {
  const coverage = mkdtempSync(join(tmpdir(), 'idkit-coverage-'));
  try {
    const child = spawn(process.execPath, [idkit, 'backup', '--dir', dir], {
      env: {
        ...process.env,
        IDKIT_BACKUP_PASSPHRASE: 'correct horse battery staple',
        NODE_V8_COVERAGE: coverage,
        NODE_DISABLE_COMPILE_CACHE: '1',
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const code = await new Promise((resolve) => child.once('exit', resolve));
    if (code !== 0) throw new Error(`idkit backup ended with ${code}`);
    return calledFiles(
      readdirSync(coverage).flatMap(
        (name) => JSON.parse(readFileSync(join(coverage, name), 'utf8')).result as ScriptCoverage[],
      ),
    );
  } finally {
    rmSync(coverage, { recursive: true, force: true });
  }
}

const dir = mkdtempSync(join(tmpdir(), 'idkit-files-'));
try {
  const measured = await measureRequests(dir);
  measured.set('a backup', await measureBackup(dir));
  for (const [name, files] of measured) {
    console.log(`${name}: ${files.length} files`);
    if (process.argv.includes('--list')) for (const file of files) console.log(`  ${file}`);
  }
  const at = process.argv.indexOf('--most');
  const refresh = measured.get('a refresh')?.length ?? 0;
  if (at > 0 && refresh > Number(process.argv[at + 1])) process.exitCode = 1;
} finally {
  rmSync(dir, { recursive: true, force: true });
}
