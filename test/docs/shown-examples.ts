import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './pages.ts';

/** The examples that pages show in full. A test runs each of them. */
export const SHOWN_EXAMPLES = [
  'single-page/app.js',
  'server-login.js',
  'service-job.js',
  'api-express.js',
  'protected-api.js',
  'api-hono.js',
  'next/app/orders/route.js',
  'api-node-http.js',
] as const;

/** Returns the part of a page that shows an example as a whole. */
export function showExample(name: string): readonly string[] {
  const text = readFileSync(join(root, 'examples', name), 'utf8').trimEnd();
  return ['```js', ...text.split('\n'), '```'];
}
