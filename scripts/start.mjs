// `npm start`: installs what is missing, builds the page, serves it with a relay, and opens it in the browser.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { installDependencies } from './install-dependencies.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
if (!installDependencies(root)) process.exit(1);

/** Why no browser can open here, or undefined. */
function reasonNotToOpen() {
  const { CI, BROWSER, DISPLAY, WAYLAND_DISPLAY, WSL_DISTRO_NAME, SSH_CONNECTION } = process.env;
  if (!['', '0', 'false'].includes(CI ?? '')) return 'this is continuous integration';
  if (BROWSER === 'none') return 'BROWSER is none';
  const hasDisplay = [DISPLAY, WAYLAND_DISPLAY, WSL_DISTRO_NAME].some(Boolean);
  if (process.platform === 'linux' && !hasDisplay) return 'there is no display';
  if (SSH_CONNECTION && !DISPLAY) return 'this is a session over SSH';
  return undefined;
}

/** Starts a relay of this machine, at which pages hand over what they run. Its address, and what it asks for. */
async function startedRelay() {
  const { builtEntry } = await import('./run-ts/built-entry.mjs');
  const file = await builtEntry(join(root, 'src/cli/rpc/start-relay.ts'));
  const { startRelay } = await import(pathToFileURL(file).href);
  const relayToken = randomUUID();
  const { url } = await startRelay({ port: 0, relayToken });
  return `${url} ${relayToken}`;
}

const { build, preview } = await import('vite');
console.log('Building the page …');
const { writeOperators } = await import('./write-operators.mjs');
await writeOperators();
process.env.WEFT_START_RELAY = await startedRelay();
await build({ root, mode: 'site', logLevel: 'warn' });
const reason = reasonNotToOpen();
const server = await preview({
  root,
  mode: 'site',
  preview: { port: 4173, open: reason === undefined },
  logLevel: 'warn',
});
const [address] = server.resolvedUrls?.local ?? [];
const opens =
  reason === undefined
    ? 'It opens in your browser; if it does not, open that address.'
    : `Open that address in a browser: none opens by itself, since ${reason}.`;
console.log(`\nWeft is at ${address}\n${opens}\nPress Ctrl+C to stop.`);
