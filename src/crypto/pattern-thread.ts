import { parentPort } from 'node:worker_threads';
import type { PatternCheck } from './pattern-matching.ts';

parentPort?.on('message', (checks: readonly PatternCheck[]) => {
  parentPort?.postMessage('begun');
  parentPort?.postMessage(checks.map(matches));
});

/** Reports whether the pattern matches the whole text. An invalid pattern never matches. */
function matches({ pattern, text }: PatternCheck): boolean {
  try {
    return new RegExp(`^(?:${pattern})$`, 'su').test(text);
  } catch {
    return false;
  }
}
