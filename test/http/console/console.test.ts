import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestService, type TestService } from '../service.ts';

let service: TestService;

before(async () => {
  service = await startTestService();
});

after(() => service.stop());

const POLICY =
  "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self'; " +
  "form-action 'none'; frame-ancestors 'self'; base-uri 'none'";

async function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${service.address}${path}`, { redirect: 'manual', headers });
}

test('the root path redirects to the console of master, whose URL ends with a slash', async () => {
  const steps: string[] = [];
  for (let path: string | undefined = '/'; path !== undefined; ) {
    const answer: Response = await get(path);
    path = answer.headers.get('location')?.replace(service.address, '');
    if (path !== undefined) steps.push(path);
    else assert.equal(answer.status, 200);
  }
  assert.deepEqual(steps, ['/admin/', '/admin/master/console/']);
  const slashless = await get('/admin/master/console?x=1');
  assert.equal(slashless.headers.get('location'), `${service.address}/admin/master/console/?x=1`);
});

test('the policy of the console allows its own script, and no inline script', async () => {
  const answer = await get('/admin/master/console/');
  assert.equal(answer.headers.get('content-security-policy'), POLICY);
  assert.equal(answer.headers.get('x-frame-options'), 'SAMEORIGIN');
  assert.equal(answer.headers.get('cache-control'), 'no-cache');
  const page = await answer.text();
  assert.doesNotMatch(page, /<script(?![^>]*\bsrc=)|<style|\son[a-z]+=|\sstyle=/i);
});

test('serves compressed files with a hash of the content in their names, so that browsers can cache them forever', async () => {
  const page = await (await get('/admin/master/console/')).text();
  const names = [...page.matchAll(/(?:src|href)="(assets\/[^"]+)"/g)].map((match) => match[1]!);
  assert.ok(names.some((name) => name.endsWith('.js')) && names.some((name) => name.endsWith('.css')));
  for (const name of names) {
    const answer = await get(`/admin/master/console/${name}`, { 'accept-encoding': 'gzip' });
    assert.equal(answer.status, 200, name);
    assert.equal(answer.headers.get('cache-control'), 'public, max-age=31536000, immutable');
    assert.equal(answer.headers.get('content-encoding'), 'gzip');
    assert.equal(answer.headers.get('vary'), 'accept-encoding');
    const plain = await get(`/admin/master/console/${name}`, { 'accept-encoding': 'identity' });
    assert.equal(plain.headers.get('content-encoding'), null);
    assert.equal(await plain.text(), await answer.text());
  }
});

test('responds with 404 to the console of an unknown realm, and to an asset whose name is a path', async () => {
  assert.equal((await get('/admin/nowhere/console/')).status, 404);
  for (const name of ['..%2Findex.html', '%2e%2e%2f%2e%2e%2fpackage.json', 'main.js', '%00'])
    assert.ok([400, 404].includes((await get(`/admin/master/console/assets/${name}`)).status), name);
});
