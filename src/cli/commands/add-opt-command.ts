import type { Command } from 'commander';
import { type OptFlags, optCommand } from '../opt-command.ts';
import { collectPairs, memoryBudgetOption, splitNames } from '../parse-options.ts';
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
