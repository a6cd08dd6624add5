import type { TestEngine } from './engines.ts';
import type { ContainerPlatform } from './platform.ts';

/** The engine and the platform that the tests share. They are set before the first test. */
export interface Place {
  engine: TestEngine;
  platform: ContainerPlatform;
}
