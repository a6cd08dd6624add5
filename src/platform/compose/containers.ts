import { IdkitError } from '../../core/index.ts';
import { lastLine } from './call.ts';
import type { Engine } from './engine.ts';

/** A container of the project, as the engine reports it. */
export interface Container {
  id: string;
  /** The name of the container's service in the compose file. */
  service: string;
  image: string;
  /** The state that the engine reports: `created`, `running`, `restarting`, `exited` … */
  state: string;
  exitCode: number;
  /** Number of times that the engine has restarted the container. */
  restarts: number;
  /** The engine's error if the container could not start. */
  error: string;
  /** The result of the container's own health check, if the engine runs one. */
  health?: string;
  ports: readonly PublishedPort[];
}

/** A port of a container that this machine can reach. */
export interface PublishedPort {
  /** The port inside the container. */
  inner: number;
  /** An address of this machine; `127.0.0.1` for a port that is published on every address. */
  host: string;
  port: number;
}

const PROJECT = 'com.docker.compose.project';
const SERVICE = 'com.docker.compose.service';

/** Lists every container of a compose project, running or not. @throws IDKIT_UNREACHABLE */
export async function listContainers(engine: Engine, project: string): Promise<readonly Container[]> {
  const listed = await engine.call(['ps', '-aq', '--no-trunc', '--filter', `label=${PROJECT}=${project}`]);
  if (listed.code !== 0) throw noAnswer('the containers cannot be listed', lastLine(listed));
  const ids = listed.stdout.split('\n').filter((line) => line !== '');
  if (ids.length === 0) return [];
  const inspected = await engine.call(['container', 'inspect', ...ids]);
  // If a container was removed in the meantime, the exit code reports a failure, but the output lists the other
  // containers.
  const records = parseRecords(inspected.stdout);
  if (records === undefined) throw noAnswer('the containers cannot be inspected', lastLine(inspected));
  return records.flatMap((record) => readContainer(record) ?? []);
}

/** Lists the compose projects that have containers on this engine. */
export async function listProjects(engine: Engine): Promise<readonly string[]> {
  const label = engine.kind === 'docker' ? `{{.Label "${PROJECT}"}}` : `{{index .Labels "${PROJECT}"}}`;
  const listed = await engine.call(['ps', '-a', '--format', label]);
  if (listed.code !== 0) return [];
  return [...new Set(listed.stdout.split('\n').map((line) => line.trim()))].filter(
    (name) => name !== '' && name !== '<no value>',
  );
}

/** Returns the last lines of a container's log in their original order. */
export async function readLog(engine: Engine, id: string, lines: number): Promise<readonly string[]> {
  const inspected = await engine.call(['logs', '--tail', String(lines), id]);
  return `${inspected.stdout}\n${inspected.stderr}`
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
    .slice(-lines);
}

/**
 * Returns the error for a paused container. Such a container does not respond, and idkit does not resume it, because
 * only the operator knows why it is paused.
 */
export function pausedFault(engine: Engine, { id, service }: Pick<Container, 'id' | 'service'>): IdkitError {
  return new IdkitError('IDKIT_UNREACHABLE', `the container of ${service} is paused`, {
    hints: [unpauseHint(engine, id)],
  });
}

/** Returns the hint that says how to resume a paused container. */
export function unpauseHint({ kind }: Engine, id: string): string {
  return `${kind} unpause ${id.slice(0, 12)} resumes it`;
}

function noAnswer(what: string, why: string): IdkitError {
  return new IdkitError('IDKIT_UNREACHABLE', `${what}: ${why}`);
}

interface InspectRecord {
  Id: string;
  ImageName?: string;
  RestartCount?: number;
  Config: { Image?: string; Labels?: Record<string, string> | null };
  State: {
    Status: string;
    ExitCode?: number;
    Error?: string;
    Health?: { Status?: string } | null;
  };
  NetworkSettings?: { Ports?: Record<string, { HostIp?: string; HostPort?: string }[] | null> | null };
}

function parseRecords(text: string): readonly InspectRecord[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? (value as InspectRecord[]) : undefined;
  } catch {
    return undefined;
  }
}

function readContainer(record: InspectRecord): Container | undefined {
  const labels = record.Config.Labels ?? {};
  const service = labels[SERVICE];
  if (service === undefined || labels['com.docker.compose.oneoff'] === 'True') return undefined;
  const { Status, ExitCode = 0, Error: error = '', Health } = record.State;
  return {
    id: record.Id,
    service,
    image: record.ImageName ?? record.Config.Image ?? '',
    state: Status === 'stopped' ? 'exited' : Status,
    exitCode: ExitCode,
    restarts: record.RestartCount ?? 0,
    error,
    ...(Health?.Status === undefined || Health.Status === '' ? {} : { health: Health.Status }),
    ports: readPorts(record.NetworkSettings?.Ports ?? {}),
  };
}

function readPorts(
  ports: Record<string, { HostIp?: string; HostPort?: string }[] | null>,
): readonly PublishedPort[] {
  return Object.entries(ports).flatMap(([inner, places]) =>
    (places ?? []).flatMap(({ HostIp = '', HostPort = '' }) =>
      // The entry for IPv6 is ignored, because the port is also published on IPv4.
      HostPort === '' || HostIp === '::'
        ? []
        : [
            {
              inner: Number.parseInt(inner, 10),
              host: HostIp === '' || HostIp === '0.0.0.0' ? '127.0.0.1' : HostIp,
              port: Number(HostPort),
            },
          ],
    ),
  );
}
