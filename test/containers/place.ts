import type { TestEngine } from './engines.ts';
import type { ContainerPlatform } from './platform.ts';

/** The platform of the faults, which is set before the first of them. */
export interface Place {
  engine: TestEngine;
  platform: ContainerPlatform;
}
