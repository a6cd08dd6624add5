import { setTimeout as sleep } from 'node:timers/promises';
import { pinCertificate } from '../../client/index.ts';
import {
  findHolders,
  type LockHolder,
  ownVersion,
  readLockHolder,
  type Settings,
} from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import { type RunningService, serviceLockFile, startService } from '../../service/index.ts';
import type { Component, PlatformService, ServiceInfo } from '../contract.ts';
import { serviceRuns } from '../find-service.ts';
import { isReady } from './ready.ts';

/** Pause in milliseconds between two requests to `/health/ready`. */
const POLL_PAUSE = 50;

/**
 * The gate with which a restore keeps services out of the database. While it is shut, only this process may use the
 * database.
 */
export interface ServiceGate {
  readonly isShut: boolean;
}

/**
 * idkit's own service on SQLite or Postgres. `start` runs it inside this process, because a separate process would
 * outlive a killed restore and keep the lock that the next restore needs.
 */
export class EmbeddedService implements PlatformService {
  readonly #settings: Settings;
  readonly #gate: ServiceGate | undefined;
  #running: RunningService | undefined;

  constructor(settings: Settings, gate?: ServiceGate) {
    this.#settings = settings;
    this.#gate = gate;
  }

  info(): ServiceInfo {
    return { runtime: 'embedded', service: 'idkit', serviceVersion: ownVersion() };
  }

  async readVersion(): Promise<undefined> {
    return undefined;
  }

  async baseUrl(): Promise<string | undefined> {
    return this.#running === undefined ? (await this.#readHolder())?.baseUrl : this.#running.address;
  }

  async managementUrl(): Promise<string | undefined> {
    return this.#running === undefined ? (await this.#readHolder())?.managementUrl : undefined;
  }

  async canStart(): Promise<boolean> {
    return true;
  }

  async start(): Promise<void> {
    if (this.#running !== undefined) return;
    const listen = {
      host: '127.0.0.1',
      port: 0,
      managementPort: 'off' as const,
      managementHost: '127.0.0.1',
      tlsCert: null,
      tlsKey: null,
      drainSeconds: 0,
    };
    // A restore may still go back, so its checks must not become part of the archive.
    const backup = { ...this.#settings.backup, archive: null };
    this.#running = await startService(
      { ...this.#settings, listen, backup },
      { importDirectory: false, withoutLock: this.#gate?.isShut === true },
    );
  }

  async stop(): Promise<void> {
    const service = this.#running;
    this.#running = undefined;
    await service?.close();
  }

  async waitUntilReady(timeoutSeconds: number): Promise<void> {
    const until = performance.now() + timeoutSeconds * 1000;
    for (;;) {
      const address = await this.baseUrl();
      if (address !== undefined && (await isReady(address, until))) return;
      if (performance.now() >= until)
        throw new IdkitError(
          'IDKIT_UNREACHABLE',
          `${address ?? 'the service'} was not ready within ${timeoutSeconds} s`,
        );
      await sleep(POLL_PAUSE);
    }
  }

  async checkReplaceable(): Promise<void> {
    const address = await this.baseUrl();
    if (address !== undefined) throw serviceRuns(address);
  }

  // An embedded platform has no components: its service is this process, or an `idkit serve` that the operator runs.

  async startComponents(): Promise<readonly Component[]> {
    return [];
  }

  async stopComponents(): Promise<readonly Component[]> {
    return [];
  }

  async removeNetworks(): Promise<void> {}

  async listComponents(): Promise<readonly Component[]> {
    return [];
  }

  /** Reads the record of a service in another process. From then on, this process trusts that service's certificate. */
  async #readHolder(): Promise<LockHolder | undefined> {
    const file = serviceLockFile(this.#settings);
    const holder =
      this.#settings.database.kind === 'sqlite' ? await readLockHolder(file) : await findNewest(file);
    if (holder?.certificate !== undefined)
      for (const url of [holder.baseUrl, holder.managementUrl])
        if (url !== undefined) pinCertificate(new URL(url).origin, holder.certificate);
    return holder;
  }
}

/** Returns the newest service that is listening. On Postgres, one platform directory can run several services. */
async function findNewest(file: string): Promise<LockHolder | undefined> {
  const holders = (await findHolders(file)).filter(({ baseUrl }) => baseUrl !== undefined);
  return holders.toSorted((one, other) => (one.startedAt < other.startedAt ? -1 : 1)).at(-1);
}
