import type { AdminConnection, KeptLogin, LoginService } from '../../../client/index.ts';
import type { Profile } from '../../../config/index.ts';
import { errorMessage, IdkitError } from '../../../core/index.ts';
import type { CliCommand } from '../../cli-command.ts';
import type { CommandContext, Flags, Outcome, Runner } from '../../command.ts';
import { checkName, given, textFlag, wholeNumber } from '../../flags.ts';
import { printable } from '../../output/output.ts';
import { wrapCommandLine } from '../../output/wrap.ts';
import { checkTransport, connectionOf } from '../admin/kept-session.ts';
import { openBrowser, pasteRedirect } from './open-browser.ts';
import { readCredentials } from './read-credentials.ts';
import { parseServiceAddress } from './service-address.ts';

/** The client for logins by browser and by device code. The operator creates it once, because Keycloak 26 has none. */
const PERSON_CLIENT = 'idkit-cli';
/** The client of Keycloak 26 for the password grant. */
const PASSWORD_CLIENT = 'admin-cli';
const METHODS = ['browser', 'device', 'password'] as const;
type Method = (typeof METHODS)[number];

/** `idkit login` */
export function addLogin(program: CliCommand, run: Runner): void {
  program
    .command('login')
    .argument('[url]', 'the address of the service, of its console or of a realm')
    .description('log in to a service and keep the session for idkit admin')
    .option(
      '--realm <name>',
      'the realm of the administrator (default: the realm in the address, else master)',
    )
    .option('--profile <name>', 'the name of the profile (default: the host of the address)')
    .option('--username <name>', 'the username (default: IDKIT_ADMIN_USERNAME, else a prompt)')
    .option('--browser', 'log in with a browser on this machine')
    .option('--device', 'log in with a code that a browser on any machine confirms')
    .option('--password', 'log in with a password and, if the user has one, a one-time password')
    .option('--client-id <id>', `the client (default: ${PERSON_CLIENT}; with --password ${PASSWORD_CLIENT})`)
    .option('--port <port>', 'the port of 127.0.0.1 to which the browser returns (default: a free one)')
    .option('--no-open', 'print the address of the login page, but do not open a browser')
    .option('--offline', 'keep the session until the logout, even if it is not used (scope offline_access)')
    .option('--insecure-http', 'send the password and tokens unencrypted to a host other than this machine')
    .examples([
      [
        'idkit login https://login.example.org',
        'with a browser, or with a password if the realm has no client',
      ],
      ['idkit login https://login.example.org --realm acme', 'as an administrator of one realm'],
      [
        'idkit login http://127.0.0.1:8080 --password --username alice',
        'prompts for the password and the code',
      ],
      ['idkit login', 'renews the session of the current profile'],
    ])
    .action(run((context, flags, [url]) => logIn(context, flags, url)));
}

async function logIn(context: CommandContext, flags: Flags, url: string | undefined): Promise<Outcome> {
  const target = await chooseTarget(context, flags, url);
  await checkTransport(target.url, target.insecureHttp);
  const { profile, login, method } = await logInWith(context, flags, target);
  const connection = await connectionOf(context, profile);
  const { connectAdmin, endKeptSession, keepLogin, removeKeptLogin } = await import(
    '../../../client/index.ts'
  );
  const { saveProfile } = await import('../../../config/index.ts');
  if (login.refreshToken === undefined)
    throw new IdkitError(
      'IDKIT_CREDENTIALS',
      `the client ${profile.clientId} gets no refresh token, so idkit cannot keep the session`,
      {
        hints: [
          'set the attribute use.refresh.tokens of the client to true, or choose another with --client-id',
        ],
      },
    );
  // The earlier session can belong to another user, realm or client, whose login the new connection does not read.
  const before = target.before === undefined ? undefined : await connectionOf(context, target.before);
  const replaced = before === undefined ? undefined : await removeKeptLogin(before);
  await keepLogin(connection, login);
  await saveProfile(context.env, profile);
  if (before !== undefined && replaced !== undefined)
    await endKeptSession(before, replaced).catch((error: unknown) =>
      context.reporter.note(`the earlier session was not ended at the service: ${errorMessage(error)}`),
    );
  const admin = await connectAdmin(connection);
  const answer = await admin.request({
    method: 'GET',
    path: `/admin/realms/${encodeURIComponent(profile.realm)}`,
  });
  if (answer.status === 403)
    context.reporter.note(`${profile.username} has no administrative role that shows realm ${profile.realm}`);
  const { name, ...rest } = profile;
  return {
    data: { profile: name, ...rest, method },
    text: `logged in to ${profile.url} as ${profile.username} of realm ${profile.realm} (profile ${name})`,
  };
}

/** The service to log in to, from the arguments or from a profile. */
interface Target {
  name: string;
  url: string;
  realm: string;
  insecureHttp: boolean;
  /** The profile of this name, if it exists. */
  before: Profile | undefined;
}

async function chooseTarget(context: CommandContext, flags: Flags, url: string | undefined): Promise<Target> {
  const { checkProfileName, findProfile, profileNameFor, readProfiles } = await import(
    '../../../config/index.ts'
  );
  const profiles = readProfiles(context.env);
  const flag = textFlag(flags, 'profile');
  const given = flag === undefined ? undefined : checkProfileName(flag, '--profile');
  const realmFlag = textFlag(flags, 'realm');
  const consent = flags['insecureHttp'] === true;
  if (url === undefined) {
    const name = given ?? (context.env['IDKIT_PROFILE'] || profiles.current);
    if (name === undefined)
      throw new IdkitError('IDKIT_USAGE', 'the address of the service is missing', {
        hints: ['for example: idkit login https://login.example.org'],
      });
    const before = findProfile(profiles, name);
    return {
      name,
      url: before.url,
      realm: realmFlag === undefined ? before.realm : checkName(realmFlag, '--realm'),
      insecureHttp: consent || before.insecureHttp,
      before,
    };
  }
  const address = parseServiceAddress(url);
  const realm = checkName(realmFlag ?? address.realm ?? 'master', '--realm');
  const name = given ?? profileNameFor(address.url, realm);
  const before = profiles.list.find((profile) => profile.name === name);
  if (before !== undefined && before.url !== address.url)
    throw new IdkitError('IDKIT_USAGE', `the profile ${name} is for ${before.url}, not for ${address.url}`, {
      hints: ['choose another name with --profile', `or remove the profile: idkit profile remove ${name}`],
    });
  return { name, url: address.url, realm, insecureHttp: consent || before?.insecureHttp === true, before };
}

interface LoggedIn {
  profile: Profile;
  login: KeptLogin;
  method: Method;
}

async function logInWith(context: CommandContext, flags: Flags, target: Target): Promise<LoggedIn> {
  const chosen = METHODS.filter((method) => flags[method] === true);
  if (chosen.length > 1)
    throw new IdkitError(
      'IDKIT_USAGE',
      `only one of ${chosen.map((each) => `--${each}`).join(', ')} is allowed`,
    );
  const [method] = chosen;
  if (method === 'password' || (method === undefined && !context.terminal.canAsk))
    return logInByPassword(context, flags, target);
  const { discover, mayUseBrowser } = await import('../../../client/index.ts');
  const realm = loginRealm(context, flags, target, PERSON_CLIENT);
  const service = await discover(realm);
  if (method === 'device') return logInByDevice(context, flags, target, service);
  const isUsable = await mayUseBrowser(service, realm, 'http://127.0.0.1:9/callback');
  if (isUsable) return logInByBrowser(context, flags, target);
  const missing = `realm ${target.realm} has no client ${realm.clientId} that may log in by browser on this machine`;
  if (method === 'browser' || textFlag(flags, 'clientId') !== undefined)
    throw new IdkitError('IDKIT_CREDENTIALS', missing, {
      hints: [`log in with --password, then create the client: ${creationOf(realm.clientId, target.realm)}`],
    });
  context.reporter.note(`${missing}, so this login uses a password`);
  adviseClient(context, creationOf(realm.clientId, target.realm));
  return logInByPassword(context, flags, target);
}

/** Prints the command for the next login by browser. On a terminal, it can be copied although it is wrapped. */
function adviseClient({ reporter, terminal, globals }: CommandContext, commandLine: string): void {
  const { stderr } = terminal;
  if (stderr.isTTY !== true || globals.quiet || globals.json) {
    reporter.note(`to create the client afterwards: ${commandLine}`);
    return;
  }
  reporter.note('to log in by browser the next time, create the client afterwards:');
  const lines = wrapCommandLine(commandLine, (stderr.columns || 80) - 2);
  stderr.write(lines.map((line) => `  ${printable(line)}\n`).join(''));
}

/** Returns the command that creates the client for logins by browser and by device code, on idkit and on Keycloak 26. */
function creationOf(clientId: string, realm: string): string {
  return [
    `idkit admin api POST ${encodeURIComponent(realm)}/clients`,
    `-f clientId=${clientId}`,
    '-F publicClient=true',
    "-f 'redirectUris[]=http://127.0.0.1/callback'",
    "-f 'attributes[pkce.code.challenge.method]=S256'",
    "-f 'attributes[oauth2.device.authorization.grant.enabled]=true'",
  ].join(' ');
}

function loginRealm(
  { globals, signal }: CommandContext,
  flags: Flags,
  { realm, url }: Target,
  client: string,
): { baseUrl: string; realm: string; clientId: string; signal: AbortSignal; timeoutMilliseconds?: number } {
  return {
    baseUrl: url,
    realm,
    clientId: textFlag(flags, 'clientId') ?? client,
    signal,
    ...given(
      'timeoutMilliseconds',
      globals.timeout === undefined ? undefined : Math.ceil(globals.timeout * 1000),
    ),
  };
}

const scopeOf = (flags: Flags): { scope?: string } =>
  flags['offline'] === true ? { scope: 'offline_access' } : {};

async function logInByBrowser(context: CommandContext, flags: Flags, target: Target): Promise<LoggedIn> {
  const client = await import('../../../client/index.ts');
  const realm = loginRealm(context, flags, target, PERSON_CLIENT);
  const port = textFlag(flags, 'port');
  const { login, username } = await client.logInByBrowser({
    ...realm,
    ...scopeOf(flags),
    ...given('username', textFlag(flags, 'username') ?? target.before?.username),
    ...given('port', port === undefined ? undefined : wholeNumber(port, '--port', { from: 1, to: 65_535 })),
    allowHttp: target.insecureHttp,
    open: (url) => openBrowser(context, url, { open: flags['open'] !== false }),
    ...(context.terminal.canAsk
      ? { paste: (redirectUri: string, signal: AbortSignal) => pasteRedirect(context, redirectUri, signal) }
      : {}),
  });
  return { profile: profileOf(target, realm.clientId, username), login, method: 'browser' };
}

async function logInByDevice(
  context: CommandContext,
  flags: Flags,
  target: Target,
  service: LoginService,
): Promise<LoggedIn> {
  const client = await import('../../../client/index.ts');
  const realm = loginRealm(context, flags, target, PERSON_CLIENT);
  const { login, username } = await client.logInByDevice(service, {
    ...realm,
    ...scopeOf(flags),
    show: ({ address, code, completeAddress }) => {
      // The texts come from the service, which is not trusted yet.
      context.terminal.stderr.write(
        printable(
          `Open ${address} in a browser on any machine and enter the code ${code}\n${
            completeAddress === undefined ? '' : `or open ${completeAddress}\n`
          }`,
        ),
      );
    },
  });
  return { profile: profileOf(target, realm.clientId, username), login, method: 'device' };
}

async function logInByPassword(context: CommandContext, flags: Flags, target: Target): Promise<LoggedIn> {
  const credentials = await readCredentials(context, {
    ...given('username', textFlag(flags, 'username')),
    ...given('suggested', target.before?.username),
    place: `${target.url}, realm ${target.realm}`,
  });
  const { passwordLogin } = await import('../../../client/index.ts');
  const { username, password, totp } = credentials;
  const connection: AdminConnection = {
    ...loginRealm(context, flags, target, PASSWORD_CLIENT),
    username,
    renewHint: 'check the username, the password and the one-time password',
  };
  const login = await passwordLogin({ ...connection, password, ...given('totp', totp), ...scopeOf(flags) });
  const clientId = connection.clientId ?? PASSWORD_CLIENT;
  return { profile: profileOf(target, clientId, username), login, method: 'password' };
}

function profileOf(target: Target, clientId: string, username: string): Profile {
  const { name, url, realm, insecureHttp } = target;
  return { name, url, realm, username, clientId, insecureHttp };
}
