import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type Change, planted } from './change.ts';

/** What stays from call to call: packages, and what tests cache. */
const KEPT = /^(node_modules|\.weft-cache)$/;

/** What these folders share with the repository: packages, and a broker for tests. */
const LINKED: Readonly<Record<string, RegExp>> = {
  node_modules: /^(?!\.vite)/,
  '.weft-cache': /^nats-server$/,
};

/** A copy of the repository in which changes are planted, so that none is ever left in the sources. */
export class WorkingCopy {
  readonly root: string;
  #original: { readonly path: string; readonly source: string } | undefined;

  constructor(root: string) {
    this.root = root;
  }

  /** Makes it what the repository is now: all files that git tracks or would. Throws while another process uses it. */
  refresh(repository: string): void {
    mkdirSync(join(this.root, 'node_modules'), { recursive: true });
    mkdirSync(join(this.root, '.weft-cache'), { recursive: true });
    this.#lock(join(this.root, '.weft-cache/mutants.pid'));
    for (const name of readdirSync(this.root)) {
      if (!KEPT.test(name)) rmSync(join(this.root, name), { recursive: true });
    }
    const list = (...args: readonly string[]): string =>
      execFileSync('git', ['ls-files', '-z', '--exclude-standard', ...args], {
        cwd: repository,
        encoding: 'utf8',
        maxBuffer: 2 ** 26,
      });
    // Scripts write sources too, which git ignores.
    const listed = list('-co') + list('-oi', '--', 'src');
    for (const name of listed.split('\0')) {
      const from = join(repository, name);
      if (name === '' || !existsSync(from)) continue;
      mkdirSync(dirname(join(this.root, name)), { recursive: true });
      copyFileSync(from, join(this.root, name));
    }
    // Links in folders of its own: vite, vitest and tests keep files in there.
    for (const folder of ['node_modules', '.weft-cache']) {
      const known = new Set(readdirSync(join(this.root, folder)));
      for (const name of readdirSync(join(repository, folder))) {
        if (known.has(name) || !LINKED[folder]?.test(name)) continue;
        symlinkSync(join(repository, folder, name), join(this.root, folder, name));
      }
    }
  }

  plant(change: Change): void {
    const path = join(this.root, change.file);
    const source = readFileSync(path, 'utf8');
    this.#original = { path, source };
    writeFileSync(path, planted(source, change));
  }

  /** Takes the planted change away again. */
  restore(): void {
    if (this.#original !== undefined) writeFileSync(this.#original.path, this.#original.source);
    this.#original = undefined;
  }

  #lock(path: string): void {
    const user = existsSync(path) ? Number(readFileSync(path, 'utf8')) : 0;
    if (user !== 0 && isRunning(user)) {
      throw new Error(`${this.root} is in use by process ${user}: wait until it has ended.`);
    }
    writeFileSync(path, String(process.pid));
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
