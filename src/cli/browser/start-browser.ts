import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DeviceError } from '../../core/errors.ts';

/** A browser without a window, with a profile of its own. */
interface StartedBrowser {
  /** Rejects with DeviceError once the browser ends by itself. */
  readonly ended: Promise<never>;
  close(): Promise<void>;
}

/** Nothing of the machine's own browser is touched, and nothing is asked of the network. */
const FLAGS = [
  '--headless=new',
  '--no-first-run',
  '--no-default-browser-check',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-extensions',
  // On Linux WebGPU is not there without it.
  '--enable-unsafe-webgpu',
  ...(process.platform === 'linux' ? ['--enable-features=Vulkan'] : []),
];

/** Lines of standard error that an error tells. */
const TOLD_LINES = 3;

/**
 * Opens an address. The address may hold a secret: it stands in a file that only this user reads, not among the
 * arguments, which everybody on the machine can see. More arguments are in the variable WEFT_BROWSER_ARGS.
 */
export async function startBrowser(path: string, address: string): Promise<StartedBrowser> {
  const folder = await mkdtemp(join(tmpdir(), 'weft-browser-'));
  const page = join(folder, 'start.html');
  await writeFile(page, redirect(address), { mode: 0o600 });
  const more = (process.env['WEFT_BROWSER_ARGS'] ?? '').split(' ').filter((word) => word !== '');
  const args = [...FLAGS, `--user-data-dir=${join(folder, 'profile')}`, ...more];
  const browser = spawn(path, [...args, pathToFileURL(page).href], {
    stdio: ['ignore', 'ignore', 'pipe'],
    // A group of its own, so that its helpers end with it.
    detached: process.platform !== 'win32',
  });
  const ended = untilEnded(browser, path);
  // Whoever waits for the browser gets the error; others do not mind.
  ended.catch(() => undefined);
  return {
    ended,
    async close() {
      const gone = new Promise((resolve) => browser.once('close', resolve));
      if (browser.exitCode === null && browser.signalCode === null && browser.pid !== undefined) {
        endGroup(browser, browser.pid);
        await gone;
      }
      await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
}

function redirect(address: string): string {
  const target = JSON.stringify(address).replaceAll('<', String.raw`\u003c`);
  return `<!doctype html><meta charset="utf-8"><script>location.replace(${target});</script>\n`;
}

function endGroup(browser: ChildProcess, pid: number): void {
  try {
    if (process.platform === 'win32') browser.kill();
    else process.kill(-pid, 'SIGKILL');
  } catch {
    // It ended meanwhile.
  }
}

async function untilEnded(browser: ChildProcess, path: string): Promise<never> {
  let said = '';
  browser.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = `${said}${text}`.slice(-4000);
  });
  const reason = await new Promise<string>((resolve) => {
    browser.once('error', (error) => resolve(error.message));
    browser.once('close', (code, signal) => resolve(`it ended with ${signal ?? `status ${code}`}`));
  });
  const last = said.trim().split('\n').slice(-TOLD_LINES).join('; ');
  throw new DeviceError({
    where: `the browser ${path}`,
    got: `${reason}${last === '' ? '' : `: ${last}`}`,
    expected: 'a browser that stays',
    remedy:
      'Arguments for it may stand in the variable WEFT_BROWSER_ARGS; as root Chromium needs --no-sandbox.',
  });
}
