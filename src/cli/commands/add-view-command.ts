import { type Command, Option } from 'commander';
import type { ViewFlags } from '../view/view-command.ts';
import { parseCount } from '../parse-training.ts';
import type { CommandParts } from './command-parts.ts';
import { deviceOption, dimsOption, limitOption } from './common-options.ts';

/** `weft view`. Its code is loaded when it is called. */
export function addViewCommand(program: Command, { terminal, run }: CommandParts): void {
  program
    .command('view')
    .summary('look at a program in a browser')
    .description(
      'Serves the inspector with a .weft file, or with the result of compiling another file, on this machine only.',
    )
    .argument('<file>', 'a .weft, .onnx or .ir file')
    .addOption(
      new Option('--port <N>', 'the port; default: one that is free')
        .argParser(parseCount)
        .default(0),
    )
    .addOption(deviceOption('the device of the browser that runs it'))
    .addOption(dimsOption())
    .addOption(limitOption())
    .action((path: string, flags: ViewFlags) =>
      run(
        import('../view/view-command.ts').then(({ viewCommand }) =>
          viewCommand(path, flags, terminal),
        ),
      ),
    );
}
