import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Metrics, openEventSink } from '../../../src/http/index.ts';
import type { UserEvent } from '../../../src/model/index.ts';

test('keeps a limited number of events in memory while the store is unavailable, and counts the events that it drops', async () => {
  let answer = () => {};
  const away = new Promise<undefined>((resolve) => {
    answer = () => resolve(undefined);
  });
  let stored = 0;
  const store = {
    findRealmById: () => {
      stored++;
      return away;
    },
    appendEvents: async () => {},
  };
  const metrics = new Metrics();
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const sink = openEventSink({ store, log, metrics });
  const event: UserEvent = { id: 'e', time: 0, type: 'LOGIN_ERROR', realmId: 'r', details: {} };
  for (let i = 0; i < 30_000; i++) sink.emit(event, 'acme');
  assert.equal(metrics.droppedEvents, 10_000);
  answer();
  await sink.flush();
  assert.equal(stored, 20_000, 'reports every waiting event');
  for (let i = 0; i < 10; i++) sink.emit(event, 'acme');
  await sink.flush();
  assert.equal(stored, 20_010, 'accepts events again');
  assert.equal(metrics.droppedEvents, 10_000);
});
