import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { webkitCommand } from '../find-webkit.mjs';

/** A page of WebKitGTK, by WebDriver (https://www.w3.org/TR/webdriver2/). */
export interface WebkitPage {
  /** Opens an address, and waits until the page says that it is ready. */
  open(address: string, ready?: string): Promise<void>;
  /** Runs the body of an async function in the page, which sees `given`. Rejects with its error. */
  evaluate<T>(body: string, ...given: readonly unknown[]): Promise<T>;
  /** A picture of what the window shows, as PNG. */
  screenshot(): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** A busy machine may take minutes for a page. */
const SCRIPT_MS = 600_000;
const STEP_MS = 250;

/** Starts a browser. Throws where it does not come. */
export async function openWebkit(): Promise<WebkitPage> {
  const port = await freePort();
  const [command, args] = webkitCommand(port);
  const driver = spawn(command, args, {
    stdio: 'ignore',
    // A group of its own, with the screen and the browser in it.
    detached: true,
    // Its sandbox needs rights that root in a container lacks.
    env: { ...process.env, WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1' },
  });
  const base = `http://127.0.0.1:${port}/session`;
  try {
    const { sessionId } = await begin(base);
    return pageOf(`${base}/${sessionId}`, driver);
  } catch (error) {
    end(driver);
    throw error;
  }
}

function pageOf(session: string, driver: ChildProcess): WebkitPage {
  const evaluate = async <T>(body: string, ...given: readonly unknown[]): Promise<T> => {
    // The last argument is the function that takes the answer.
    const script = `const given = [...arguments]; const answer = given.pop();
      (async () => { ${body} })().then((value) => answer({ value }),
        (error) => answer({ error: String(error) + '\\n' + (error && error.stack) }));`;
    const { value, error } = await ask<{ value?: T; error?: string }>(
      'POST',
      `${session}/execute/async`,
      { script, args: given },
    );
    if (error !== undefined) throw new Error(error);
    return value as T;
  };
  return {
    evaluate,
    async open(address, ready = "document.documentElement.dataset['ready'] !== undefined") {
      await ask('POST', `${session}/url`, { url: address });
      while (!(await evaluate<boolean>(`return ${ready};`))) await sleep(STEP_MS);
    },
    async screenshot() {
      return Buffer.from(await ask<string>('GET', `${session}/screenshot`), 'base64');
    },
    async close() {
      await ask('DELETE', session).catch(() => undefined);
      end(driver);
    },
  };
}

/** The driver takes a moment to listen. */
async function begin(base: string): Promise<{ readonly sessionId: string }> {
  const wanted = { capabilities: { alwaysMatch: { timeouts: { script: SCRIPT_MS } } } };
  const until = Date.now() + 60_000;
  for (;;) {
    try {
      return await ask('POST', base, wanted);
    } catch (error) {
      if (Date.now() > until) throw error;
      await sleep(STEP_MS);
    }
  }
}

async function ask<T>(method: string, address: string, body?: object): Promise<T> {
  const response = await fetch(address, {
    method,
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(SCRIPT_MS),
  });
  const { value } = (await response.json()) as { value: T & { message?: string } };
  if (!response.ok) throw new Error(`WebKit: ${value.message ?? response.status}`);
  return value;
}

function end({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGTERM');
  } catch {
    // It has ended.
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
