import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { IdkitError } from '../../src/core/index.ts';
import { openTarget, type Target } from '../../src/target/index.ts';
import { chunks, listAll, readAll } from './scratch.ts';

const KEY = 'test-key';
const SECRET = 'test-secret-that-never-appears';
const TOKEN = 'session-token-that-never-appears';

/** A server that responds as an attacker would, and counts its requests. */
async function attack(
  t: TestContext,
  respond: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ target: Target; url: string; count: () => number }> {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    request.resume();
    response.on('error', () => {});
    respond(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const target = await openTarget('s3://copies/idkit', {
    env: {
      AWS_ENDPOINT_URL: url,
      AWS_ACCESS_KEY_ID: KEY,
      AWS_SECRET_ACCESS_KEY: SECRET,
      AWS_SESSION_TOKEN: TOKEN,
      HOME: '/nonexistent',
    },
    pauseMilliseconds: 1,
    stallMilliseconds: 1000,
  });
  t.after(() => target.close());
  return { target, url, count: () => requests };
}

const list = (...keys: readonly string[]) =>
  `<ListBucketResult>${keys.map((key) => `<Contents><Key>${key}</Key><Size>1</Size></Contents>`).join('')}</ListBucketResult>`;

const isCode = (code: string, text: RegExp) => (error: unknown) => {
  assert.ok(error instanceof IdkitError, String(error));
  assert.equal(error.code, code, error.message);
  assert.match(error.message, text);
  assert.doesNotMatch(error.message + error.hints.join(), /never-appears|AWS4-HMAC/);
  return true;
};

for (const [what, keys] of [
  ['..', ['idkit/a/../../etc/passwd']],
  ['a NUL', ['idkit/a&#0;b', 'idkit/a\0b']],
  ['an absolute name', ['idkit//etc/passwd']],
  ['a backslash', ['idkit/..\\x']],
  ['another prefix', ['other/file']],
  ['a name twice', ['idkit/a', 'idkit/a']],
  ['names out of order', ['idkit/b', 'idkit/a']],
  ['a name that is too long', [`idkit/${'x'.repeat(1000)}`]],
] as const) {
  test(`a list with ${what} is rejected as damaged`, async (t) => {
    const { target } = await attack(t, (_, response) => response.end(list(...keys)));
    await assert.rejects(listAll(target), isCode('IDKIT_DAMAGED', /^s3:\/\/copies\/idkit: /));
  });
}

test('a list that never ends is rejected, because pages repeat or names do not ascend', async (t) => {
  const page = (token: string) =>
    `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>${token}</NextContinuationToken></ListBucketResult>`;
  const same = await attack(t, (_, response) => response.end(page('again')));
  await assert.rejects(listAll(same.target), isCode('IDKIT_DAMAGED', /repeats a page/));
  let number = 0;
  const empty = await attack(t, (_, response) => {
    number += 1;
    response.end(page(String(number)));
  });
  await assert.rejects(listAll(empty.target), isCode('IDKIT_DAMAGED', /pages without a name/));
});

test('XML that declares entities is rejected, and entities are never expanded', async (t) => {
  const bomb = `<!DOCTYPE x [<!ENTITY a "${'A'.repeat(1000)}"><!ENTITY b "&a;&a;&a;">]>${list('idkit/&b;')}`;
  const { target } = await attack(t, (_, response) => response.end(bomb));
  await assert.rejects(listAll(target), isCode('IDKIT_DAMAGED', /document type/));
  const plain = await attack(t, (_, response) => response.end(list('idkit/&amp;lt;')));
  assert.deepEqual(
    (await listAll(plain.target)).map(({ name }) => name),
    ['&lt;'],
  );
});

test('a response of XML without an end is cut off at 8 MiB', async (t) => {
  const { target } = await attack(t, (_, response) => {
    const more = () => {
      while (response.writable && response.write('x'.repeat(65_536)));
    };
    response.on('drain', more);
    more();
  });
  await assert.rejects(listAll(target), isCode('IDKIT_DAMAGED', /longer than 8 MiB/));
});

test('a body that is longer than announced, or has no length, is rejected', async (t) => {
  const { target } = await attack(t, (_, response) => {
    response.setHeader('Transfer-Encoding', 'chunked');
    response.end('x'.repeat(1000));
  });
  await assert.rejects(readAll(target, 'a'), isCode('IDKIT_DAMAGED', /did not return the length/));
});

test('a body that ends early is continued, and rejected if nothing more comes', async (t) => {
  const { target, count } = await attack(t, (_, response) => {
    response.writeHead(200, { 'Content-Length': '1000', ETag: '"1"' });
    response.flushHeaders();
    response.destroy();
  });
  await assert.rejects(readAll(target, 'a'), isCode('IDKIT_UNREACHABLE', /./));
  assert.ok(count() <= 20);
});

test('a redirect is never followed, so the signature and the data stay with the server that was named', async (t) => {
  const thief = await attack(t, (_, response) => response.end(list('idkit/a')));
  const { target } = await attack(t, (_, response) => {
    response.writeHead(307, { Location: `${thief.url}/copies` });
    response.end('<Error><Code>TemporaryRedirect</Code></Error>');
  });
  await assert.rejects(listAll(target), isCode('IDKIT_SETTING', /redirects to another address/));
  await assert.rejects(target.put('a', chunks(Buffer.from('x'))), isCode('IDKIT_SETTING', /redirects/));
  assert.equal(thief.count(), 0);
});

test('an error never shows the keys, even if the server repeats them', async (t) => {
  const { target } = await attack(t, (request, response) => {
    response.statusCode = 403;
    response.end(
      `<Error><Code>SignatureDoesNotMatch</Code><Message>wrong ${SECRET} ${TOKEN}</Message><StringToSign>${request.headers.authorization}</StringToSign></Error>`,
    );
  });
  await assert.rejects(listAll(target), isCode('IDKIT_CREDENTIALS', /403 SignatureDoesNotMatch/));
});

test('a message of a server cannot write control characters to the terminal', async (t) => {
  const { target } = await attack(t, (_, response) => {
    response.statusCode = 400;
    response.end('<Error><Code>Bad&#27;[2J</Code><Message>&#27;[2Jcleared&#10;line</Message></Error>');
  });
  await assert.rejects(listAll(target), (error) => {
    assert.ok(error instanceof IdkitError);
    assert.doesNotMatch(error.message, /[\u0000-\u001f]/);
    return true;
  });
});

test('a clock that is an hour off is named as the cause', async (t) => {
  const { target } = await attack(t, (_, response) => {
    response.writeHead(403, { Date: new Date(Date.now() - 3_600_000).toUTCString() });
    response.end(
      '<Error><Code>RequestTimeTooSkewed</Code><Message>The difference is too large.</Message></Error>',
    );
  });
  await assert.rejects(
    listAll(target),
    isCode('IDKIT_FAILED', /the clock of this machine differs from that of S3 by 60 min/),
  );
});

test('a full bucket is IDKIT_NO_SPACE and is not tried again', async (t) => {
  const { target, count } = await attack(t, (_, response) => {
    response.statusCode = 507;
    response.end('<Error><Code>XMinioStorageFull</Code></Error>');
  });
  await assert.rejects(target.put('a', chunks(Buffer.from('x'))), isCode('IDKIT_NO_SPACE', /no space left/));
  assert.equal(count(), 1);
});

test('a server that is overloaded is tried four times', async (t) => {
  const { target, count } = await attack(t, (_, response) => {
    response.statusCode = 503;
    response.end('<Error><Code>SlowDown</Code></Error>');
  });
  await assert.rejects(listAll(target), isCode('IDKIT_UNREACHABLE', /503 SlowDown, after 4 attempts/));
  assert.equal(count(), 4);
});
