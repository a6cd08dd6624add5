import type { TestEngine } from './engines.ts';
import type { ContainerPlatform } from './platform.ts';

/** Where faults are made: filled in before the first of them. */
export interface Place {
  engine: TestEngine;
  platform: ContainerPlatform;
}
