import type { Application } from '../../config/index.ts';
import { parseObject } from './call.ts';
import { DoesNotApply, runCheck } from './check.ts';
import type { SmokeCheck } from './options.ts';
import type { ServiceUnderTest } from './service.ts';

/** Checks that each application is UP, and that its protected page needs a valid token. */
export async function checkApplications(
  service: ServiceUnderTest,
  accessToken: string | undefined,
): Promise<SmokeCheck[]> {
  const { applications } = service.settings;
  const rows: readonly Application[] = applications.length > 0 ? applications : [{ name: '' }];
  const checks = await Promise.all(rows.map((application) => checkOne(service, application, accessToken)));
  return checks.flat();
}

async function checkOne(
  service: ServiceUnderTest,
  application: Application,
  accessToken: string | undefined,
): Promise<SmokeCheck[]> {
  const { signal } = service.options;
  const subject = application.name === '' ? {} : { subject: application.name };
  const absent = (what: string) =>
    application.name === '' ? 'no application is configured' : `the application has no ${what} address`;
  const health = { id: 'application-health', title: 'the application’s health is UP', signal, ...subject };
  const guarded = {
    id: 'application-protected',
    title: 'the protected API accepts only a valid token',
    signal,
    ...subject,
  };
  return [
    await runCheck(health, async () => {
      if (application.health === undefined) throw new DoesNotApply(absent('health'));
      const answer = await service.call(application.health);
      const { status } = parseObject(answer, application.health);
      if (answer.status !== 200 || status !== 'UP') {
        throw new Error(
          `${application.health} responded with ${answer.status} and status ${JSON.stringify(status)}`,
        );
      }
      return application.health;
    }),
    await runCheck(guarded, async () => {
      if (application.protected === undefined) throw new DoesNotApply(absent('protected'));
      if (accessToken === undefined) throw new DoesNotApply('there is no token');
      return checkGuarded(service, application.protected, accessToken);
    }),
  ];
}

async function checkGuarded(service: ServiceUnderTest, url: string, accessToken: string): Promise<string> {
  const without = await service.call(url);
  if (without.status !== 401)
    throw new Error(`without a token, ${url} responded with ${without.status} instead of 401`);
  if (!/^Bearer\b/i.test(without.headers.get('www-authenticate') ?? '')) {
    throw new Error(`${url} responded with 401 without WWW-Authenticate: Bearer`);
  }
  const withToken = await service.call(url, { bearer: accessToken });
  if (withToken.status !== 200)
    throw new Error(`with a valid token, ${url} responded with ${withToken.status} instead of 200`);
  return url;
}
