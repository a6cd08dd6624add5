import type { AdminClient, AdminRequest, ServiceResponse } from '../../../client/index.ts';
import { IdkitError } from '../../../core/index.ts';
import type { CliCommand } from '../../cli-command.ts';
import type { CommandContext, Flags, Outcome, Runner } from '../../command.ts';
import { given, textFlag } from '../../flags.ts';
import { writeText } from '../../terminal.ts';
import { connect, withAdminFlags } from './connect.ts';
import { buildFields, type Field, queryOf } from './fields.ts';
import { readInputText } from './records/input-file.ts';
import { responseFault } from './response-fault.ts';

const METHODS = ['GET', 'POST', 'PUT', 'DELETE'];
/** Number of records in one request of `--paginate`. */
const PAGE = 500;

/** `idkit admin api` */
export function addApiCommand(admin: CliCommand, run: Runner): void {
  withAdminFlags(
    admin
      .command('api')
      .argument('<method>', METHODS.join(', '))
      .argument('<path>', 'a path below /admin/realms, or an absolute path that begins with /admin/')
      .description('send any request to the administrative API and print the response'),
    { realm: false },
  )
    .option(
      '-F, --field <name=value...>',
      'a field of the body; true, false, null and numbers keep their type; @FILE reads a file',
    )
    .option('-f, --raw-field <name=value...>', 'a field of the body that is text')
    .option('--file <file>', 'the body, from a file or from stdin (-)')
    .option('-H, --header <name:value...>', 'a header of the request')
    .option('-i, --include', 'print the status and the headers of the response first')
    .option('--paginate', 'request a list page by page and print one list')
    .examples([
      ['idkit admin api GET acme/users -f search=ali', 'fields of a GET request are its query'],
      ["idkit admin api POST acme/groups -f name=sales -f 'attributes[city][]=Bern'", 'creates a group'],
      ['idkit admin api PUT acme --file realm.json', 'sends a file'],
      ['idkit admin api GET acme/users --paginate', 'prints all users as one list'],
      ['idkit admin api GET /admin/realms/acme/users/count', 'an absolute path'],
    ])
    .action(run((context, flags, [method, path]) => callApi(context, flags, String(method), String(path))));
}

async function callApi(
  context: CommandContext,
  flags: Flags,
  method: string,
  path: string,
): Promise<Outcome> {
  const request = await buildRequest(context, flags, method.toUpperCase(), path);
  const paginate = flags['paginate'] === true;
  if (paginate && (request.method !== 'GET' || flags['include'] === true))
    throw new IdkitError('IDKIT_USAGE', '--paginate needs a GET request without --include');
  const { admin } = await connect(context, flags);
  if (paginate) return printPages(context, admin, request);
  const response = await admin.request(request);
  const include = flags['include'] === true;
  const { bytes } = response;
  if (bytes !== undefined && bytes.length > 0 && response.status < 300 && !include && !context.globals.json)
    return printBytes(context, response, bytes);
  const body = parseBody(response.text);
  const headers = Object.fromEntries(response.headers);
  return {
    data: {
      status: response.status,
      ...(include ? { headers } : {}),
      ...given('location', response.location),
      ...(bytes === undefined
        ? { body: body ?? null }
        : { bodyBase64: Buffer.from(bytes).toString('base64') }),
    },
    text: [
      ...(include ? [renderHead(response)] : []),
      ...(response.text === '' ? [] : [renderBody(context, response.text, body)]),
    ].join('\n'),
    ...given('failure', await responseFault(response, `${request.method} ${response.url}`)),
  };
}

/** Writes a body that is not text, such as a keystore, as the service sent it. */
async function printBytes(
  { terminal }: CommandContext,
  { headers, url }: ServiceResponse,
  bytes: Uint8Array,
): Promise<Outcome> {
  if (terminal.stdout.isTTY === true)
    throw new IdkitError(
      'IDKIT_FAILED',
      `${url} returned ${headers.get('content-type')}, which is not text`,
      {
        hints: ['redirect stdout to a file'],
      },
    );
  await new Promise<void>((resolve) => terminal.stdout.write(bytes, () => resolve()));
  return {};
}

async function buildRequest(
  context: CommandContext,
  flags: Flags,
  method: string,
  path: string,
): Promise<AdminRequest> {
  if (!METHODS.includes(method))
    throw new IdkitError('IDKIT_USAGE', `the method must be ${METHODS.join(', ')}, not ${method}`);
  const fields = await readFields(context, flags);
  const file = textFlag(flags, 'file');
  const absolute = absolutePath(path);
  const headers = readHeaders(flags);
  if (method === 'GET') {
    if (file !== undefined) throw new IdkitError('IDKIT_USAGE', 'a GET request has no body, so omit --file');
    const query = queryOf(fields);
    if (query === '') return { method, path: absolute, headers };
    return { method, path: `${absolute}${absolute.includes('?') ? '&' : '?'}${query}`, headers };
  }
  if (file !== undefined && fields.length > 0)
    throw new IdkitError('IDKIT_USAGE', 'the body comes from --file or from fields, not from both');
  const body =
    file === undefined
      ? fields.length === 0
        ? undefined
        : JSON.stringify(buildFields(fields))
      : await readInputText(context, file);
  return { method, path: absolute, headers, ...given('body', body) };
}

/** Returns the path from `/admin/` on. The client rejects paths that leave it. */
function absolutePath(path: string): string {
  if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(path) || path.includes('#'))
    throw new IdkitError('IDKIT_USAGE', `the path must not contain a host or a fragment: ${path}`);
  // A URL would silently lose them.
  if (/[\0-\x1f\x7f]/.test(path))
    throw new IdkitError('IDKIT_USAGE', `the path contains a control character: ${JSON.stringify(path)}`);
  if (/^\/admin(\/|\?|$)/.test(path)) return path;
  const relative = path.replace(/^\//, '');
  return relative === '' || relative.startsWith('?')
    ? `/admin/realms${relative}`
    : `/admin/realms/${relative}`;
}

async function readFields(context: CommandContext, flags: Flags): Promise<readonly Field[]> {
  const fields: Field[] = [];
  for (const text of listFlag(flags, 'rawField')) fields.push(splitField(text, '--raw-field'));
  for (const text of listFlag(flags, 'field')) {
    const { name, value } = splitField(text, '--field');
    fields.push({ name, value: await typedValue(context, String(value)) });
  }
  return fields;
}

function splitField(text: string, flag: string): Field {
  const at = text.indexOf('=');
  if (at < 1) throw new IdkitError('IDKIT_USAGE', `${flag} must be NAME=VALUE, not ${JSON.stringify(text)}`);
  return { name: text.slice(0, at), value: text.slice(at + 1) };
}

async function typedValue(context: CommandContext, text: string): Promise<unknown> {
  if (text === 'true') return true;
  if (text === 'false') return false;
  if (text === 'null') return null;
  if (/^-?(0|[1-9]\d{0,14})(\.\d+)?$/.test(text)) return Number(text);
  if (!text.startsWith('@')) return text;
  return (await readInputText(context, text.slice(1))).replace(/\r?\n$/, '');
}

function readHeaders(flags: Flags): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const text of listFlag(flags, 'header')) {
    const match = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x20-\x7e]*)$/.exec(text);
    if (match === null)
      throw new IdkitError('IDKIT_USAGE', `--header must be NAME:VALUE, not ${JSON.stringify(text)}`);
    const [, name = '', value = ''] = match;
    if (/^(authorization|host|content-length|cookie)$/i.test(name))
      throw new IdkitError('IDKIT_USAGE', `--header cannot set ${name}, which idkit sets itself`);
    headers[name.toLowerCase()] = value;
  }
  return headers;
}

function listFlag(flags: Flags, name: string): readonly string[] {
  const value = flags[name];
  return Array.isArray(value) ? value.map(String) : [];
}

/**
 * Prints the records of a list as one JSON list, one record per line, while the pages arrive. It keeps only one page in
 * memory.
 */
async function printPages(
  context: CommandContext,
  admin: AdminClient,
  request: AdminRequest,
): Promise<Outcome> {
  const { stdout } = context.terminal;
  const { json } = context.globals;
  const separator = request.path.includes('?') ? '&' : '?';
  if (/[?&](first|max)=/.test(request.path))
    throw new IdkitError('IDKIT_USAGE', '--paginate sets first and max, so omit them');
  let count = 0;
  let firstOfPage: string | undefined;
  let hasReader = true;
  for (let first = 0; hasReader; first += PAGE) {
    const path = `${request.path}${separator}first=${first}&max=${PAGE}`;
    const response = await admin.request({ ...request, path });
    const fault = await responseFault(response, `GET ${response.url}`);
    if (fault !== undefined) throw fault;
    const records = parseBody(response.text);
    if (!Array.isArray(records))
      throw new IdkitError('IDKIT_USAGE', `GET ${response.url} does not return a list, so omit --paginate`);
    const head = records.length === 0 ? undefined : JSON.stringify(records[0]);
    // A service that ignores `first` returns the same page again.
    const isRepeated = head !== undefined && head === firstOfPage;
    firstOfPage = head;
    for (const record of isRepeated ? [] : records) {
      const text = JSON.stringify(record);
      const line = json ? `{"type":"record","record":${text}}\n` : `${count === 0 ? '[' : ','}\n  ${text}`;
      hasReader = await writeText(stdout, line);
      count += 1;
      if (!hasReader) break;
    }
    if (isRepeated || records.length !== PAGE) break;
    context.signal.throwIfAborted();
  }
  if (!json) await writeText(stdout, count === 0 ? '[]\n' : '\n]\n');
  return { data: { count } };
}

function renderHead(response: ServiceResponse): string {
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`);
  return [`HTTP ${response.status}`, ...headers, ''].join('\n');
}

/** Indents JSON on a terminal. Elsewhere, prints the body as the service sent it. */
function renderBody(context: CommandContext, text: string, body: unknown): string {
  if (context.terminal.stdout.isTTY !== true || body === undefined) return text.replace(/\n$/, '');
  return JSON.stringify(body, null, 2);
}

/** Returns the parsed body. Returns undefined if it is empty, and the text itself if it is not JSON. */
function parseBody(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
