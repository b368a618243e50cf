import { fileURLToPath } from 'node:url';
import { installPackages } from '../../../scripts/install-packages.ts';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));

/** The path of a file in one of the packages of this folder, which are installed if they are not there. */
export function packageFile(name: string, path: string): string {
  installPackages(FOLDER, name);
  return `${FOLDER}node_modules/${name}/${path}`;
}
