import { isAbsolute, join, sep } from 'node:path';
import type { Settings } from '../../config/index.ts';
import { isRemoteLocation } from '../../target/index.ts';
import type { ScheduleOptions } from './options.ts';
import { quoteForUnit } from './quote.ts';

/**
 * What idkit never needs (systemd.exec(5)). `MemoryDenyWriteExecute=` is missing because Node.js compiles JavaScript to
 * machine code, and `RemoveIPC=` because several units share one user.
 */
const SANDBOX = [
  'NoNewPrivileges=yes',
  'PrivateDevices=yes',
  'ProtectSystem=strict',
  'ProtectClock=yes',
  'ProtectControlGroups=yes',
  'ProtectHostname=yes',
  'ProtectKernelLogs=yes',
  'ProtectKernelModules=yes',
  'ProtectKernelTunables=yes',
  'ProtectProc=invisible',
  'RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK',
  'RestrictNamespaces=yes',
  'RestrictRealtime=yes',
  'RestrictSUIDSGID=yes',
  'LockPersonality=yes',
  'SystemCallArchitectures=native',
  'SystemCallFilter=@system-service',
  'SystemCallErrorNumber=EPERM',
];

/** Directories that `ProtectHome=yes` hides. */
const HOMES = ['/home', '/root', '/run/user'];
/** Directories that `PrivateTmp=yes` replaces. */
const TEMPORARY = ['/tmp', '/var/tmp'];

/**
 * Returns the lines that confine a unit. It can write only to the platform directory, the backup root, the mirror and
 * the directory of the database. A platform in containers runs an engine, which needs more than a sandbox allows, so
 * its units get only the file mode mask.
 */
export function renderSandbox(settings: Settings, options: ScheduleOptions): readonly string[] {
  const mask = 'UMask=0077';
  if (settings.runtime === 'compose') return [mask];
  const writable = listWritable(settings);
  const used = [...writable, ...options.program, ...(options.home === undefined ? [] : [options.home])];
  const usesAny = (places: readonly string[]): boolean =>
    used.some((path) => places.some((place) => contains(place, path)));
  return [
    mask,
    ...SANDBOX,
    `PrivateTmp=${usesAny(TEMPORARY) ? 'no' : 'yes'}`,
    `ProtectHome=${usesAny(HOMES) ? 'read-only' : 'yes'}`,
    // With the minus sign, idkit itself reports a directory that does not exist.
    `ReadWritePaths=${writable.map((path) => quoteForUnit(`-${path}`)).join(' ')}`,
    ...capabilities(settings),
  ];
}

/** Returns the directories that the service or a timer writes to, without those inside another one. */
export function listWritable(settings: Settings): readonly string[] {
  const { dir, database, backup } = settings;
  const paths = [
    dir,
    ...(database.kind === 'sqlite' ? [join(database.file, '..')] : []),
    backup.root,
    ...(isLocal(backup.mirror) ? [join(isAbsolute(backup.mirror) ? '/' : dir, backup.mirror)] : []),
  ];
  return paths.filter(
    (path, at) => !paths.some((other, index) => (index < at || other !== path) && contains(other, path)),
  );
}

function isLocal(mirror: string | null): mirror is string {
  return mirror !== null && !isRemoteLocation(mirror);
}

function contains(dir: string, path: string): boolean {
  return path === dir || path.startsWith(dir.endsWith(sep) ? dir : `${dir}${sep}`);
}

/** Only root, or a program with this capability, can listen on a port below 1024. */
function capabilities({ listen, service, runtime }: Settings): readonly string[] {
  const low = listen.port > 0 && listen.port < 1024 && service === 'idkit' && runtime === 'embedded';
  return low
    ? ['CapabilityBoundingSet=CAP_NET_BIND_SERVICE', 'AmbientCapabilities=CAP_NET_BIND_SERVICE']
    : ['CapabilityBoundingSet='];
}
