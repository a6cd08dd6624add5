import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { waitUntil } from '../../wait-until.ts';
import { sendRaw, startTestService, type TestService, tokenUrl } from '../service.ts';

let service: TestService;
const open: Socket[] = [];
before(async () => {
  service = await startTestService();
});
after(async () => {
  for (const socket of open) socket.destroy();
  await service?.stop();
});

function head(...lines: readonly string[]): string {
  const { pathname, host } = new URL(tokenUrl(service));
  return [
    `POST ${pathname} HTTP/1.1`,
    `Host: ${host}`,
    'Content-Type: application/x-www-form-urlencoded',
    'Transfer-Encoding: chunked',
    ...lines,
    '\r\n',
  ].join('\r\n');
}

const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

/** Sends `text` as the first chunk of a body, and leaves the body unfinished. */
async function begin(text: string): Promise<void> {
  const { port, hostname } = new URL(service.address);
  const socket = connect(Number(port), hostname);
  open.push(socket);
  await new Promise((resolve, reject) => {
    socket.once('data', resolve);
    socket.once('error', reject);
    socket.write(head('Expect: 100-continue'));
  });
  socket.write(chunk(text));
}

/** Sends a complete chunked form with a field of the given length, and returns the response. */
function ask(characters: number): Promise<string> {
  return sendRaw(
    service.address,
    `${head('Connection: close')}${chunk(`grant_type=${'x'.repeat(characters)}`)}0\r\n\r\n`,
  );
}

test('bodies of unknown length that never end do not lock out other callers', async () => {
  for (let count = 0; count < 40; count++) await begin('a');
  assert.match(await ask(1), /^HTTP\/1\.1 400 [\s\S]*unsupported_grant_type/);
});

test('accepts a small body of unknown length in addition to 32 large ones, because only large ones count', async () => {
  for (let count = 0; count < 32; count++) await begin('a'.repeat(70_000));
  await waitUntil('a further large body is refused', async () => / 503 /.test(await ask(70_000)));
  const refused = await ask(70_000);
  assert.match(refused, /^HTTP\/1\.1 503 [\s\S]*retry-after: [\s\S]*temporarily_unavailable/i);
  assert.match(await ask(1), /^HTTP\/1\.1 400 [\s\S]*unsupported_grant_type/);
  for (const socket of open) socket.destroy();
  await waitUntil('their places are free again', async () => / 400 /.test(await ask(70_000)));
});
