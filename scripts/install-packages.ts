import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Installs the packages of a folder with a lock file of its own, unless `name` is there. */
export function installPackages(folder: string, name: string): void {
  if (existsSync(join(folder, 'node_modules', name))) return;
  console.log(`Installing ${name} …`);
  execFileSync('npm', ['ci', '--ignore-scripts'], { cwd: folder, stdio: 'inherit' });
}
