// Runs the service of a platform directory (argv) until it is killed, and prints its address.
import { loadSettings } from '../../src/config/index.ts';
import { startService } from '../../src/service/index.ts';

// A fixed base URL, so that the issuer stays the same on another port.
const flags = { 'listen.port': '0', 'listen.managementPort': '0', baseUrl: 'http://idkit.test' };
const settings = await loadSettings({ dir: process.argv[2], flags, env: {} });
const service = await startService(settings);
process.stdout.write(`${service.address}\n`);
process.once('SIGTERM', () => void service.close().then(() => process.exit(0)));
