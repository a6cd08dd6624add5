import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import Fastify from 'fastify';
import { joinRoutes } from '../../../src/http/url-table/url-table.ts';
import { UrlTree } from '../../../src/http/url-table/url-tree.ts';

function treeOf(...urls: readonly string[]): UrlTree<string> {
  const tree = new UrlTree<string>(() => true);
  for (const url of urls) tree.getOrAdd(url, () => url);
  return tree;
}

test('a literal segment takes precedence over a parameter, and a parameter over *', () => {
  const tree = treeOf('/a/b', '/a/:x', '/a/*', '/a/:x/c');
  assert.deepEqual(tree.find('GET', '/a/b'), { entry: '/a/b', values: [] });
  assert.deepEqual(tree.find('GET', '/a/z'), { entry: '/a/:x', values: ['z'] });
  assert.deepEqual(tree.find('GET', '/a/b/c'), { entry: '/a/:x/c', values: ['b'] });
  assert.deepEqual(tree.find('GET', '/a/b/d'), { entry: '/a/*', values: ['b/d'] });
  assert.equal(tree.find('GET', '/a'), undefined);
});

test('the search continues with other matches if an entry does not handle the method', () => {
  const tree = new UrlTree<string>((entry, method) => entry.startsWith(method));
  tree.getOrAdd('/a/b', () => 'GET fixed');
  tree.getOrAdd('/a/:x', () => 'PUT named');
  tree.getOrAdd('/*', () => 'OPTIONS rest');
  assert.deepEqual(tree.find('GET', '/a/b'), { entry: 'GET fixed', values: [] });
  assert.deepEqual(tree.find('PUT', '/a/b'), { entry: 'PUT named', values: ['b'] });
  assert.deepEqual(tree.find('OPTIONS', '/a/b'), { entry: 'OPTIONS rest', values: ['a/b'] });
  assert.equal(tree.find('POST', '/a/b'), undefined);
});

test('an escaped slash does not divide a path, and a broken escape throws a URIError (RFC 3986 §2.2)', () => {
  const tree = treeOf('/r/:x', '/r/:x/:y');
  assert.deepEqual(tree.find('GET', '/r/..%2Fmaster'), { entry: '/r/:x', values: ['../master'] });
  assert.deepEqual(tree.find('GET', '/r/a%2541'), { entry: '/r/:x', values: ['a%41'] });
  assert.throws(() => tree.find('GET', '/r/%zz'), URIError);
});

test('finds the entry of an absolute request target by its path (RFC 9112 §3.2.2)', () => {
  const tree = treeOf('/', '/r/:x');
  assert.deepEqual(tree.find('GET', 'http://host:8080/r/y?z=/'), { entry: '/r/:x', values: ['y'] });
  assert.deepEqual(tree.find('GET', 'http://host'), { entry: '/', values: [] });
});

test('a parameter matches at most 2,048 characters', () => {
  const tree = treeOf('/r/:x');
  assert.equal(tree.find('GET', `/r/${'x'.repeat(2048)}`)?.entry, '/r/:x');
  assert.equal(tree.find('GET', `/r/${'x'.repeat(2049)}`), undefined);
});

test('URLs that differ only in the names of their parameters share one entry', () => {
  const tree = treeOf('/a/:x');
  assert.equal(
    tree.getOrAdd('/a/:y', () => 'new'),
    '/a/:x',
  );
});

test('rejects two routes with the same method and URL, even if their parameters have different names', () => {
  const row = (url: string) => ({ method: 'GET' as const, url, handle: async () => undefined });
  assert.throws(
    () => joinRoutes([row('/a/:x')], [row('/a/:y')]),
    /two routes have the method and URL GET \/a\/:y/,
  );
});

test("finds the same entries as Fastify's router, except for the root path", async () => {
  const step = fc.constantFrom('a', 'b', '.well-known', ':', '%');
  const url = fc.tuple(fc.array(step, { maxLength: 4 }), fc.boolean()).map(([steps, rest]) => {
    const named = steps.map((text, index) => (text === ':' ? `:p${index}` : text === '%' ? 'c-d' : text));
    return `/${[...named, ...(rest && named.length > 0 ? ['*'] : [])].join('/')}`;
  });
  const shape = (text: string) => text.replace(/:[^/]+/g, ':');
  const urls = fc.uniqueArray(url, { selector: shape, minLength: 1, maxLength: 12 });
  const segment = fc.constantFrom(
    'a',
    'b',
    '.well-known',
    'c-d',
    '%61',
    'c%2Dd',
    'x%2Fy',
    '%2541',
    '%C3%A9',
    'z',
  );
  const path = fc
    .tuple(
      fc.array(segment, { minLength: 1, maxLength: 5 }),
      fc.boolean(),
      fc.constantFrom('', '?q=/a/b', '?q=%zz'),
    )
    .map(([parts, slash, query]) => `/${parts.join('/')}${slash ? '/' : ''}${query}`);
  await fc.assert(
    fc.asyncProperty(urls, fc.array(path, { minLength: 1, maxLength: 20 }), async (table, paths) => {
      const tree = treeOf(...table);
      const app = Fastify({ routerOptions: { ignoreTrailingSlash: true } });
      for (const own of table)
        app.get(own, (request, reply) => reply.send({ entry: own, values: request.params }));
      app.setNotFoundHandler((_request, reply) => reply.send({}));
      for (const path of paths) {
        const expected = (await app.inject(path)).json<{ entry?: string; values?: object }>();
        const found = tree.find('GET', path);
        assert.equal(found?.entry, expected.entry, path);
        assert.deepEqual(found?.values, expected.values && Object.values(expected.values), path);
      }
    }),
    { numRuns: 60 },
  );
});
