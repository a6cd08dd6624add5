import { renderCount } from '../../core/index.ts';
import { parseObject } from './call.ts';
import { DoesNotApply, runCheck } from './check.ts';
import type { SmokeCheck } from './options.ts';
import { realmUrl, type ServiceUnderTest } from './service.ts';

/** Checks that the discovery document of each realm is JSON with an `issuer`. */
export function checkDiscovery(service: ServiceUnderTest): Promise<SmokeCheck[]> {
  return Promise.all(
    service.realms.map(({ realm, enabled }) =>
      runCheck(
        {
          id: 'discovery',
          title: 'the discovery document is valid JSON with an issuer',
          subject: realm,
          signal: service.options.signal,
        },
        async () => {
          if (enabled === false) throw new DoesNotApply('the realm is disabled');
          return readIssuer(service, realm);
        },
      ),
    ),
  );
}

/** Returns the issuer of the discovery document. @throws Error if it does not belong to the realm */
export async function readIssuer(service: ServiceUnderTest, realm: string): Promise<string> {
  const answer = await service.call(`${realmUrl(service, realm)}/.well-known/openid-configuration`);
  if (answer.status !== 200)
    throw new Error(`the request for the discovery document returned ${answer.status}`);
  const { issuer } = parseObject(answer, 'discovery');
  if (typeof issuer !== 'string' || issuer === '') throw new Error('the document has no issuer');
  const { baseUrl } = service.settings;
  const path = `/realms/${encodeURIComponent(realm)}`;
  if (baseUrl !== null && service.options.baseUrl === undefined && issuer !== `${baseUrl}${path}`) {
    throw new Error(`the issuer is ${issuer}, but baseUrl requires ${baseUrl}${path}`);
  }
  if (!issuer.endsWith(path)) throw new Error(`the issuer ${issuer} does not end with ${path}`);
  return issuer;
}

/** Compares the user count of each realm with the expected count. */
export async function checkUsers(service: ServiceUnderTest): Promise<SmokeCheck[]> {
  const { expectation, signal } = service.options;
  const row = { id: 'user-count', title: 'the realm has as many users as expected', signal };
  if (expectation === undefined) {
    return [
      await runCheck(row, async () => Promise.reject(new DoesNotApply('no expected user counts are given'))),
    ];
  }
  return Promise.all(
    expectation.map(({ realm, users }) =>
      runCheck({ ...row, subject: realm }, async () => {
        if (service.admin === undefined) throw new DoesNotApply(service.adminFault);
        const count = await service.admin.countUsers(realm);
        if (count !== users)
          throw new Error(`${renderCount(count, 'user')}, but the expected number is ${users}`);
        return renderCount(count, 'user');
      }),
    ),
  );
}
