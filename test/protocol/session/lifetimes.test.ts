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

describe('lifetimes of a user session (docs/keycloak/sessions.md#lifetimes)', () => {
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

  it('defaults to 1800 and 36000 seconds if the realm has 0 or a negative value', () => {
    const ends = userSessionEnds(
      realmSettings({ ssoSessionIdleTimeout: 0, ssoSessionMaxLifespan: -1 }),
      session,
    );
    assert.deepEqual(ends, { idleEnd: start + 1800, maxEnd: start + 36_000 });
  });

  it('raises both lifetimes for a remembered session, and never lowers them', () => {
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

  it('gives an offline session no maximum age unless the realm limits it', () => {
    const free = userSessionEnds(realmSettings({ offlineSessionIdleTimeout: 0 }), offline);
    assert.deepEqual(free, { idleEnd: start + 2_592_000, maxEnd: Number.POSITIVE_INFINITY });
    const limited = userSessionEnds(
      realmSettings({ offlineSessionMaxLifespanEnabled: true, offlineSessionMaxLifespan: 100 }),
      offline,
    );
    assert.equal(limited.maxEnd, start + 100);
  });

  it('ends exactly at its expiry, without a grace period', () => {
    assert.equal(isAlive({ idleEnd: 10, maxEnd: 20 }, 9), true);
    assert.equal(isAlive({ idleEnd: 10, maxEnd: 20 }, 10), false);
  });
});

describe('lifetimes of a client session (docs/keycloak/sessions.md#lifetimes)', () => {
  it("prefers the client's own idle time to the realm's, and the realm's to the session's", () => {
    const settings = realmSettings({ clientSessionIdleTimeout: 900 });
    const own = client({ 'client.session.idle.timeout': '600' });
    assert.equal(clientSessionEnds(settings, own, session, family).idleEnd, start + 600);
    assert.equal(clientSessionEnds(settings, client(), session, family).idleEnd, start + 900);
    assert.equal(clientSessionEnds(realmSettings(), client(), session, family).idleEnd, start + 1800);
  });

  it("uses the client's own maximum age, but never beyond the user session's end", () => {
    const settings = realmSettings({ ssoSessionMaxLifespan: 1000, clientSessionMaxLifespan: 500 });
    assert.equal(clientSessionEnds(settings, client(), session, family).maxEnd, start + 500);
    const long = client({ 'client.session.max.lifespan': '5000' });
    assert.equal(clientSessionEnds(settings, long, session, family).maxEnd, start + 1000);
  });

  it('counts the maximum age of a client that joined later from its own start', () => {
    const settings = realmSettings({ ssoSessionMaxLifespan: 1000, clientSessionMaxLifespan: 300 });
    const later = { startedAt: start + 600, lastRefreshAt: start + 600 };
    assert.equal(clientSessionEnds(settings, client(), session, later).maxEnd, start + 900);
  });

  it('limits an offline session with the attribute of the client only', () => {
    const own = client({ 'client.offline.session.max.lifespan': '50' });
    assert.equal(clientSessionEnds(realmSettings(), own, offline, family).maxEnd, start + 50);
  });

  it("ignores the realm's offline client maximum while offline maximums are disabled", () => {
    const settings = realmSettings({ clientOfflineSessionMaxLifespan: 10 });
    assert.equal(clientSessionEnds(settings, client(), offline, family).maxEnd, Number.POSITIVE_INFINITY);
  });

  it('raises the idle time of a remembered session for its clients too', () => {
    const settings = realmSettings({ ssoSessionIdleTimeoutRememberMe: 9000 });
    const remembered = { ...session, rememberMe: true };
    assert.equal(clientSessionEnds(settings, client(), remembered, family).idleEnd, start + 9000);
  });

  it('ignores attributes that are not a whole number above 0', () => {
    for (const value of ['', '0', '-5', 'soon', '1.5', '99999999999'])
      assert.equal(
        clientSessionEnds(realmSettings(), client({ 'client.session.idle.timeout': value }), session, family)
          .idleEnd,
        start + 1800,
        value,
      );
  });
});

describe('end of a refresh token (docs/keycloak/sessions.md#lifetimes)', () => {
  it('slides with every use until the session reaches its maximum age', () => {
    const settings = realmSettings({ ssoSessionIdleTimeout: 1800, ssoSessionMaxLifespan: 28_800 });
    const at = (now: number) => refreshTokenExpiry(settings, client(), session, family, now);
    assert.equal(at(start), start + 1800);
    assert.equal(at(start + 1000), start + 2800);
    assert.equal(at(start + 28_000)! - (start + 28_000), 800);
  });

  it('may be later than the idle end of the user session, if the client is configured for it', () => {
    const own = client({ 'client.session.idle.timeout': '5000' });
    assert.equal(refreshTokenExpiry(realmSettings(), own, session, family, start), start + 5000);
  });

  it('supports a sliding lifetime of 2,592,000 seconds', () => {
    const settings = realmSettings({ ssoSessionIdleTimeout: 2_592_000, ssoSessionMaxLifespan: 31_536_000 });
    assert.equal(refreshTokenExpiry(settings, client(), session, family, start), start + 2_592_000);
  });

  it('is missing for an offline token unless its session has a maximum age', () => {
    assert.equal(refreshTokenExpiry(realmSettings(), client(), offline, family, start), undefined);
    const settings = realmSettings({
      offlineSessionMaxLifespanEnabled: true,
      offlineSessionMaxLifespan: 100,
    });
    assert.equal(refreshTokenExpiry(settings, client(), offline, family, start), start + 100);
  });
});

describe('end of an access token (docs/keycloak/sessions.md#lifetimes)', () => {
  const within = { session, family };

  it("prefers the client's own lifespan to the realm's", () => {
    const settings = realmSettings({ accessTokenLifespan: 300 });
    assert.equal(accessTokenExpiry(settings, client(), within, start), start + 300);
    const short = client({ 'access.token.lifespan': '120' });
    assert.equal(accessTokenExpiry(settings, short, within, start), start + 120);
  });

  it('never outlives its session', () => {
    const settings = realmSettings({ ssoSessionMaxLifespan: 100 });
    assert.equal(accessTokenExpiry(settings, client(), within, start + 50), start + 100);
  });

  it("equals the session's end with a lifespan of -1", () => {
    const settings = realmSettings({ ssoSessionMaxLifespan: 4000 });
    const own = client({ 'access.token.lifespan': '-1' });
    assert.equal(accessTokenExpiry(settings, own, within, start), start + 4000);
    const endless = { session: offline, family };
    assert.ok(Number.isFinite(accessTokenExpiry(settings, own, endless, start)));
  });

  it('is limited by the maximum age of a session for a service account too', () => {
    const settings = realmSettings({ accessTokenLifespan: 300, ssoSessionMaxLifespan: 28_800 });
    assert.equal(accessTokenExpiry(settings, client(), undefined, start), start + 300);
    const long = client({ 'access.token.lifespan': '315360000' });
    assert.equal(accessTokenExpiry(settings, long, undefined, start), start + 28_800);
  });
});
