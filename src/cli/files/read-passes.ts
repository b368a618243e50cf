import { basename, extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Pass } from '../../compiler/index.ts';
import type { InsertedPass } from '../../compiler/insert-passes.ts';
import { UsageError } from '../../core/errors.ts';
import { readBytes } from './read-file.ts';

const FILES: ReadonlySet<string> = new Set(['.js', '.mjs', '.ts', '.mts', '.rules']);

/** Returns true if a value of `--pass` names a file with passes rather than a pass. */
export function isPassFile(name: string): boolean {
  return FILES.has(extname(name));
}

/**
 * The passes of a file: its rewrite rules (`.rules`), or what it exports as `default`: one or several, each a pass or one with its place. A pass
 * without a place runs before `eliminate-common-subexpressions`, when operators are still whole and everything
 * is simplified. Throws UsageError for a file that exports none.
 */
export async function readPasses(path: string): Promise<readonly InsertedPass[]> {
  if (extname(path) === '.rules') return [await readRules(path)];
  const exported = await importDefault(path);
  const list: readonly unknown[] = Array.isArray(exported) ? exported : [exported];
  return list.map((item): InsertedPass => {
    if (isPass(item)) return { pass: item, before: 'eliminate-common-subexpressions' };
    if (isInserted(item)) return item;
    throw new UsageError({
      where: path,
      got: 'a default export that is no pass',
      expected:
        '{ name, run(module, context) }, or { pass, before } or { pass, after }, or a list of them',
    });
  });
}

/** A file of rewrite rules runs where `rules` of `compile` do. */
async function readRules(path: string): Promise<InsertedPass> {
  const { rewriteRules } = await import('../../frontend/index.ts');
  const text = new TextDecoder().decode(await readBytes(path));
  return { pass: rewriteRules(basename(path), text, { file: path }), before: 'simplify' };
}

async function importDefault(path: string): Promise<unknown> {
  const address = pathToFileURL(resolve(path)).href;
  try {
    const loaded: { readonly default?: unknown } = await import(/* @vite-ignore */ address);
    return loaded.default;
  } catch (cause) {
    const got = `a file that cannot be imported (${cause instanceof Error ? cause.message : String(cause)})`;
    const remedy = path.endsWith('ts') ? 'Node imports TypeScript from version 22.18.' : undefined;
    throw new UsageError({ where: path, got, expected: 'an ES module', remedy }, { cause });
  }
}

function isPass(value: unknown): value is Pass {
  return isObject(value) && typeof value['name'] === 'string' && typeof value['run'] === 'function';
}

/** The compiler checks the name of the place. */
function isInserted(value: unknown): value is InsertedPass {
  return isObject(value) && isPass(value['pass']);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
