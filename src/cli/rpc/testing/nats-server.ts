import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findNatsServer } from './find-nats-server.mjs';

export interface NatsServer {
  /** The address for Node: `nats://127.0.0.1:port`. */
  readonly url: string;
  /** `ws://127.0.0.1:port`, for pages. */
  readonly webSocketUrl: string;
  /** Stops it at once, as when its machine fails. Its stored data stay. */
  kill(): Promise<void>;
  /** Starts it again at the same ports. */
  restart(): Promise<void>;
  /** Stops it and removes what it stored. */
  close(): Promise<void>;
}

interface NatsServerOptions {
  /** The token that clients have to show. */
  readonly auth?: string | undefined;
  /** More lines of the configuration, in place of a token. */
  readonly configuration?: string | undefined;
  /** Without it nothing is stored. Default: true. */
  readonly jetStream?: boolean | undefined;
}

const START_MS = 60_000;

/** A broker on free ports of loopback, with a store of its own. */
export async function startNatsServer(options: NatsServerOptions): Promise<NatsServer> {
  const folder = await mkdtemp(join(tmpdir(), 'weft-nats-'));
  const configuration = join(folder, 'nats.conf');
  let ports = { nats: -1, webSocket: -1 };
  await writeFile(configuration, text(folder, options, ports));
  let child = await launch(folder, configuration);
  const urls = await readPorts(folder, child);
  ports = { nats: portOf(urls.nats), webSocket: portOf(urls.websocket) };
  // Should it be started again, then at the same place.
  await writeFile(configuration, text(folder, options, ports));
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  };
  return {
    url: urls.nats,
    webSocketUrl: urls.websocket,
    kill,
    async restart() {
      await kill();
      child = await launch(folder, configuration);
      await readPorts(folder, child);
    },
    async close() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function text(
  folder: string,
  { auth, configuration, jetStream = true }: NatsServerOptions,
  ports: { readonly nats: number; readonly webSocket: number },
): string {
  return [
    'host: 127.0.0.1',
    `port: ${ports.nats}`,
    `ports_file_dir: "${folder}"`,
    `websocket { host: 127.0.0.1, port: ${ports.webSocket}, no_tls: true }`,
    ...(jetStream ? [`jetstream { store_dir: "${folder}/store" }`] : []),
    configuration ?? `authorization { token: "${auth}" }`,
    '',
  ].join('\n');
}

async function launch(folder: string, configuration: string): Promise<ChildProcess> {
  const server = findNatsServer();
  if (server === undefined) {
    throw new Error('No nats-server: `node scripts/test.mjs` gets one, or set WEFT_NATS_SERVER.');
  }
  for (const name of await readdir(folder)) {
    if (name.endsWith('.ports')) await rm(join(folder, name));
  }
  const child = spawn(server, ['-c', configuration], { stdio: 'ignore' });
  await once(child, 'spawn');
  return child;
}

/** The server writes the file when it listens. */
async function readPorts(
  folder: string,
  child: ChildProcess,
): Promise<{ nats: string; websocket: string }> {
  const deadline = Date.now() + START_MS;
  while (Date.now() < deadline && child.exitCode === null) {
    const name = (await readdir(folder)).find((file) => file.endsWith('.ports'));
    const content = name === undefined ? '' : await readFile(join(folder, name), 'utf8');
    if (content.endsWith('}')) {
      const { nats, websocket } = JSON.parse(content) as Record<string, string[]>;
      if (nats?.[0] !== undefined && websocket?.[0] !== undefined) {
        return { nats: nats[0], websocket: websocket[0] };
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  child.kill('SIGKILL');
  throw new Error('nats-server did not start.');
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}
