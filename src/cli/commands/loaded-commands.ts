import { type Command, Option } from 'commander';
import {
  checkCommand,
  type CheckFlags,
  compareCommand,
  type CompareFlags,
} from '../check-command.ts';
import type { AnswerFlags } from '../check/answer-command.ts';
import {
  budgetOption,
  deviceNames,
  inputsOption,
  threadsOption,
  positiveNumber,
} from '../parse-options.ts';
import type { CommandParts } from './command-parts.ts';
import type { ViewFlags } from '../view/view-command.ts';
import { parseCount } from '../parse-training.ts';
import { deviceOption, dimsOption, limitOption } from './common-options.ts';
import type { BenchFlags } from '../bench/bench-command.ts';
import type { ServeFlags } from '../serve/serve-command.ts';

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
    .addHelpText('after', CHECK_HELP)
    .action((path: string, flags: CheckFlags & AnswerFlags) => {
      if (flags.verify === true) return run(checkCommand(path, flags, terminal));
      return run(
        import('../check/answer-command.ts').then(({ answerCommand }) =>
          answerCommand(path, flags, terminal),
        ),
      );
    });
}

const CHECK_HELP = `
Examples:
  weft check model.onnx                      before anything ships
  weft check model.onnx --budget 500MB --device wasm --dim batch=1
  weft check model.onnx --verify --input x=x.npy
  weft check model.onnx --verify --device browser

Without --verify nothing is run: --input, --tolerance, --seed, --function, --threads and the device browser are for --verify.
The exit status is 1 where it does not run, is over the budget, or a value departs.`;

/** Adds the command `weft compare`. */
export function addCompareCommand(program: Command, { terminal, run }: CommandParts): void {
  const command = program
    .command('compare')
    .summary('compare a device with another one')
    .description(
      'Runs the function main of a .weft, .onnx or .ir file beside the same instructions on another device, and names the first value that departs. With a second file: beside another compilation of the same source, or against values by their names.',
    )
    .addOption(
      new Option('--against <device>', 'the device that is right')
        .choices(['host', 'wasm'])
        .default('host'),
    );
  runsBeside(command, '0.001', ['browser'])
    .argument(
      '[second]',
      'a .weft, .onnx or .ir file of the same source, a .npz file, or a folder with a .npy, .pb or .json file for each value',
    )
    .action((path: string, second: string | undefined, flags: CompareFlags) =>
      run(compareCommand(path, second, flags, terminal)),
    );
}

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

/** `weft bench`. Its code is loaded when it is called. */
export function addBenchCommand(program: Command, { terminal, run }: CommandParts): void {
  program
    .command('bench')
    .summary('time a program on devices')
    .description(
      'Runs the function main of a .weft, .onnx or .ir file on devices by turns, and says how long a run takes.',
    )
    .argument('<file>', 'a .weft, .onnx or .ir file')
    .addOption(inputsOption())
    .addOption(
      new Option('--device <DEVICE,...>', 'the devices, of auto, host, wasm, webgpu and browser')
        .argParser(deviceNames)
        .default(['auto'], 'auto'),
    )
    .addOption(
      new Option('--runs <N>', 'runs on each device, at most').argParser(parseCount).default(50),
    )
    .addOption(new Option('--seed <N>', 'of random inputs').argParser(parseCount).default(1))
    .option('--function <name>', 'the function to run; default: main')
    .addOption(threadsOption())
    .addOption(dimsOption())
    .addOption(limitOption())
    .addHelpText('after', BENCH_HELP)
    .action((path: string, flags: BenchFlags) =>
      run(
        import('../bench/bench-command.ts').then(({ benchProgramCommand }) =>
          benchProgramCommand(path, flags, terminal),
        ),
      ),
    );
}

const BENCH_HELP = `
Examples:
  weft bench mnist.onnx
  weft bench mnist.onnx --device webgpu,wasm,browser --runs 200 --json
  weft bench bert.onnx --device wasm --threads 4 --dim batch=1 --dim sequence=128

A run begins with inputs and ends with outputs in the memory of this process. Those of a browser travel to it and back.`;

/** `weft serve`. Its code is loaded when it is called. */
export function addServeCommand(program: Command, { terminal, run }: CommandParts): void {
  program
    .command('serve')
    .summary('serve a folder to pages of this machine')
    .description(
      'Serves a folder, or the folder of a file, on this machine only, as a page with models needs it: types, byte ranges and headers; and the files of this package below /weft-vm/.',
    )
    .argument('<path>', 'a file or a folder')
    .addOption(
      new Option('--port <N>', 'the port; default: one that is free')
        .argParser(parseCount)
        .default(0),
    )
    .option(
      '--csp <policy>',
      "a content security policy: none, strict (default-src 'self'), wasm (strict, and WebAssembly may be compiled), or its text",
      'none',
    )
    .option('--isolated', 'pages are cross-origin isolated, for threads that share memory')
    .option('--cors', 'pages of other origins may read the files')
    .addHelpText('after', SERVE_HELP)
    .action((path: string, flags: ServeFlags) =>
      run(
        import('../serve/serve-command.ts').then(({ serveFilesCommand }) =>
          serveFilesCommand(path, flags, terminal),
        ),
      ),
    );
}

const SERVE_HELP = `
Examples:
  weft serve .                               index.html, or a list of files
  weft serve models/mnist.onnx --cors        for a page that another server sends
  weft serve site --csp wasm --isolated

A page finds this package at /weft-vm/: import { Session } from '/weft-vm/client.js'.`;

/**
 * Adds the argument and the options of commands that run a function beside something else.
 * `tolerance` is the default, in words; `devices` are those beside the ones of this process.
 */
function runsBeside(command: Command, tolerance: string, devices: readonly string[] = []): Command {
  return command
    .argument('<file>', 'a .weft, .onnx or .ir file')
    .addOption(inputsOption())
    .addOption(
      new Option('--tolerance <SHARE>', `of the range of a value; default: ${tolerance}`).argParser(
        positiveNumber,
      ),
    )
    .addOption(new Option('--seed <N>', 'of random inputs').argParser(parseCount).default(1))
    .option('--function <name>', 'the function to run; default: main')
    .addOption(deviceOption('the device to run on', devices))
    .addOption(threadsOption())
    .addOption(dimsOption())
    .addOption(limitOption());
}
