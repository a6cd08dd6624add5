import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decideNextStep, type LoginStage, stageOf, withStage } from '../../../src/browser/login/stage.ts';
import type { AuthenticationSession } from '../../../src/model/index.ts';

const ROW: AuthenticationSession = {
  id: 'tab',
  realmId: 'realm',
  clientUuid: 'client',
  browserHash: Buffer.alloc(32),
  revision: 1,
  startedAt: 0,
  expiresAt: 1800,
  request: {
    redirectUri: 'https://app.example.test/cb',
    redirectUriSent: true,
    responseType: 'code',
    responseMode: 'query',
    prompt: [],
  },
  formCode: 'code',
  rememberMe: false,
  notes: { locale: 'de' },
};

const STAGES: readonly LoginStage[] = [
  { at: 'password' },
  { at: 'password', renews: 'session' },
  { at: 'second-factor', userId: 'ada', passwordId: 'p1' },
  { at: 'second-factor', userId: 'ada', passwordId: 'p1', renews: 'session' },
  { at: 'proved', userId: 'ada', authenticatedAt: 7, by: { passwordId: 'p1' } },
  { at: 'proved', userId: 'ada', authenticatedAt: 7, by: { sessionId: 'session' } },
];

test('withStage replaces the stage of a login, whatever it was before, and keeps all other notes', () => {
  for (const before of STAGES)
    for (const stage of STAGES) {
      const row = withStage(withStage(ROW, before), stage);
      assert.deepEqual(stageOf(row), stage);
      assert.equal(row.notes['locale'], 'de');
    }
});

test('a login whose user is not authenticated shows the form of its stage, but prompt=none results in login_required', () => {
  for (const at of ['password', 'second-factor'] as const) {
    assert.deepEqual(decideNextStep({ at, passive: false }), { step: 'form', of: at });
    assert.deepEqual(decideNextStep({ at, passive: true }), { step: 'refuse', error: 'login_required' });
  }
});

test('after authentication, a login runs its required actions, then asks for consent, then ends', () => {
  const facts = { at: 'proved', passive: false, otherThanHinted: false } as const;
  const both = { ...facts, pendingActions: ['A', 'B'], consentDue: true };
  assert.deepEqual(decideNextStep(both), { step: 'action', action: 'A' });
  assert.deepEqual(decideNextStep({ ...both, pendingActions: [] }), { step: 'consent' });
  assert.deepEqual(decideNextStep({ ...facts, pendingActions: [], consentDue: false }), { step: 'finish' });
});

test('prompt=none results in interaction_required if a page is needed, and in login_required if the hint names another user', () => {
  const facts = {
    at: 'proved',
    passive: true,
    otherThanHinted: false,
    pendingActions: [],
    consentDue: true,
  } as const;
  assert.deepEqual(decideNextStep(facts), { step: 'refuse', error: 'interaction_required' });
  assert.deepEqual(decideNextStep({ ...facts, otherThanHinted: true }), {
    step: 'refuse',
    error: 'login_required',
  });
});
