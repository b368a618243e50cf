// `npm start`: installs what is missing, builds the page and serves it.
import { fileURLToPath } from 'node:url';
import { installDependencies } from './install-dependencies.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
if (!installDependencies(root)) process.exit(1);

const { build, preview } = await import('vite');
console.log('Building the page …');
await build({ root, logLevel: 'warn' });
const server = await preview({ root, preview: { port: 4173 }, logLevel: 'warn' });
const [address] = server.resolvedUrls?.local ?? [];
console.log(`\nWeft is at ${address}\nPress Ctrl+C to stop.`);
