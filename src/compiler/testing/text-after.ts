import { inferModule } from '../inference/infer-module.ts';
import type { Module } from '../ir/expr.ts';
import { parseModule } from '../ir/text/parse.ts';
import { printModule } from '../ir/text/print.ts';
import { equalModules } from '../ir/walk/structural-equal.ts';
import { verifyModule } from '../verify/verify-module.ts';
import { allPasses, runPasses } from '../pass-table.ts';

/**
 * A program after passes, for goldens. Throws unless what the last has made is well-typed, is text
 * that reads back as the same, and is left alone by it.
 */
export function textAfter(names: readonly string[], text: string): string {
  const result = runNamed(names, inferModule(parseModule(text)));
  verifyModule(result);
  const printed = printModule(result);
  if (!equalModules(parseModule(printed), result)) throw new Error(`not the same:\n${printed}`);
  if (runNamed(names.slice(-1), result) !== result) throw new Error(`changes again:\n${printed}`);
  return printed;
}

/** The module that these passes make of a module. */
export function runNamed(names: readonly string[], module: Module): Module {
  const passes = names.map((name) => {
    const pass = allPasses().find((candidate) => candidate.name === name);
    if (pass === undefined) throw new Error(`no pass ${name}`);
    return pass;
  });
  return runPasses(module, passes);
}
