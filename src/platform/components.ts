import type { Settings } from '../config/index.ts';
import type { IdkitError } from '../core/index.ts';

/** The parts of a container platform in the order in which they start; they stop in the opposite one. */
export const PART_ROLES = ['database', 'service', 'proxy', 'application'] as const;

/** What a part is for. */
export type PartRole = (typeof PART_ROLES)[number];

/**
 * Seconds that a part may take to start (spec "Limits": about 30-60 seconds). Keycloak's first start builds it and
 * makes its tables before that, which takes two minutes of a busy machine.
 */
export function startSeconds({ service }: Pick<Settings, 'service'>): number {
  return service === 'keycloak' ? 240 : 120;
}

/** One part of the platform that runs on its own: a container. */
export interface PlatformPart {
  /** Its name in the platform's definition. */
  name: string;
  role: PartRole;
  /** Image and tag, as the definition names it. */
  image: string;
  /** The engine's word (`running`, `restarting`, `exited` …), or `absent` where it was never made. */
  state: string;
  health: 'UP' | 'DOWN';
  /** How often the engine started it again by itself. */
  restarts: number;
  /** Why it is DOWN. */
  detail?: string;
}

/** How parts are started. */
export interface StartOptions {
  signal: AbortSignal;
  /** Seconds that each part may take until it is UP. */
  timeoutSeconds: number;
  /** The directory that holds the platform's definition, where that is not in its place yet. */
  definition?: string;
  /** Hears why a part takes long: its image is not on this machine yet. */
  note?: (message: string) => void;
}

/**
 * The half of `Platform` about parts that run on their own. A platform without such parts has none to start, stop or
 * list (`withoutParts`).
 */
export interface PlatformParts {
  /**
   * A restore may begin: nothing runs that it cannot stop by itself.
   *
   * @throws IDKIT_SERVICE_RUNNING
   */
  checkReplaceable(): Promise<void>;
  /**
   * Starts the parts of one role, and no others, and waits until each is UP; those that run already and fit their
   * definition stay as they are.
   *
   * @throws IDKIT_FAILED with the last lines of its log for a part that ends or restarts over and over,
   *   IDKIT_UNREACHABLE for one that is not UP in time, IDKIT_PORT_TAKEN, IDKIT_VERSION without an engine
   */
  startParts(role: PartRole, options: StartOptions): Promise<readonly PlatformPart[]>;
  /** Stops and removes the parts of one role, their data stays; gives those that ran. Idempotent. */
  stopParts(role: PartRole, options: { signal: AbortSignal }): Promise<readonly PlatformPart[]>;
  /** Removes what `startParts` made beside the parts: networks. Their data stays. */
  removeParts(options: { signal: AbortSignal }): Promise<void>;
  /**
   * Every part of the definition as it is now, in starting order; `definition` as in `StartOptions`.
   *
   * @throws IDKIT_SETTING without a definition, IDKIT_VERSION, IDKIT_UNREACHABLE
   */
  listParts(options?: Pick<StartOptions, 'definition'>): Promise<readonly PlatformPart[]>;
}

/** The parts of a platform that has none; `refusal` gives the fault where its service runs. */
export function withoutParts(refusal: () => Promise<IdkitError | undefined>): PlatformParts {
  return {
    async checkReplaceable() {
      const error = await refusal();
      if (error !== undefined) throw error;
    },
    startParts: async () => [],
    stopParts: async () => [],
    removeParts: async () => undefined,
    listParts: async () => [],
  };
}
