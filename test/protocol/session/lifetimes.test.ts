import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  accessTokenExpiry,
  clientSessionEnds,
  isAlive,
  refreshTokenExpiry,
  userSessionEnds,
} from '../../../src/protocol/session/lifetimes.ts';
import { realmSettings } from '../support/realm.ts';

const start = 1_000_000;
const session = { offline: false, startedAt: start, lastAccessAt: start, rememberMe: false };
const offline = { ...session, offline: true };
const family = { startedAt: start, lastRefreshAt: start };
const client = (attributes: Record<string, string> = {}) => ({ attributes });

describe('lifetimes of a user session (facts §4.1)', () => {
  it('ends an idle session ssoSessionIdleTimeout after its last use', () => {
    const ends = userSessionEnds(realmSettings({ ssoSessionIdleTimeout: 1800 }), session);
    assert.equal(ends.idleEnd, start + 1800);
  });

  it('ends every session ssoSessionMaxLifespan after its start, however often it is used', () => {
    const used = { ...session, lastAccessAt: start + 35_999 };
    const ends = userSessionEnds(realmSettings({ ssoSessionMaxLifespan: 36_000 }), used);
    assert.equal(ends.maxEnd, start + 36_000);
    assert.equal(isAlive(ends, start + 35_999), true);
    assert.equal(isAlive(ends, start + 36_000), false);
  });

  it('takes 1800 and 36000 seconds where the realm says 0 or less', () => {
    const ends = userSessionEnds(
      realmSettings({ ssoSessionIdleTimeout: 0, ssoSessionMaxLifespan: -1 }),
      session,
    );
    assert.deepEqual(ends, { idleEnd: start + 1800, maxEnd: start + 36_000 });
  });

  it('raises both for a remembered session, and never lowers them', () => {
    const settings = realmSettings({
      ssoSessionIdleTimeout: 1800,
      ssoSessionIdleTimeoutRememberMe: 7200,
      ssoSessionMaxLifespan: 36_000,
      ssoSessionMaxLifespanRememberMe: 60,
    });
    const ends = userSessionEnds(settings, { ...session, rememberMe: true });
    assert.deepEqual(ends, { idleEnd: start + 7200, maxEnd: start + 36_000 });
    assert.equal(userSessionEnds(settings, session).idleEnd, start + 1800);
  });

  it('gives an offline session no greatest age unless the realm limits it', () => {
    const free = userSessionEnds(realmSettings({ offlineSessionIdleTimeout: 0 }), offline);
    assert.deepEqual(free, { idleEnd: start + 2_592_000, maxEnd: Number.POSITIVE_INFINITY });
    const limited = userSessionEnds(
      realmSettings({ offlineSessionMaxLifespanEnabled: true, offlineSessionMaxLifespan: 100 }),
      offline,
    );
    assert.equal(limited.maxEnd, start + 100);
  });

  it('is over at the very second of its end: there is no grace', () => {
    assert.equal(isAlive({ idleEnd: 10, maxEnd: 20 }, 9), true);
    assert.equal(isAlive({ idleEnd: 10, maxEnd: 20 }, 10), false);
  });
});

describe('lifetimes of a client session (facts §4.1)', () => {
  it("takes the client's own idle time before the realm's before the session's", () => {
    const settings = realmSettings({ clientSessionIdleTimeout: 900 });
    const own = client({ 'client.session.idle.timeout': '600' });
    assert.equal(clientSessionEnds(settings, own, session, family).idleEnd, start + 600);
    assert.equal(clientSessionEnds(settings, client(), session, family).idleEnd, start + 900);
    assert.equal(clientSessionEnds(realmSettings(), client(), session, family).idleEnd, start + 1800);
  });

  it("takes the client's own greatest age, but never beyond the user session's end", () => {
    const settings = realmSettings({ ssoSessionMaxLifespan: 1000, clientSessionMaxLifespan: 500 });
    assert.equal(clientSessionEnds(settings, client(), session, family).maxEnd, start + 500);
    const long = client({ 'client.session.max.lifespan': '5000' });
    assert.equal(clientSessionEnds(settings, long, session, family).maxEnd, start + 1000);
  });

  it('counts the greatest age of a client that came later from its own start', () => {
    const settings = realmSettings({ ssoSessionMaxLifespan: 1000, clientSessionMaxLifespan: 300 });
    const later = { startedAt: start + 600, lastRefreshAt: start + 600 };
    assert.equal(clientSessionEnds(settings, client(), session, later).maxEnd, start + 900);
  });

  it('lets the attribute of a client alone limit its offline session', () => {
    const own = client({ 'client.offline.session.max.lifespan': '50' });
    assert.equal(clientSessionEnds(realmSettings(), own, offline, family).maxEnd, start + 50);
  });

  it("does not look at the realm's offline client maximum while offline maximums are off", () => {
    const settings = realmSettings({ clientOfflineSessionMaxLifespan: 10 });
    assert.equal(clientSessionEnds(settings, client(), offline, family).maxEnd, Number.POSITIVE_INFINITY);
  });

  it('raises the idle time of a remembered session for its clients too', () => {
    const settings = realmSettings({ ssoSessionIdleTimeoutRememberMe: 9000 });
    const remembered = { ...session, rememberMe: true };
    assert.equal(clientSessionEnds(settings, client(), remembered, family).idleEnd, start + 9000);
  });

  it('ignores attributes that are no whole number above 0', () => {
    for (const value of ['', '0', '-5', 'soon', '1.5', '99999999999'])
      assert.equal(
        clientSessionEnds(realmSettings(), client({ 'client.session.idle.timeout': value }), session, family)
          .idleEnd,
        start + 1800,
        value,
      );
  });
});

describe('end of a refresh token (facts §4.1)', () => {
  it('slides with every use until the session is as old as it may be', () => {
    const settings = realmSettings({ ssoSessionIdleTimeout: 1800, ssoSessionMaxLifespan: 28_800 });
    const at = (now: number) => refreshTokenExpiry(settings, client(), session, family, now);
    assert.equal(at(start), start + 1800);
    assert.equal(at(start + 1000), start + 2800);
    assert.equal(at(start + 28_000)! - (start + 28_000), 800);
  });

  it('may be later than the idle end of the user session, when the client says so', () => {
    const own = client({ 'client.session.idle.timeout': '5000' });
    assert.equal(refreshTokenExpiry(realmSettings(), own, session, family, start), start + 5000);
  });

  it('honours a sliding lifetime of 2,592,000 seconds (spec, "Limits")', () => {
    const settings = realmSettings({ ssoSessionIdleTimeout: 2_592_000, ssoSessionMaxLifespan: 31_536_000 });
    assert.equal(refreshTokenExpiry(settings, client(), session, family, start), start + 2_592_000);
  });

  it('has none for an offline token without a maximum, and one with a maximum', () => {
    assert.equal(refreshTokenExpiry(realmSettings(), client(), offline, family, start), undefined);
    const settings = realmSettings({
      offlineSessionMaxLifespanEnabled: true,
      offlineSessionMaxLifespan: 100,
    });
    assert.equal(refreshTokenExpiry(settings, client(), offline, family, start), start + 100);
  });
});

describe('end of an access token (facts §4.1)', () => {
  const within = { session, family };

  it("takes the client's own lifespan before the realm's", () => {
    const settings = realmSettings({ accessTokenLifespan: 300 });
    assert.equal(accessTokenExpiry(settings, client(), within, start), start + 300);
    const short = client({ 'access.token.lifespan': '120' });
    assert.equal(accessTokenExpiry(settings, short, within, start), start + 120);
  });

  it('never outlives its session', () => {
    const settings = realmSettings({ ssoSessionMaxLifespan: 100 });
    assert.equal(accessTokenExpiry(settings, client(), within, start + 50), start + 100);
  });

  it('lives as long as its session with a lifespan of -1', () => {
    const settings = realmSettings({ ssoSessionMaxLifespan: 4000 });
    const own = client({ 'access.token.lifespan': '-1' });
    assert.equal(accessTokenExpiry(settings, own, within, start), start + 4000);
    const endless = { session: offline, family };
    assert.ok(Number.isFinite(accessTokenExpiry(settings, own, endless, start)));
  });

  it('ends with the greatest age of a session for a service account too (observed: exports)', () => {
    const settings = realmSettings({ accessTokenLifespan: 300, ssoSessionMaxLifespan: 28_800 });
    assert.equal(accessTokenExpiry(settings, client(), undefined, start), start + 300);
    const long = client({ 'access.token.lifespan': '315360000' });
    assert.equal(accessTokenExpiry(settings, long, undefined, start), start + 28_800);
  });
});
