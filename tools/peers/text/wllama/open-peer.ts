import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright';
import { installPackages } from '../../../../scripts/install-packages.ts';
import { launchChromium } from '../../../../scripts/launch-chromium.ts';
import { type ChatRequest, type Completion, complete, tokenize } from './in-page.ts';

const folder = fileURLToPath(new URL('.', import.meta.url));
const packages = join(folder, 'node_modules');

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript',
  '.wasm': 'application/wasm',
};

/** llama.cpp in a page of Chromium, on one thread of its CPU and with caches in float32. */
export interface Peer {
  /** The likeliest continuation of each prompt, with its own tokenizer; `length` tokens, none of those that end a text. */
  complete(
    model: Uint8Array,
    prompts: readonly (string | ChatRequest)[],
    length: number,
  ): Promise<readonly Completion[]>;
  /** The ids of each text, special tokens read as such and none added. */
  tokenize(model: Uint8Array, texts: readonly string[]): Promise<readonly (readonly number[])[]>;
  close(): Promise<void>;
}

/** Installs the packages if they are missing. The folder that they are in. */
export function installWllama(): string {
  installPackages(folder, 'wllama');
  return packages;
}

/** Installs the packages if they are missing, and opens a page for them. */
export async function openPeer(): Promise<Peer> {
  installWllama();
  let model = new Uint8Array();
  const server = serve(() => model);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const browser = await launchChromium(['--no-sandbox']);
  const page: Page = await browser.newPage();
  page.on('pageerror', (error) => console.error(`page: ${error.message}`));
  // llama.cpp says there why it refuses a file, and to callers only that it does.
  const said: string[] = [];
  page.on('console', (line) => void said.push(line.text()));
  const explained = async <Result>(call: () => Promise<Result>): Promise<Result> => {
    said.length = 0;
    try {
      return await call();
    } catch (cause) {
      throw new Error(`wllama failed; it last said:\n${said.slice(-12).join('\n')}`, { cause });
    }
  };
  await page.goto(`http://127.0.0.1:${port}/`);
  return {
    async complete(bytes, prompts, length) {
      model = new Uint8Array(bytes);
      const order = { folder: '/wllama/esm', prompts: [...prompts], length };
      return explained(() => page.evaluate(complete, order));
    },
    async tokenize(bytes, texts) {
      model = new Uint8Array(bytes);
      const order = { folder: '/wllama-tokens/esm', texts: [...texts] };
      return explained(() => page.evaluate(tokenize, order));
    },
    async close() {
      await browser.close();
      server.close();
    },
  };
}

/** Serves a blank page, the packages, and the model that is asked about. */
function serve(model: () => Uint8Array): Server {
  return createServer(({ url = '/' }, response) => {
    const path = normalize(new URL(url, 'http://localhost').pathname);
    if (path === '/') {
      response.setHeader('content-type', 'text/html');
      response.end('<!doctype html><link rel="icon" href="data:,">');
      return;
    }
    if (path === '/model.gguf') {
      response.end(model());
      return;
    }
    const file = join(packages, path);
    if (!existsSync(file)) {
      response.writeHead(404).end();
      return;
    }
    response.setHeader('content-type', TYPES[extname(file)] ?? 'application/octet-stream');
    response.end(readFileSync(file));
  });
}
