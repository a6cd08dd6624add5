import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Bundles `code` with all its dependencies for a browser. */
async function bundle(code: string): Promise<{ text: string; inputs: string[] }> {
  const built = await build({
    stdin: { contents: code, resolveDir: root },
    absWorkingDir: root,
    conditions: ['idkit-source'],
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
  });
  return { text: built.outputFiles[0]!.text, inputs: Object.keys(built.metafile.inputs) };
}

test('the browser session of idkit/client has at most 12 kB gzipped, including its dependencies', async () => {
  const { text } = await bundle(
    "import { openBrowserSession } from 'idkit/client'; globalThis.open = openBrowserSession;",
  );
  const bytes = gzipSync(text, { level: 9 }).length;
  assert.ok(bytes <= 12_000, `${bytes} bytes`);
  assert.ok(bytes > 5_000, `${bytes} bytes: the bundle holds the session`);
});

test('each entry of the package imports only its own files, oauth4webapi and jose', async () => {
  const entries = { client: 'src/client/application/', 'resource-server': 'src/client/resource-server/' };
  for (const [entry, folder] of Object.entries(entries)) {
    const { inputs } = await bundle(`export * from 'idkit/${entry}';`);
    const otherInputs = inputs.filter(
      (path) =>
        path !== '<stdin>' &&
        path !== 'src/client/service-url.ts' &&
        !path.startsWith(folder) &&
        !/^node_modules\/(oauth4webapi|jose)\//.test(path),
    );
    assert.deepEqual(otherInputs, []);
    assert.ok(inputs.length > 5);
  }
});
