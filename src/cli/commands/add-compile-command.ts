import type { Command } from 'commander';
import { type CompileFlags, compileCommand } from '../compile-command.ts';
import { memoryBudgetOption, splitNames } from '../parse-options.ts';
import type { CommandParts } from './command-parts.ts';
import {
  dimsOption,
  dispatchOption,
  indexCheckOption,
  limitOption,
  nodeFunctionOption,
  placementOption,
} from './common-options.ts';

/** Adds the command `weft compile`. */
export function addCompileCommand(program: Command, { terminal, run }: CommandParts): void {
  program
    .command('compile')
    .summary('compile a model or a program to a .weft file')
    .description(
      'Compiles an ONNX model, or a program as text, to an executable that any Weft session loads.',
    )
    .argument('<file>', 'an .onnx model or an .ir program')
    .requiredOption('-o, --output <file.weft>', 'the output file')
    .addOption(dimsOption())
    .addOption(dispatchOption())
    .addOption(placementOption())
    .addOption(memoryBudgetOption())
    .addOption(limitOption())
    .addOption(indexCheckOption())
    .option('--pass <FILE,...>', '.js, .ts and .rules files with passes that run too', splitNames)
    .addOption(nodeFunctionOption())
    .option('--dump', 'print the program after each pass')
    .option('--dump-after <PASS,...>', 'print the program after these passes', splitNames)
    .addHelpText('after', HELP)
    .action((path: string, flags: CompileFlags) => run(compileCommand(path, flags, terminal)));
}

const HELP = `
Examples:
  weft compile mnist.onnx -o mnist.weft
  weft compile bert.onnx -o bert.weft --dim batch=1 --dim sequence=128
  weft compile mnist.onnx -o mnist.weft --dump | less
  weft compile program.ir -o program.weft --dump-after fuse,to-anf
  weft compile bert.onnx -o bert.weft --dispatch main.input_ids.1=log:1:512:2`;
