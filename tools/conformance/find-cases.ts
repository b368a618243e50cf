import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { CaseFiles } from './conformance-case.ts';

/** A case and where it lies on this machine. */
export interface FoundCase extends CaseFiles {
  readonly folder: string;
}

/**
 * Every folder below `root` with a `model.onnx` and data sets, by name. Throws when there is no
 * such folder or nothing in it.
 */
export function findCases(root: string): FoundCase[] {
  if (!existsSync(root) || !statSync(root).isDirectory()) {
    throw new Error(
      `The folder ${root} does not exist. Models of our own are in models/; a checkout of ONNX has ` +
        'cases in onnx/backend/test/data.',
    );
  }
  const found: FoundCase[] = [];
  const pending = [root];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    const entries = readdirSync(folder, { withFileTypes: true });
    const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    const dataSets = folders.filter((name) => name.includes('data_set_')).sort(byNumber);
    if (entries.some(({ name }) => name === 'model.onnx') && dataSets.length > 0) {
      const name = relative(root, folder).split(sep).join('/') || folder;
      found.push({ folder, name, dataSets: dataSets.map((set) => dataSetFiles(folder, set)) });
    } else {
      for (const name of folders) pending.push(join(folder, name));
    }
  }
  if (found.length === 0)
    throw new Error(`No folder below ${root} has a model.onnx with data sets.`);
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function dataSetFiles(folder: string, name: string): CaseFiles['dataSets'][number] {
  const files = readdirSync(join(folder, name)).sort(byNumber);
  const those = (prefix: string): string[] =>
    files.filter((file) => file.startsWith(prefix)).map((file) => `${name}/${file}`);
  return { name, inputs: those('input_'), outputs: those('output_') };
}

/** `input_2.pb` before `input_10.pb`. */
function byNumber(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}
