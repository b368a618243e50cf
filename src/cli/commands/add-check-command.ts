import type { Command } from 'commander';
import { checkCommand, type CheckFlags } from '../check-command.ts';
import type { AnswerFlags } from '../check/answer-command.ts';
import { budgetOption } from '../parse-options.ts';
import type { CommandParts } from './command-parts.ts';
import { runsBeside } from './runs-beside.ts';

/** Adds the command `weft check`. */
export function addCheckCommand(program: Command, { terminal, run }: CommandParts): void {
  const command = program
    .command('check')
    .summary('say whether a program runs, where, and what it costs')
    .description(
      'Says of a .weft, .onnx or .ir file whether it runs on a device, what runs elsewhere and why, and its download, memory, sizes and risks of float16. With --verify: runs it beside the same instructions in float32, and names the first value that departs.',
    )
    .addOption(budgetOption())
    .option('--verify', 'run it, and compare with float32');
  runsBeside(command, '0.05', ['browser'])
    .addHelpText('after', HELP)
    .action((path: string, flags: CheckFlags & AnswerFlags) => {
      if (flags.verify === true) return run(checkCommand(path, flags, terminal));
      return run(
        import('../check/answer-command.ts').then(({ answerCommand }) =>
          answerCommand(path, flags, terminal),
        ),
      );
    });
}

const HELP = `
Examples:
  weft check model.onnx                      before anything ships
  weft check model.onnx --budget 500MB --device wasm --dim batch=1
  weft check model.onnx --verify --input x=x.npy
  weft check model.onnx --verify --device browser

Without --verify nothing is run: --input, --tolerance, --seed, --function, --threads and the device browser are for --verify.
The exit status is 1 where it does not run, is over the budget, or a value departs.`;
