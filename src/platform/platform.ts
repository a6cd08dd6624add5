import type { PlatformDatabase, PlatformInfo, PlatformService } from './contract.ts';

/** A platform: its service and its database. Procedures treat every kind of platform the same way. */
export class Platform {
  readonly service: PlatformService;
  readonly database: PlatformDatabase;

  constructor(service: PlatformService, database: PlatformDatabase) {
    this.service = service;
    this.database = database;
  }

  info(): PlatformInfo {
    return { ...this.service.info(), ...this.database.info() };
  }
}
