import type { Command } from 'commander';
import { writeFile } from 'node:fs/promises';
import type { CompileOptions, Module, Pass, PassInstrument } from '../../compiler/index.ts';
import type { AppliedRule } from '../../compiler/rewriting/rewrite-rule.ts';
import type { InsertedPass } from '../../compiler/insert-passes.ts';
import type { ModuleDispatch } from '../../compiler/passes/dispatch-by-shape/dispatch-by-shape.ts';
import { formatSpan } from '../../compiler/ir/expr.ts';
import { UsageError } from '../../core/errors.ts';
import { nearestName } from '../../core/nearest-name.ts';
import { describeBisection, differenceOnHost, readArguments } from '../bisect-passes.ts';
import { collectPairs, memoryBudgetOption, splitNames } from '../parse-options.ts';
import { isPassFile, readPasses } from '../files/read-passes.ts';
import { type ReadModule, readModule } from '../files/read-program.ts';
import { warn, writeJson } from '../report.ts';
import type { Terminal } from '../terminal.ts';
import type { CommandParts } from './command-parts.ts';
import { dimsOption, dispatchOption } from './common-options.ts';

/** Adds the command `weft opt`. */
export function addOptCommand(program: Command, { terminal, run }: CommandParts): void {
  program
    .command('opt')
    .summary('run passes of the compiler on a program')
    .description('Reads a program, runs passes on it in the order given, and prints it as text.')
    .argument('<file>', 'an .ir program or an .onnx model')
    .option(
      '--pass <PASS,...>',
      'the passes, or .js, .ts and .rules files with passes; none: the program is only read',
      splitNames,
    )
    .option('--time', 'say how long each pass takes')
    .option('--diff', 'show what each pass changes')
    .option(
      '--bisect <NAME=FILE>',
      'find the first pass that changes the result for these inputs; repeatable',
      collectPairs,
    )
    .option('--explain', 'say which rewrite rules applied, how often and where')
    .option('-o, --output <file.ir>', 'the output file; default: the terminal')
    .addOption(dimsOption())
    .addOption(dispatchOption())
    .addOption(memoryBudgetOption())
    .addHelpText('after', HELP)
    .action((path: string, flags: OptFlags) => run(optCommand(path, flags, terminal)));
}

const HELP = `
Examples:
  weft opt program.ir                        check it, and print it in standard style
  weft opt program.ir --pass infer-types     see all types
  weft opt model.onnx --pass fold-constants,simplify,fuse
  weft opt model.onnx --pass simplify,recognize-operators --explain
  weft opt model.onnx --time                 all passes of weft compile, with their times ...
  weft opt program.ir --diff                 ... or what each changes ...
  weft opt program.ir --bisect x=x.npy       ... or the first that changes what main gives
  weft opt program.ir --pass ./mine.js       a pass of your own, the default export of a module

Types are inferred before the first pass that needs them. bind-dims takes --dim,
dispatch-by-shape --dispatch, and rematerialize --memory-budget. An unknown name lists all passes.`;

/** So many places of a rule are listed. */
const MAX_PLACES = 8;

/** Which rewrite rules applied, how often and where, as comments of a program. */
function explainRewrites(applied: readonly AppliedRule[]): string {
  if (applied.length === 0) return '// No rewrite rule applies.\n';
  const byRule = new Map<string, AppliedRule[]>();
  for (const each of applied) {
    const others = byRule.get(each.rule);
    if (others === undefined) byRule.set(each.rule, [each]);
    else others.push(each);
  }
  return [...byRule]
    .map(([rule, all]) => {
      const places = all.map((each) => formatSpan(each.span, `@${each.function}`));
      const listed = places.slice(0, MAX_PLACES).join(', ');
      const more = places.length > MAX_PLACES ? ` and ${places.length - MAX_PLACES} more` : '';
      const times = all.length === 1 ? 'once' : `${all.length} times`;
      const reason = all[0]?.explains === undefined ? '' : `//   ${all[0].explains}\n`;
      return `// ${rule}: ${times}, at ${listed}${more}\n${reason}`;
    })
    .join('');
}

interface OptFlags {
  readonly pass?: readonly string[];
  readonly output?: string;
  readonly dim?: Record<string, number>;
  readonly dispatch?: ModuleDispatch;
  readonly memoryBudget?: number;
  readonly explain?: boolean;
  readonly time?: boolean;
  readonly diff?: boolean;
  readonly bisect?: Record<string, string>;
  readonly json?: boolean;
}

/**
 * `weft opt`: reads a program, runs passes, and prints it, after what rewrite rules did if asked. With flags that
 * watch passes and without names of passes it watches those of `weft compile`, and prints no program.
 */
async function optCommand(path: string, flags: OptFlags, given: Terminal): Promise<number> {
  // Reports of passes are printed as they arise; with `--json` they become one text at the end.
  const reports: string[] = [];
  const isJson = flags.json === true;
  const terminal = isJson ? { ...given, out: (text: string) => void reports.push(text) } : given;
  const { pass: names = [], output, dim, explain = false } = flags;
  const { pipeline, printModule, runPasses } = await import('../../frontend/index.ts');
  const read = await readModule(path, dim);
  const compiled = await pipelineOptions(path, flags);
  const watches = flags.time === true || flags.diff === true || flags.bisect !== undefined;
  const isWhole = watches && names.every(isPassFile);
  const chosen = isWhole ? pipeline(compiled) : await choosePasses(names, flags);
  const applied: AppliedRule[] = [];
  const onRewrite = (rule: AppliedRule): void => void applied.push(rule);
  const watch = await watchPasses(read, flags, terminal);
  const { module, texts } = read;
  const { instruments } = watch;
  const warnings: string[] = [];
  const onWarning = (warning: string): void => {
    warnings.push(warning);
    warn(terminal, warning);
  };
  const result = runPasses(module, chosen, { texts, onRewrite, onWarning, instruments });
  const status = await watch.report(isWhole ? compiled : undefined);
  if (explain) terminal.out(explainRewrites(applied));
  if (output !== undefined) await writeFile(output, printModule(result));
  else if (!isWhole && !isJson) terminal.out(printModule(result));
  if (isJson) {
    const program = isWhole || output !== undefined ? undefined : printModule(result);
    const passes = chosen.map(({ name }) => name);
    const rewrites = explain ? applied.length : undefined;
    const report = reports.join('');
    writeJson(given, 'opt', { passes, program, output, report, rewrites, warnings, status });
  }
  return status;
}

async function pipelineOptions(
  path: string,
  { pass: names = [], dim, dispatch, memoryBudget }: OptFlags,
): Promise<CompileOptions> {
  const passes: InsertedPass[] = [];
  for (const name of names.filter(isPassFile)) passes.push(...(await readPasses(name)));
  // The importer has bound the sizes of a model.
  const dims = path.endsWith('.onnx') ? undefined : dim;
  return { dims, dispatch, memoryBudget, passes };
}

/** The passes of the names and files given, in that order. */
async function choosePasses(
  names: readonly string[],
  { dim, dispatch, memoryBudget }: Pick<OptFlags, 'dim' | 'dispatch' | 'memoryBudget'>,
): Promise<readonly Pass[]> {
  const { allPasses } = await import('../../frontend/index.ts');
  const passes = allPasses({ dims: dim, dispatch, memoryBudget });
  const chosen: Pass[] = [];
  for (const name of names) {
    const found = passes.find((pass) => pass.name === name);
    if (found !== undefined) chosen.push(found);
    else if (isPassFile(name)) chosen.push(...(await readPasses(name)).map(({ pass }) => pass));
    else {
      const known = passes.map((pass) => pass.name);
      const remedy = nearestName(name, known);
      const expected = `one of ${known.join(', ')}, or a file`;
      throw new UsageError({ where: '--pass', got: name, expected, remedy });
    }
  }
  requireOrder(chosen, passes);
  return chosen;
}

/** Throws UsageError for a pass that comes after a lowering one that runs behind it: it does not know what that left. */
function requireOrder(chosen: readonly Pass[], all: readonly Pass[]): void {
  const order = all.map(({ name }) => name);
  const first = order.indexOf('fuse');
  let last = -1;
  for (const { name } of chosen) {
    const at = order.indexOf(name);
    if (at >= 0 && at < last) {
      throw new UsageError({
        where: '--pass',
        got: `${name} after ${order[last]}`,
        expected: `${name} before it, as in weft compile`,
      });
    }
    // A module may go to A-normal form and back.
    if (at >= first && name !== 'to-anf') last = at;
  }
}

/** Instruments of a run, and what prints their findings and gives the exit status. */
interface Watch {
  readonly instruments: readonly PassInstrument[];
  report(compiled: CompileOptions | undefined): Promise<number>;
}

async function watchPasses(
  { module, texts }: ReadModule,
  { time = false, diff = false, bisect }: OptFlags,
  terminal: Terminal,
): Promise<Watch> {
  const { compile, passDifferences, PassBisection, PassTimes } = await import(
    '../../frontend/index.ts'
  );
  const times = time ? new PassTimes() : undefined;
  const inputs = bisect === undefined ? [] : await readArguments(module, bisect);
  const bisection = bisect === undefined ? undefined : new PassBisection({ inputs });
  const differences = diff
    ? passDifferences((pass, text) => terminal.out(`// ${pass}\n${text}\n`))
    : undefined;
  const all = [bisection, differences, times];
  const report = async (compiled: CompileOptions | undefined): Promise<number> => {
    if (times !== undefined) terminal.out(asComments(times.toText()));
    if (bisection === undefined) return 0;
    terminal.out(describeBisection(bisection));
    if (bisection.changed !== undefined) {
      const { before, after } = bisection.changed;
      terminal.out(await differenceOfModules(before, after));
      return 1;
    }
    if (compiled === undefined || bisection.expected === undefined) return 0;
    const executable = compile(module, { ...compiled, texts });
    const { expected } = bisection;
    const difference = await differenceOnHost(executable, module, { inputs, expected });
    const verdict = difference ?? 'gives the same on the host device.';
    terminal.out(`// The executable: ${verdict}\n`);
    return difference === undefined ? 0 : 1;
  };
  return { instruments: all.filter((each) => each !== undefined), report };
}

async function differenceOfModules(before: Module, after: Module): Promise<string> {
  const [{ printModule }, { differenceOfTexts }] = await Promise.all([
    import('../../frontend/index.ts'),
    import('../../compiler/instruments/difference-of-texts.ts'),
  ]);
  return differenceOfTexts(printModule(before), printModule(after));
}

function asComments(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '// ');
}
