import { writeFile } from 'node:fs/promises';
import type { AppliedRule, ModuleDispatch } from '../compiler/index.ts';
import { UsageError } from '../core/errors.ts';
import { explainRewrites } from './explain-rewrites.ts';
import { readModule } from './read-program.ts';
import type { Terminal } from './terminal.ts';

export interface OptFlags {
  readonly pass?: readonly string[];
  readonly output?: string;
  readonly dim?: Record<string, number>;
  readonly dispatch?: ModuleDispatch;
  readonly explain?: boolean;
}

/** `weft opt`: reads a program, runs passes, and prints it, after what rewrite rules did if asked. */
export async function optCommand(
  path: string,
  { pass: names = [], output, dim, dispatch, explain = false }: OptFlags,
  terminal: Terminal,
): Promise<number> {
  const { allPasses, printModule, runPasses } = await import('../frontend/index.ts');
  const passes = allPasses({ dims: dim, dispatch });
  const chosen = names.map((name) => {
    const found = passes.find((pass) => pass.name === name);
    if (found !== undefined) return found;
    const known = passes.map((pass) => pass.name).join(', ');
    throw new UsageError({ where: '--pass', got: name, expected: `one of ${known}` });
  });
  const { module, texts } = await readModule(path, dim);
  const applied: AppliedRule[] = [];
  const onRewrite = (rule: AppliedRule): void => void applied.push(rule);
  const onWarning = (warning: string): void => terminal.err(`warning: ${warning}\n`);
  const text = printModule(runPasses(module, chosen, { texts, onRewrite, onWarning }));
  if (explain) terminal.out(explainRewrites(applied));
  if (output === undefined) terminal.out(text);
  else await writeFile(output, text);
  return 0;
}
