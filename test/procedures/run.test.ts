import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { IdkitError } from '../../src/core/index.ts';
import { BACKUP_STEPS, DRILL_STEPS, RESTORE_STEPS, VERIFY_STEPS } from '../../src/procedures/index.ts';
import { beginRun } from '../../src/procedures/run.ts';
import { procedureOptions } from './platform.ts';

const STEPS = [
  { id: 'one', title: 'Do one', why: 'because' },
  { id: 'two', title: 'Do two', why: 'because' },
] as const;

describe('a run', () => {
  it('reports each step, its outcome and its duration', async () => {
    const options = procedureOptions();
    const run = beginRun(STEPS, options);
    assert.equal(await run.step('one', async () => 1), 1);
    await assert.rejects(
      run.step('two', async () => {
        throw new Error('no');
      }),
      /no/,
    );
    assert.deepEqual(options.reported.steps, ['one', 'two failed']);
    assert.deepEqual(
      run.durations.map(({ id }) => id),
      ['one'],
    );
    assert.equal(run.current, 'two');
  });

  it('ends with the reason of the interrupt, whatever the interrupted step throws', async () => {
    const controller = new AbortController();
    const run = beginRun(STEPS, procedureOptions({ signal: controller.signal }));
    const reason = new IdkitError('IDKIT_TERMINATED', 'ended');
    await assert.rejects(
      run.step('one', async () => {
        controller.abort(reason);
        throw new Error('socket hang up');
      }),
      reason,
    );
    await assert.rejects(
      run.step('two', async () => undefined),
      reason,
    );
  });

  it('calls the failpoint after a step is done and before the next begins', async () => {
    const order: string[] = [];
    const run = beginRun(STEPS, procedureOptions({ failpoint: (id) => order.push(`after ${id}`) }));
    await run.step('one', async () => order.push('one'));
    await run.step('two', async () => order.push('two'));
    assert.deepEqual(order, ['one', 'after one', 'two', 'after two']);
  });
});

describe('every runbook', () => {
  it('names each step once in the imperative, with its reason', () => {
    for (const steps of [BACKUP_STEPS, RESTORE_STEPS, VERIFY_STEPS, DRILL_STEPS]) {
      assert.equal(new Set(steps.map(({ id }) => id)).size, steps.length);
      for (const { id, title, why } of steps) {
        assert.match(id, /^[a-z-]+$/);
        assert.match(title, /^[A-Z]/);
        assert.ok(why.length > 10);
      }
    }
  });

  it('has its steps in the documented order', () => {
    const ids = (steps: readonly { id: string }[]) => steps.map(({ id }) => id).join(' ');
    assert.equal(
      ids(BACKUP_STEPS),
      'open database realms config env checksums read-back watch publish versions prune mirror',
    );
    assert.equal(
      ids(RESTORE_STEPS),
      'verify preflight stage load check swap start realms applications smoke finish',
    );
  });
});
