import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadSettings } from '../../../src/config/index.ts';
import { composeFault } from '../../../src/platform/compose/compose-fault.ts';
import type { Container } from '../../../src/platform/compose/containers.ts';

// Recorded output of docker-compose 1.29, docker compose 2.26 and 2.40, and Docker 20.10.

const settings = await loadSettings({ dir: '/nonexistent', env: {}, cwd: '/' });
const project = { settings, definition: { file: '/p/compose.yaml', dir: '/p', services: [] } };

function judge(
  lines: readonly string[],
  { image = 'busybox:1', ...container }: Partial<Container> = {},
): { code: string; message: string; hints: readonly string[] } {
  const service = { name: 'a', role: 'service', image, definition: {} } as const;
  const output = { code: 1, stdout: '', stderr: lines.join('\n') };
  const there = container.state === undefined ? undefined : { error: '', ...container };
  const { code, message, hints } = composeFault(project, service, output, there as Container | undefined);
  return { code, message, hints };
}

const PROGRESS = [
  ' Network fx_default  Creating',
  ' Network fx_default  Created',
  ' Container fx-a-1  Creating',
  ' Container fx-a-1  Created',
  ' Container fx-a-1  Starting',
];

test('reports an unavailable image for each compose program, in the engine’s own words', () => {
  const refused = 'Get "http://localhost/v2/": dial tcp 127.0.0.1:80: connect: connection refused';
  const output = [
    ['Creating network "fx_default" with the default driver', 'Pulling a (localhost/none:1)...', refused],
    [' a Pulling ', ` a Error ${refused}`, `Error response from daemon: ${refused}`],
    ["unable to get image 'X': Error response from daemon: no such image: X: invalid reference format"],
    ['Error: failed to resolve reference "docker.io/library/none:1": docker.io/library/none:1: not found'],
    ['Error response from daemon: pull access denied for none, repository does not exist'],
  ];
  for (const lines of output) {
    const { code, message, hints } = judge(lines);
    assert.equal(code, 'IDKIT_VERSION', message);
    assert.equal(message, `a did not start, because its image is unavailable: ${lines.at(-1)}`);
    assert.equal(hints.length, 1);
  }
  const own = judge([refused], { image: 'localhost/idkit:0.1.0' });
  assert.match(own.hints.at(-1)!, /containers\.md describes how to build it/);
  const variable = judge([refused], { image: `\${IMAGE:-busybox:1}` });
  assert.match(variable.hints[0]!, /^compose\.yaml names \$\{IMAGE:-busybox:1\}, which is busybox:1; build/);
});

test('does not report a missing program, file, network or build as an unavailable image', () => {
  const start = 'failed to create shim task: exec: "nosuch": executable file not found in $PATH: unknown';
  const made = judge([...PROGRESS, `Error response from daemon: ${start}`], {
    state: 'created',
    error: start,
  });
  assert.deepEqual([made.code, made.message], ['IDKIT_FAILED', `a did not start: ${start}`]);
  for (const line of [
    'env file /p/nosuch.env not found: stat /p/nosuch.env: no such file or directory',
    'Error response from daemon: network nosuchnet not found',
    'unable to prepare context: path "/p/nosuch" not found',
  ]) {
    const { code, message } = judge([
      'time="2026-11-21T18:36:13Z" level=warning msg="unknown: buildkit isn\'t enabled"',
      line,
    ]);
    assert.deepEqual([code, message], ['IDKIT_FAILED', `a did not start: ${line}`]);
  }
});

test('reports a full disk while an image is being fetched or a container is being created (exit code 19)', () => {
  const pull = 'failed to register layer: write /usr/bin/caddy: no space left on device';
  const make = 'Error response from daemon: mkdir /var/lib/docker/overlay2/0a: no space left on device';
  for (const lines of [
    ['Pulling a (busybox:1)...', pull],
    [...PROGRESS, make],
  ]) {
    const { code, message } = judge(lines);
    assert.deepEqual(
      [code, message],
      ['IDKIT_NO_SPACE', `a did not start, because a disk is full: ${lines.at(-1)}`],
    );
  }
});

test('does not mistake other output of a compose program for the error', () => {
  const user = 'unable to find user nosuch: no matching entries in passwd file';
  const first = [
    'Creating fx_a_1 ... ',
    'Creating fx_a_1 ... error',
    '',
    `ERROR: for a  Cannot start service a: ${user}`,
    'Encountered errors while bringing up the project.',
  ];
  assert.equal(judge(first, { state: 'created', error: user }).message, `a did not start: ${user}`);
  assert.equal(judge(first).message, `a did not start: ${first[3]}`);
  const warning =
    'time="2026-11-21T18:36:07Z" level=warning msg="p: the attribute `version` is obsolete, an error"';
  assert.equal(
    judge([warning, 'service "a" depends on undefined service "b"', ...PROGRESS]).message,
    'a did not start: service "a" depends on undefined service "b"',
  );
  assert.equal(
    judge([
      "The Compose file './compose.yaml' is invalid because:",
      "Unsupported config option for services.a: 'prots'",
    ]).message,
    "a did not start: The Compose file './compose.yaml' is invalid because: Unsupported config option for services.a: 'prots'",
  );
});

test('reports the error, not the failed queries that podman-compose prints before and after it', () => {
  const line = 'Error: statfs /p/nosuch: no such file or directory';
  const missing = 'Error: no container with name or ID "fx_a_1" found: no such container';
  assert.equal(
    judge(['Error: inspecting object: no such volume fx_database', line, missing]).message,
    `a did not start: ${line}`,
  );
});

test('recognizes a port in use in the output of every engine', () => {
  const line = 'Error starting userland proxy: listen tcp4 127.0.0.1:8080: bind: address already in use';
  for (const fault of [
    judge([...PROGRESS, `Error response from daemon: ${line}`], { state: 'created', error: line }),
    judge(['Host is already in use by another container', `ERROR: for a  ${line}`]),
    judge(PROGRESS, { state: 'created', error: line }),
  ])
    assert.deepEqual([fault.code, fault.message.includes(line)], ['IDKIT_PORT_TAKEN', true]);
});

test('distinguishes a container that is still running with its previous definition from one that did not start', () => {
  const line = 'service "a" refers to undefined volume x: invalid compose project';
  assert.equal(
    judge([line], { state: 'running' }).message,
    `a is still running with its previous definition: ${line}`,
  );
});
