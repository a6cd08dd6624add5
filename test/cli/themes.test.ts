import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeDirectory, run } from './run.ts';

test('config themes and status list the themes, and name the file of one that cannot be used', async (t) => {
  const cwd = makeDirectory(t);
  assert.equal((await run(['init'], { cwd })).code, 0);
  const none = await run(['config', 'themes'], { cwd });
  assert.equal(none.code, 0, none.stderr);
  assert.match(none.stdout, /^there is no theme in .*idkit\/config\/themes\n$/);
  const themes = join(cwd, 'idkit', 'config', 'themes');
  mkdirSync(join(themes, 'acme'), { recursive: true });
  writeFileSync(join(themes, 'acme', 'theme.yaml'), 'colors: { light: { accent: "#ffcc00" } }\n');
  const usable = await run(['config', 'themes'], { cwd });
  assert.equal(usable.code, 0, usable.stderr);
  assert.match(
    usable.stdout,
    /^THEME +USABLE +HAS\nacme +yes +colors\nwarning: config\/themes\/acme\/theme\.yaml: /,
  );
  mkdirSync(join(themes, 'broken'));
  writeFileSync(join(themes, 'broken', 'theme.yaml'), 'footer: [{ url: "javascript:alert(1)", text: x }]\n');
  const broken = await run(['config', 'themes'], { cwd });
  assert.equal(broken.code, 3);
  assert.match(
    broken.stderr,
    /^finding: THEME_INVALID: config\/themes\/broken\/theme\.yaml line 1: footer\[0\]\.url must begin with https:/m,
  );
  const status = await run(['status'], { cwd });
  assert.match(status.stdout, /^themes +acme, broken \(has an error\)$/m);
  assert.match(
    status.stderr,
    /^warning: THEME_INVALID: theme broken is not used: config\/themes\/broken\/theme\.yaml line 1: .*; run idkit config themes$/m,
  );
  assert.deepEqual((await run(['config', 'themes', '--json'], { cwd })).result()['findings'], [
    {
      code: 'THEME_INVALID',
      message: 'config/themes/broken/theme.yaml line 1: footer[0].url must begin with https:// or mailto:',
    },
  ]);
});
