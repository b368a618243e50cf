// Runs a TypeScript file of this repository in Node: `node scripts/run-ts.mjs FILE [ARGS]`.
// Vite resolves it, so that `?raw` shader imports mean the same as in the page. The file exports
// `main(args)`, which resolves to an exit status.
import { resolve } from 'node:path';
import { createServer, isRunnableDevEnvironment } from 'vite';

const [file, ...args] = process.argv.slice(2);
// Not `runnerImport`: that closes its module runner after the import, and with it `import()`.
const server = await createServer({
  configFile: false,
  logLevel: 'error',
  optimizeDeps: { noDiscovery: true, include: [] },
  server: { middlewareMode: true, hmr: false, ws: false, watch: null },
});
try {
  const environment = server.environments.ssr;
  if (!isRunnableDevEnvironment(environment)) throw new Error('internal: no module runner in Vite');
  const module = await environment.runner.import(resolve(file));
  process.exitCode = (await module.main(args)) ?? 0;
} finally {
  await server.close();
}
