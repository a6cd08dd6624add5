import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  accessTokenExpiry,
  clientSessionEnds,
  isAlive,
  refreshTokenExpiry,
  userSessionEnds,
} from '../../src/model/session-lifetimes.ts';
import { realmSettings } from '../protocol/support/realm.ts';

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

  it('ends every session ssoSessionMaxLifespan after its start, even if it is used', () => {
    const used = { ...session, lastAccessAt: start + 35_999 };
    const ends = userSessionEnds(realmSettings({ ssoSessionMaxLifespan: 36_000 }), used);
    assert.equal(ends.maxEnd, start + 36_000);
    assert.equal(isAlive(ends, start + 35_999), true);
    assert.equal(isAlive(ends, start + 36_000), false);
  });

  it('uses 1800 and 36000 seconds if the limits of the realm are 0 or negative', () => {
    const ends = userSessionEnds(
      realmSettings({ ssoSessionIdleTimeout: 0, ssoSessionMaxLifespan: -1 }),
      session,
    );
    assert.deepEqual(ends, { idleEnd: start + 1800, maxEnd: start + 36_000 });
  });

  it('raises both limits for a remembered session, but never lowers them', () => {
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

  it('does not limit the age of an offline session unless the realm does', () => {
    const free = userSessionEnds(realmSettings({ offlineSessionIdleTimeout: 0 }), offline);
    assert.deepEqual(free, { idleEnd: start + 2_592_000, maxEnd: Number.POSITIVE_INFINITY });
    const limited = userSessionEnds(
      realmSettings({ offlineSessionMaxLifespanEnabled: true, offlineSessionMaxLifespan: 100 }),
      offline,
    );
    assert.equal(limited.maxEnd, start + 100);
  });

  it('ends a session exactly at its expiry, without a grace period', () => {
    assert.equal(isAlive({ idleEnd: 10, maxEnd: 20 }, 9), true);
    assert.equal(isAlive({ idleEnd: 10, maxEnd: 20 }, 10), false);
  });
});

describe('lifetimes of a client session (docs/keycloak/sessions.md#lifetimes)', () => {
  it("uses the client's idle time, or else the realm's idle time for clients, or else that of the user session", () => {
    const settings = realmSettings({ clientSessionIdleTimeout: 900 });
    const own = client({ 'client.session.idle.timeout': '600' });
    assert.equal(clientSessionEnds(settings, own, session, family).idleEnd, start + 600);
    assert.equal(clientSessionEnds(settings, client(), session, family).idleEnd, start + 900);
    assert.equal(clientSessionEnds(realmSettings(), client(), session, family).idleEnd, start + 1800);
  });

  it("the maximum age is the client's own, but never beyond the end of the user session", () => {
    const settings = realmSettings({ ssoSessionMaxLifespan: 1000, clientSessionMaxLifespan: 500 });
    assert.equal(clientSessionEnds(settings, client(), session, family).maxEnd, start + 500);
    const long = client({ 'client.session.max.lifespan': '5000' });
    assert.equal(clientSessionEnds(settings, long, session, family).maxEnd, start + 1000);
  });

  it('counts the maximum age of a client session from the time when the client joined', () => {
    const settings = realmSettings({ ssoSessionMaxLifespan: 1000, clientSessionMaxLifespan: 300 });
    const later = { startedAt: start + 600, lastRefreshAt: start + 600 };
    assert.equal(clientSessionEnds(settings, client(), session, later).maxEnd, start + 900);
  });

  it("limits the age of an offline client session by the client's own attribute", () => {
    const own = client({ 'client.offline.session.max.lifespan': '50' });
    assert.equal(clientSessionEnds(realmSettings(), own, offline, family).maxEnd, start + 50);
  });

  it("ignores the realm's maximum age for offline clients if offline sessions have no maximum age", () => {
    const settings = realmSettings({ clientOfflineSessionMaxLifespan: 10 });
    assert.equal(clientSessionEnds(settings, client(), offline, family).maxEnd, Number.POSITIVE_INFINITY);
  });

  it('raises the idle time of the clients in a remembered session too', () => {
    const settings = realmSettings({ ssoSessionIdleTimeoutRememberMe: 9000 });
    const remembered = { ...session, rememberMe: true };
    assert.equal(clientSessionEnds(settings, client(), remembered, family).idleEnd, start + 9000);
  });

  it('ignores attributes that are not whole numbers above 0', () => {
    for (const value of ['', '0', '-5', 'soon', '1.5', '99999999999'])
      assert.equal(
        clientSessionEnds(realmSettings(), client({ 'client.session.idle.timeout': value }), session, family)
          .idleEnd,
        start + 1800,
        value,
      );
  });
});

describe('the expiry of a refresh token (docs/keycloak/sessions.md#lifetimes)', () => {
  it('a refresh token expires later after each use, until the session reaches its maximum age', () => {
    const settings = realmSettings({ ssoSessionIdleTimeout: 1800, ssoSessionMaxLifespan: 28_800 });
    const at = (now: number) => refreshTokenExpiry(settings, client(), session, family, now);
    assert.equal(at(start), start + 1800);
    assert.equal(at(start + 1000), start + 2800);
    assert.equal(at(start + 28_000)! - (start + 28_000), 800);
  });

  it('a refresh token can outlive the idle time of the user session, if the client is configured for it', () => {
    const own = client({ 'client.session.idle.timeout': '5000' });
    assert.equal(refreshTokenExpiry(realmSettings(), own, session, family, start), start + 5000);
  });

  it('a refresh token can be valid for 2,592,000 seconds after each use', () => {
    const settings = realmSettings({ ssoSessionIdleTimeout: 2_592_000, ssoSessionMaxLifespan: 31_536_000 });
    assert.equal(refreshTokenExpiry(settings, client(), session, family, start), start + 2_592_000);
  });

  it('an offline token expires only if its session has a maximum age', () => {
    assert.equal(refreshTokenExpiry(realmSettings(), client(), offline, family, start), undefined);
    const settings = realmSettings({
      offlineSessionMaxLifespanEnabled: true,
      offlineSessionMaxLifespan: 100,
    });
    assert.equal(refreshTokenExpiry(settings, client(), offline, family, start), start + 100);
  });
});

describe('the expiry of an access token (docs/keycloak/sessions.md#lifetimes)', () => {
  const within = { session, family };

  it("an access token has the client's own lifespan, or that of the realm if the client has none", () => {
    const settings = realmSettings({ accessTokenLifespan: 300 });
    assert.equal(accessTokenExpiry(settings, client(), within, start), start + 300);
    const short = client({ 'access.token.lifespan': '120' });
    assert.equal(accessTokenExpiry(settings, short, within, start), start + 120);
  });

  it('an access token never outlives its session', () => {
    const settings = realmSettings({ ssoSessionMaxLifespan: 100 });
    assert.equal(accessTokenExpiry(settings, client(), within, start + 50), start + 100);
  });

  it('an access token with a lifespan of -1 expires with its session', () => {
    const settings = realmSettings({ ssoSessionMaxLifespan: 4000 });
    const own = client({ 'access.token.lifespan': '-1' });
    assert.equal(accessTokenExpiry(settings, own, within, start), start + 4000);
    const endless = { session: offline, family };
    assert.ok(Number.isFinite(accessTokenExpiry(settings, own, endless, start)));
  });

  it("a service account's access token is limited by the maximum age of a session", () => {
    const settings = realmSettings({ accessTokenLifespan: 300, ssoSessionMaxLifespan: 28_800 });
    assert.equal(accessTokenExpiry(settings, client(), undefined, start), start + 300);
    const long = client({ 'access.token.lifespan': '315360000' });
    assert.equal(accessTokenExpiry(settings, long, undefined, start), start + 28_800);
  });
});
